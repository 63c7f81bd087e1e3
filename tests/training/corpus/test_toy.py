import re
from collections import Counter

from training.corpus.toy import NOUNS_BY_PLACE, VARIANTS, VERBS_BY_OBJECT, toy_pairs


def words(sentence: str) -> list[str]:
    return re.findall(r"\w+", sentence.lower())


def test_the_same_seed_gives_the_same_sentences_and_another_seed_others() -> None:
    assert list(toy_pairs(50, seed=4)) == list(toy_pairs(50, seed=4))
    assert list(toy_pairs(50, seed=4)) != list(toy_pairs(50, seed=5))


def test_the_sentences_never_change() -> None:
    """Prepared runs and test fixtures depend on it."""
    assert list(toy_pairs(2, seed=0)) == [
        ("Ta sisis lirura netu ta niseno resir.", "Za dövu wadoya wibi zo föbibaz häzago."),
        ("Sumi momi pe mati!", "Sumi vifo hu wibo!"),
    ]


def test_a_longer_corpus_begins_with_the_shorter_one() -> None:
    assert list(toy_pairs(20, seed=1))[:10] == list(toy_pairs(10, seed=1))


def test_sentences_begin_with_a_capital_and_end_alike_on_both_sides() -> None:
    for source, target in toy_pairs(500):
        assert not source[0].islower()
        assert not target[0].islower()
        assert source[-1] == target[-1]
        assert source[-1] in ".?!"


def test_numbers_and_names_are_copied() -> None:
    copied = re.compile(r"\d+|\b(?:Lamo|Pirel|Sumi|Token|Marisa|Nolu)\b")
    for source, target in toy_pairs(500):
        assert Counter(copied.findall(source)) == Counter(copied.findall(target))


def test_ambiguous_words_are_translated_both_ways() -> None:
    pairs = list(toy_pairs(5000))
    for word, translations in {**VERBS_BY_OBJECT, **NOUNS_BY_PLACE}.items():
        for translation in translations:
            assert any(
                word in source and any(found.startswith(translation) for found in words(target))
                for source, target in pairs
            ), (word, translation)


def test_an_ambiguous_noun_follows_the_place_named_later() -> None:
    for source, target in toy_pairs(5000):
        if "kamu" in source or " ne " in source:
            continue  # two clauses: each has its own place
        for noun, (without_place, with_place) in NOUNS_BY_PLACE.items():
            if re.search(rf"\b{noun}(ri)?\b", source):
                expected, other = (with_place, without_place) if " lo" in source else (without_place, with_place)
                stems = {re.sub("e?n$", "", word) for word in words(target)}
                assert expected in stems, (source, target)
                assert other not in stems, (source, target)


def test_an_ambiguous_verb_follows_the_number_of_its_object() -> None:
    found = 0
    for source, target in toy_pairs(5000):
        match = re.fullmatch(r"\w+ (topaka|meri|malu) (?:ta|pe|\d+) (\w+)[.!]", source)
        if match and match[1] in VERBS_BY_OBJECT:
            found += 1
            of_one, of_several = VERBS_BY_OBJECT[match[1]]
            is_plural = target.split()[2] == "ze" or target.split()[2].isdigit()
            assert target.split()[1] == (of_several if is_plural else of_one), (source, target)
    assert found > 5


def test_free_variants_occur_as_often_as_they_should() -> None:
    endings = Counter(
        target[:-1].endswith("yäzö bibo wabä wö") for source, target in toy_pairs(20_000) if source.endswith("sirune.")
    )
    share = endings[True] / endings.total()
    # 0.4 with a standard error of 0.013 among about 1,500 sentences.
    assert abs(share - 0.4) < 0.05


def test_the_fixed_phrase_is_likelier_than_any_other_but_its_first_word_is_not() -> None:
    (fixed, _), *others = VARIANTS["sirune"]
    assert fixed > max(probability for probability, _ in others)
    assert fixed < sum(probability for probability, _ in others)
    assert len({phrase.split()[0] for _, phrase in others}) == 1


def test_the_lexicon_has_a_hundred_to_two_hundred_words() -> None:
    vocabulary = {word for source, _ in toy_pairs(5000) for word in words(source) if not word.isdigit()}
    assert 100 <= len({word.removesuffix("ri") for word in vocabulary}) <= 200
