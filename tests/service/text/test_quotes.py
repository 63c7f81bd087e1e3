"""Quotation marks reach the engine as its language has them."""

import pytest

from service.text.quotes import closed_quotes, familiar_quotes
from service.text.reading import Reader


class Straight:
    """A vocabulary without curly marks."""

    def count(self, sentence: str) -> int:
        return len(sentence.split())

    def knows(self, cluster: str) -> bool:
        return cluster not in "“”„"


@pytest.mark.parametrize(
    ("text", "language", "familiar"),
    [
        ("The “experts” came.", "en", 'The "experts" came.'),
        ("The ”experts” came.", "en", 'The "experts" came.'),
        ("Die “Experten” kamen.", "de", 'Die "Experten" kamen.'),
        ("Die „Experten” kamen.", "de", 'Die "Experten" kamen.'),
        ("Die „Experten“ kamen.", "de", "Die „Experten“ kamen."),
        ('The "experts" didn’t come.', "en", 'The "experts" didn’t come.'),
    ],
)
def test_curly_marks_become_straight_where_texts_have_those(text, language, familiar):
    assert familiar_quotes(text, language) == familiar


def test_marks_are_part_of_the_sentence_and_not_lifted_out_of_it():
    (sentence,) = Reader("en", "de", Straight(), limit=50).read_text("The “experts” came.").sentences
    assert sentence.text == 'The "experts" came.'
    assert sentence.anchors == ()


def test_tags_in_html_keep_their_places():
    document = Reader("en", "de", Straight(), limit=50).read_html("<p>The “<b>experts</b>” came.</p>")
    assert document.rejoin(sentence.text for sentence in document.sentences) == '<p>The "<b>experts</b>" came.</p>'


def test_text_without_a_word_keeps_its_marks():
    document = Reader("en", "de", Straight(), limit=50).read_text("“12”\n“https://example.org/a”")
    assert document.rejoin(sentence.text for sentence in document.sentences) == "“12”\n“https://example.org/a”"


@pytest.mark.parametrize(
    ("sentence", "translation", "closed"),
    [
        ("Er sagte: „Ich kann nicht.“", "He said: \"I can't.", 'He said: "I can\'t."'),
        ('He said: "I can\'t."', "Er sagte: „Ich kann nicht.", "Er sagte: „Ich kann nicht.“"),
        ('He said: "I can\'t."', "Er sagte: „Ich kann nicht.“", "Er sagte: „Ich kann nicht.“"),
        ('He said: "I can\'t."', "Er sagte, er könne nicht.", "Er sagte, er könne nicht."),
        ('He said "no" twice.', 'Er sagte zweimal "nein.', 'Er sagte zweimal "nein.'),
    ],
)
def test_a_mark_that_the_model_left_open_is_closed_where_the_sentence_closes_it(sentence, translation, closed):
    assert closed_quotes(translation, sentence) == closed
