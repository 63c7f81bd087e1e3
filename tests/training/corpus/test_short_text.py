from training.config import ShortText
from training.corpus.short_text import LoneWord, Spelling, bare_phrases, in_any_case, lone_words

SETTINGS = ShortText(min_count=2)
TEXT = [
    ("Ich mag Käse.", "I like cheese."),
    ("Tom mag Käse.", "Tom likes cheese."),
    ("Ich mag Brot.", "I like bread."),
    ("Tom isst Brot.", "Tom eats bread."),
    ("Hallo, Maria!", "Hello, Mary!"),
    ("Hallo, Tom!", "Hello, Tom!"),
    ("Danke!", "Thank you."),
    ("Danke, Tom!", "Thanks, Tom!"),
]


def typed(settings: ShortText = SETTINGS) -> list[tuple[str, str]]:
    return [pair for word in lone_words(TEXT, settings) for pair in word.pairs]


def test_words_come_alone_in_every_way_they_are_typed() -> None:
    found = typed()
    assert ("Käse", "cheese") in found
    assert ("käse", "cheese") in found
    assert {("Käse.", "Cheese."), ("Käse!", "Cheese!")} & set(found)
    # "hallo" only ever opens a sentence, where it says nothing about its spelling.
    assert ("hallo", "hello") in found
    assert ("Hallo", "Hello") in found


def test_a_word_that_people_translated_alone_is_taken_as_most_of_them_did() -> None:
    assert {target.rstrip(".!") for source, target in typed() if "anke" in source} == {"thank you", "Thank you"}
    more = [*TEXT, ("Danke.", "Thanks."), ("Danke…", "Thanks!")]
    found = [pair for word in lone_words(more, SETTINGS) for pair in word.pairs if "anke" in pair[0]]
    assert {target.rstrip(".!") for _, target in found} == {"thanks", "Thanks"}


def test_of_equals_the_likeliest_word_is_taken() -> None:
    helped = [
        ("Hilfe!", "To arms!"),
        ("Hilfe!", "Help!"),
        ("Ich brauche Hilfe.", "I need help."),
        ("Hilfe kam.", "Help came."),
    ]
    found = [pair for word in lone_words(TEXT + helped, SETTINGS) for pair in word.pairs if pair[0] == "Hilfe"]
    assert {target.lower() for _, target in found} == {"help"}


def test_a_word_that_people_left_without_words_is_left_out() -> None:
    silent = [("Äh…", "…"), ("Äh, Tom!", "Er, Tom!")]
    assert "äh" not in {pair[0].lower() for word in lone_words(TEXT + silent, SETTINGS) for pair in word.pairs}


def test_doubtful_and_rare_words_are_left_out() -> None:
    everything = {source.lower() for source, _ in typed()}
    sure = {source.lower() for source, _ in typed(SETTINGS.model_copy(update={"min_score": 0.9}))}
    assert sure < everything
    assert "isst" not in everything


def test_frequent_words_are_seen_more_often() -> None:
    settings = ShortText(min_count=4, word_repeat=3)
    assert [LoneWord((), count).repeat(settings) for count in (4, 7, 8, 64)] == [3, 3, 6, 15]
    counts = {word.pairs[0][0]: word.count for word in lone_words(TEXT, SETTINGS)}
    assert counts["mag"] == 3
    assert counts["Brot"] == 2


def test_short_sentences_lose_their_mark_and_their_capitals() -> None:
    pairs = [
        ("Guten Morgen!", "Good morning!"),
        ("ach so…", "I see."),
        ("Ohne Punkt", "Without a mark"),
        ("Hat einen.", "Only one side has it"),
        ("Das hier hat sechs ganze Wörter.", "This one has six whole words."),
        ("?", "!"),
    ]
    assert list(bare_phrases(pairs, SETTINGS)) == [
        ("Guten Morgen", "Good morning"),
        ("guten morgen", "Good morning"),
        ("ach so", "I see"),
    ]
    assert list(bare_phrases(pairs, SETTINGS.model_copy(update={"phrase_words": 0}))) == []


def test_a_word_is_spelt_as_inside_a_sentence() -> None:
    spelling = Spelling()
    spelling.count(["Der", "Hund", "schläft"])
    spelling.count(["Schläft", "der", "Hund"])
    assert [spelling.of(word) for word in ("hund", "der", "schläft", "neu")] == ["Hund", "der", "schläft", "neu"]


def test_a_phrase_may_be_typed_in_any_case() -> None:
    shown = list(in_any_case([("Guten Morgen", "Good morning"), ("danke", "thanks")]))
    assert shown == [("Guten Morgen", "Good morning"), ("guten morgen", "Good morning"), ("danke", "thanks")]
