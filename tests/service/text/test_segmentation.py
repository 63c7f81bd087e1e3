"""Splitting and rejoining lose nothing, whatever the text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.segmentation import cut_long, has_letter, rejoin, split

ANYTHING = st.text() | st.text(alphabet="ab .!?\n\r\t-1,;😀é\u0301\u2028(\"'")


def words(sentence: str) -> int:
    return len(sentence.split())


def sentences(text: str, limit: int = 100) -> list[str]:
    return [segment.text for segment in split(text, "en", words, limit) if segment.is_sentence]


@given(ANYTHING, st.sampled_from(["en", "de", "cs", "fi", "ru", "xa", "ja"]), st.integers(1, 20), st.booleans())
def test_segments_join_to_the_text(text, language, limit, keeps_lines):
    segments = split(text, language, words, limit, keeps_lines)
    assert "".join(segment.text for segment in segments) == text
    assert rejoin(segments, [segment.text for segment in segments if segment.is_sentence]) == text


@given(ANYTHING, st.integers(1, 5))
def test_sentences_are_trimmed_lettered_and_within_the_limit(text, limit):
    for sentence in sentences(text, limit):
        assert sentence == sentence.strip()
        assert has_letter(sentence)
        assert words(sentence) <= limit


@given(ANYTHING)
def test_no_sentence_spans_a_line_break(text):
    assert not any(character in sentence for sentence in sentences(text) for character in "\n\r\v\f\u2028\u2029")


def test_separators_are_kept_exactly():
    text = "  Hello there. How are you?\n\n\tFine!  \r\n"
    assert sentences(text) == ["Hello there.", "How are you?", "Fine!"]
    segments = split(text, "en", words, 100)
    assert rejoin(segments, ["A.", "B?", "C!"]) == "  A. B?\n\n\tC!  \r\n"


def test_abbreviations_do_not_end_a_sentence():
    assert sentences("Mr. Smith met Dr. Jones. They talked.") == ["Mr. Smith met Dr. Jones.", "They talked."]


def test_a_question_ends_before_a_number_too():
    assert sentences("How much? 12.50 euros. Really! 3 of them?") == [
        "How much?",
        "12.50 euros.",
        "Really!",
        "3 of them?",
    ]


def test_bullets_and_list_numbers_are_kept_out_of_sentences():
    assert sentences("- apples\n* pears\n1. plums\n(2) figs") == ["apples", "pears", "plums", "figs"]


@pytest.mark.parametrize("text", ["", " ", "42", "3.14 + 2 = 5.14", "😀😀", "…", "\n\n", "12:30–13:00"])
def test_text_without_letters_is_not_translated(text):
    assert sentences(text) == []


def test_a_long_sentence_is_cut_at_clauses_before_words():
    sentence = "one two three, four five six; seven eight nine, ten eleven twelve"
    assert cut_long(sentence, words, 6) == ["one two three, four five six; ", "seven eight nine, ten eleven twelve"]


def test_a_long_sentence_without_punctuation_is_cut_between_words():
    assert cut_long("a b c d e f g h", words, 4) == ["a b c d ", "e f g h"]


def test_a_long_word_is_cut_anyway_but_not_before_an_accent():
    assert cut_long("e\u0301" * 3, len, 4) == ["e\u0301e\u0301", "e\u0301"]


@pytest.mark.parametrize(
    "unit",
    [
        *("a. ", "A. ", "word ", ".", "(", '"a. ', "!?", "\n", "1\n", "a-", "a@", "é\u0301", "😀"),
        *("```", "```\n", "```a\n", "|", "| ", "|\n", "|a|\n", "? ", "? 1"),
    ],
)
def test_splitting_takes_linear_time(unit):
    started = time.process_time()
    split(unit * (100_000 // len(unit)), "en", len, 200)
    assert time.process_time() - started < 5


def test_cells_between_tabs_are_sentences_of_their_own():
    segments = split("\tApple\tpear tree\t12", "en", words, 100)
    assert [segment.text for segment in segments if segment.is_sentence] == ["Apple", "pear tree"]
    assert rejoin(segments, ["Apfel", "Birnbaum"]) == "\tApfel\tBirnbaum\t12"


def test_code_between_fences_is_kept():
    text = "Look:\n```python\nprint('hello there')\n```\nThat was all. ```not a fence``` here."
    assert sentences(text) == ["Look:", "That was all.", "```not a fence``` here."]


def test_cells_of_a_table_are_sentences_of_their_own():
    assert sentences("| Name | Age |\n|---|:-:|\n| my cat | 3 |\na | b") == ["Name", "Age", "my cat", "a | b"]
