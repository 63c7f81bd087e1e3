from collections import Counter

from training.config import OtherNames
from training.corpus.names import WORD, find_names, with_other_names

TEXT = [
    ("Tom wohnt in Boston.", "Tom lives in Boston."),
    ("Maria mag Tom.", "Mary likes Tom."),
    ("Tom sah Tom.", "Tom saw Tom."),
    ("Toms Hand ist kalt.", "Tom's hand is cold."),
    ("Hand aufs Herz, Ždanoka!", "Hand on heart, Ždanoka!"),
    ("Meine Hand!", "My hand!"),
    ("UNO und Yu.", "UNO and Yu."),
    ("Rose ist da.", "Rose is here."),
    ("Eine rose Rose.", "A rose rose."),
]


def test_names_stand_on_both_sides_and_are_never_written_small() -> None:
    # Not Maria, who becomes Mary; not Hand, which is a hand elsewhere; no abbreviations, no words of two letters.
    assert find_names(TEXT) == ["Boston", "Tom", "Ždanoka"]


def test_a_sentence_is_shown_with_the_same_other_names_on_both_sides() -> None:
    shown = list(with_other_names(TEXT, OtherNames(variants=20)))
    names = set(find_names(TEXT))
    for source, target in shown:
        in_source, in_target = (
            Counter(word for word in WORD.findall(side) if word in names) for side in (source, target)
        )
        assert in_source == in_target
    homes = [(source, target) for source, target in shown if "wohnt" in source]
    assert len(homes) == 20
    assert len(set(homes)) > 5
    assert all(" wohnt in " in source and " lives in " in target for source, target in homes)


def test_sentences_without_a_name_of_their_own_stay_as_they_are() -> None:
    shown = [source for source, _ in with_other_names(TEXT, OtherNames())]
    assert not any("sah" in source for source in shown)  # twice the same name: which is whose?
    assert not any("Meine" in source for source in shown)
    assert not any("Toms" in source for source in shown)
    assert sum("mag" in source for source in shown) == 3


def test_the_names_are_drawn_anew_for_each_variant_and_equally_in_each_run() -> None:
    assert list(with_other_names(TEXT, OtherNames())) == list(with_other_names(TEXT, OtherNames()))


def test_long_sentences_are_left_out() -> None:
    assert not list(with_other_names(TEXT, OtherNames(max_words=2)))


def test_names_that_are_translated_are_drawn_for_both_sides() -> None:
    places = [("München", "Munich"), ("Köln", "Cologne")]
    shown = list(with_other_names(TEXT, OtherNames(variants=20, translated_share=1.0), places))
    for source, target in shown:
        assert [there for there, _ in places if there in source] == [there for there, here in places if here in target]
    assert any("München" in source for source, _ in shown)
    assert not any("Tom" in source for source, _ in shown)
