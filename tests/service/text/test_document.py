"""Documents of real tokenisers come back as they were."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.reading import Reader
from service.text.tokeniser import Tokeniser


@pytest.fixture(scope="module")
def tokeniser(toy_models):
    model = toy_models / "xa-xb" / "tokenizer.model"
    return Tokeniser(model, model, eos_id=3)


def test_sentences_fit_the_engine_and_nothing_is_cut(tokeniser, toy_sentences):
    text = " ".join(sentence.rstrip(".").lower() for sentence in toy_sentences(200))
    document = Reader("xa", "xb", tokeniser, limit=50).read_text(text)
    assert all(tokeniser.count(sentence.text) <= 50 for sentence in document.sentences)
    assert document.rejoin(sentence.text for sentence in document.sentences) == text


@given(st.text(alphabet="tame .\n", max_size=200))
def test_text_of_known_characters_rejoins_byte_for_byte(tokeniser, text):
    document = Reader("xa", "xb", tokeniser, limit=20).read_text(text)
    assert document.rejoin(sentence.text for sentence in document.sentences) == text


def visible(text: str) -> str:
    return re.sub("[\\s\u00ad\u200b\u2060\ufeff]", "", text)


@given(st.text(max_size=100))
def test_no_character_but_space_is_lost_or_invented(tokeniser, text):
    text = text.translate(str.maketrans(dict.fromkeys("“”„", '"')))  # which reading does, too
    document = Reader("xa", "xb", tokeniser, limit=20).read_text(text)
    result = document.rejoin(sentence.text for sentence in document.sentences)
    assert sorted(visible(result)) == sorted(visible(text))


def test_emoji_and_foreign_script_never_reach_the_engine(tokeniser):
    document = Reader("xa", "xb", tokeniser, limit=50).read_text("Ta netu 😀 日本.")
    assert [sentence.text for sentence in document.sentences] == ["Ta netu."]
    assert document.rejoin(["Foo bar."]) == "Foo bar 😀 日本."


def test_line_breaks_and_spaces_survive_whatever_the_translation(tokeniser):
    document = Reader("xa", "xb", tokeniser, limit=50).read_text("\n\n  Ta netu.\n\n\tNetu ta.  \n")
    assert document.rejoin(["One.", "Two."]) == "\n\n  One.\n\n\tTwo.  \n"


def test_html_is_translated_between_its_tags(tokeniser):
    document = Reader("xa", "xb", tokeniser, limit=50).read_html("<p>Ta <b>netu</b>.</p>")
    assert document.rejoin(["Foo bar."]) == "<p>Foo <b>bar</b>.</p>"


def test_a_long_address_is_not_cut(tokeniser):
    address = "https://example.org/" + "/".join(f"page-{number},{number}" for number in range(200))
    document = Reader("xa", "xb", tokeniser, limit=20).read_text(f"Ta netu {address} monu.")
    assert [sentence.text for sentence in document.sentences] == ["Ta netu monu."]
    assert document.rejoin(["Foo bar baz."]) == f"Foo bar {address} baz."
