"""The tokeniser of a real bundle."""

import pytest

from service.text.tokeniser import Tokeniser


@pytest.fixture(scope="module")
def tokeniser(toy_models):
    model = toy_models / "xa-xb" / "tokenizer.model"
    return Tokeniser(model, model, eos_id=3)


def test_encoding_ends_with_eos_and_decoding_undoes_it(tokeniser, toy_sentences):
    for sentence in toy_sentences(20):
        ids = tokeniser.encode(sentence)
        assert ids[-1] == 3
        assert tokeniser.decode(ids[:-1]) == sentence
        assert tokeniser.count(sentence) == len(ids) - 1


def test_pieces_join_to_the_text_also_across_bytes(tokeniser):
    ids = tokeniser.encode("ta 😀 ta")[:-1]
    pieces = tokeniser.pieces(ids)
    assert len(pieces) == len(ids)
    assert "".join(pieces).strip() == "ta 😀 ta"


def test_letters_of_the_language_are_known_and_emoji_are_not(tokeniser):
    assert tokeniser.knows("t")
    assert not tokeniser.knows("😀")
    assert not tokeniser.knows("日")


def test_control_characters_never_reach_the_answer(tokeniser):
    ids = tokeniser.encode("ta\nta\x00")[:-1]
    assert not any(character in tokeniser.decode(ids) for character in "\n\x00")


def test_a_letter_written_as_two_characters_is_the_same_letter(tokeniser):
    composed, decomposed = "S\u00e4 netu", "Sa\u0308 netu"
    assert tokeniser.encode(decomposed) == tokeniser.encode(composed)
    assert tokeniser.knows("a\u0308") == tokeniser.knows("\u00e4")


def test_any_space_is_a_space(tokeniser):
    for other in "\u00a0\u202f\u2009\t":
        assert tokeniser.encode(f"ta{other}netu") == tokeniser.encode("ta netu")


def test_a_character_whose_bytes_were_learnt_is_known(toy_models):
    model = toy_models / "xa-xb" / "tokenizer.model"
    tokeniser = Tokeniser(model, model, eos_id=3, learnt_by_bytes="Ö%")
    assert [tokeniser.knows(one) for one in ("Ö", "O\u0308", "%", "€")] == [True, True, True, False]
