import pytest

from training.corpus.pivoting import bridged

PAIRS = [
    ("It is late.", "Es ist spät."),
    ("Hurry up!", "Beeil dich!"),
    ("Hurry!", "Beeil dich!"),
    ("Hurry!", "Schnell!"),
]


def bridges(*texts, known=(), most=12):
    return sorted(bridged(PAIRS, texts, known, most))


def test_sentences_that_share_a_translation_have_each_others():
    assert bridges(PAIRS) == [("Hurry up!", "Schnell!")]


def test_the_shared_translation_may_be_in_another_language():
    czech = [("It is late.", "Je pozdě."), ("It's getting late.", "Je pozdě.")]
    assert bridges(czech) == [("It's getting late.", "Es ist spät.")]


def test_sentences_are_the_same_whatever_their_marks_and_case():
    czech = [("it is late", "Je pozdě!"), ("It's late.", "je pozdě")]
    assert bridges(czech) == [("It's late.", "Es ist spät.")]


def test_a_pair_comes_once_though_two_texts_give_it():
    text = [("It is late.", "x"), ("It's late.", "x")]
    assert bridges(text, text) == [("It's late.", "Es ist spät.")]


def test_known_sentences_come_never():
    text = [("It is late.", "x"), ("It's late.", "x"), ("Late!", "x")]
    assert bridges(text, known=["its late", "It's late!"]) == [("Late!", "Es ist spät.")]


@pytest.mark.parametrize(("most", "count"), [(3, 2), (2, 0)])
def test_what_has_too_many_translations_says_too_little(most, count):
    text = [("It is late.", "x"), ("It's late.", "x"), ("Late!", "x")]
    assert len(bridges(text, most=most)) == count


def test_a_sentence_of_marks_alone_is_none():
    assert bridges([("It is late.", "x"), ("…", "x")]) == []
