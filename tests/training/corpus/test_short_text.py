from training.config import ShortText
from training.corpus.short_text import Spelling, bare_phrases, lone_words

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


def test_words_come_alone_in_every_way_they_are_typed() -> None:
    found = list(lone_words(TEXT, SETTINGS))
    assert ("Käse", "cheese") in found
    assert ("käse", "cheese") in found
    assert {("Käse.", "Cheese."), ("Käse!", "Cheese!")} & set(found)
    # "hallo" only ever opens a sentence, where it says nothing about its spelling.
    assert ("hallo", "hello") in found
    assert ("Hallo", "Hello") in found


def test_a_word_that_people_translated_alone_is_left_to_them() -> None:
    assert not any("anke" in source for source, _ in lone_words(TEXT, SETTINGS))


def test_doubtful_and_rare_words_are_left_out() -> None:
    everything = {source.lower() for source, _ in lone_words(TEXT, SETTINGS)}
    sure = {source.lower() for source, _ in lone_words(TEXT, SETTINGS.model_copy(update={"min_score": 0.9}))}
    assert sure < everything
    assert "isst" not in everything


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
