"""Sentences in capitals reach the engine in small letters and come back in capitals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.reading import Reader
from service.text.shouting import is_shouted, lower_voice


class Knowing:
    """A vocabulary of every character."""

    def count(self, sentence: str) -> int:
        return len(sentence.split())

    def knows(self, cluster: str) -> bool:
        return cluster.isascii()


@pytest.mark.parametrize("sentence", ["WARUM SCHREIST DU SO?", "GUTEN MORGEN!!!", "ÜBER DEN WOLKEN, 3 MAL"])
def test_capitals_throughout_are_shouting(sentence):
    assert is_shouted(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["NATO", "OK", "USB-A", "EU UND UN", "UNICEF", "Guten MORGEN", "guten morgen", "1 + 2 = 3", "日本語 日本語", ""],
)
def test_names_abbreviations_and_ordinary_sentences_are_not(sentence):
    assert not is_shouted(sentence)


def test_the_engine_gets_small_letters():
    assert lower_voice("WARUM SCHREIST DU?") == "Warum schreist du?"
    assert lower_voice("„ÜBEN, ÜBEN!“") == "„Üben, üben!“"


@given(st.text())
def test_capitals_come_back_as_they_were(text):
    text = text.upper()
    assert lower_voice(text).upper() == text
    assert len(lower_voice(text)) == len(text)


def test_the_translation_is_raised_and_what_was_lifted_is_not():
    document = Reader("de", "en", Knowing(), limit=50).read_text("SIEH DIR http://a.b/c AN 😀!")
    (sentence,) = document.sentences
    assert sentence.text == "Sieh dir an!"
    assert document.rejoin(["Look at this!"]) == "LOOK AT http://a.b/c THIS 😀!"


def test_tags_stay_as_they_are_written():
    document = Reader("de", "en", Knowing(), limit=50).read_html("<p>SAG <b>NIEMALS</b> NIE &amp; NIMMER</p>")
    assert [sentence.text for sentence in document.sentences] == ["Sag niemals nie & nimmer"]
    assert document.rejoin(["Never say never & ever"]) == "<p>NEVER <b>SAY</b> NEVER &amp; EVER</p>"


def test_previews_and_pieces_are_raised_too():
    (sentence,) = Reader("de", "en", Knowing(), limit=50).read_text("WARUM SCHREIST DU?").sentences
    assert sentence.so_far("Why do") == "WHY DO"
    assert sentence.restore_pieces([" Why", " do"]) == [" WHY", " DO"]
