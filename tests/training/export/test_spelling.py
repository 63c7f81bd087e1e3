"""What a model knows by its bytes is what its text spelt often."""

import numpy as np
import pytest

from training.export import spelling
from training.export.spelling import learnt_by_bytes
from training.tokenizer.subwords import Subwords, learn_subwords


@pytest.fixture(scope="module")
def subwords(tmp_path_factory) -> Subwords:
    path = tmp_path_factory.mktemp("subwords") / "tokenizer.model"
    text = ["ta netu monu", "sa tana lemo", "na momo tatu"] * 50
    return learn_subwords(iter(text), path, vocabulary=300, character_coverage=1.0, threads=1)


def ids_of(subwords: Subwords, *sentences: str) -> np.ndarray:
    return np.array([id for sentence in sentences for id in subwords.encode(sentence)], np.int32)


def test_characters_that_are_spelt_often_are_found_the_most_frequent_first(subwords: Subwords) -> None:
    assert learnt_by_bytes(ids_of(subwords, "ta Ö ÖÖ %", "% sa", "Ö €"), subwords) == "Ö%€"


def test_rare_ones_and_spaces_are_not(subwords: Subwords, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = ids_of(subwords, "Ö ta netu\tmonu ta", "Ö sa\u200b ta %")
    monkeypatch.setattr(spelling, "LEAST_SHARE", 2 / len(ids))
    assert learnt_by_bytes(ids, subwords) == "Ö"


def test_text_that_spells_nothing_teaches_nothing(subwords: Subwords) -> None:
    assert learnt_by_bytes(ids_of(subwords, "ta netu"), subwords) == ""
