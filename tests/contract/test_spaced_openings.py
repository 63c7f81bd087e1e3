"""Both halves put the same spaces behind opening marks, and take them away again."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text import openings as served
from service.text.tokeniser import Tokeniser
from training.tokenizer import openings as trained
from training.tokenizer.subwords import Subwords, space_openings

TEXTS = st.text(st.sampled_from("\"„“”»«()[]‚‘' ab\t.1"), max_size=20) | st.text(max_size=20)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"Komm her!", sagte er (leise).', '" Komm her!", sagte er ( leise).'),
        ("„Haus“ und “house”", "„ Haus“ und “ house”"),
        ('("Ja")', '(" Ja")'),
        ("[1] »so« ‚so‘", "[ 1] » so« ‚ so‘"),
        ("'tis John O'Neill's", "'tis John O'Neill's"),
        ('5" breit, a(b), f("x")', '5" breit, a(b), f("x")'),
        ('ein " Haus', 'ein "  Haus'),
        ('Ende "', 'Ende "'),
        ("(…) (!)", "(…) (!)"),
    ],
)
def test_a_word_behind_an_opening_mark_gets_a_space(text: str, expected: str) -> None:
    assert served.spaced(text) == trained.spaced(text) == expected


@given(TEXTS)
def test_both_halves_agree_and_what_is_spaced_comes_back(text: str) -> None:
    assert served.spaced(text) == trained.spaced(text)
    assert served.unspaced(text) == trained.unspaced(text)
    assert trained.unspaced(trained.spaced(text)) == text


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, toy_models: Path) -> Path:
    """The toy pair's subwords, told to space openings."""
    path = tmp_path_factory.mktemp("spaced") / "tokenizer.model"
    path.write_bytes((toy_models / "xa-xb" / "tokenizer.model").read_bytes())
    space_openings(path)
    return path


@pytest.mark.parametrize("text", ['"ta netu", (netu) „ta“.', "ta netu.", '(" ta', '"'])
def test_the_tokenisers_of_both_halves_agree(model: Path, text: str) -> None:
    subwords, tokeniser = Subwords.load(model), Tokeniser(model, model, 3, has_spaced_openings=True)
    ids = subwords.encode(text)
    assert subwords.has_spaced_openings
    assert tokeniser.encode(text) == (*ids, 3)
    assert subwords.encode_many([text]) == [ids]
    assert subwords.decode(ids) == tokeniser.decode(ids) == text
    assert "".join(tokeniser.pieces(ids)).strip() == text


def test_a_word_is_the_same_subwords_behind_a_mark_as_behind_a_space(model: Path) -> None:
    subwords = Subwords.load(model)
    assert subwords.encode('ta "netu"')[: len(subwords.encode("ta"))] == subwords.encode("ta")
    assert subwords.pieces("netu")[0] in subwords.pieces('ta "netu"')
