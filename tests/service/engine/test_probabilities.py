import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from service.engine.probabilities import kl_divergence, top_candidates

FLOATS = st.floats(-50, 50, width=32)


@given(
    arrays.arrays(np.float32, st.tuples(st.integers(1, 4), st.integers(1, 400)), elements=FLOATS), st.integers(1, 12)
)
def test_top_candidates_are_those_of_a_full_sort(scores: np.ndarray, k: int) -> None:
    rows, columns, values = top_candidates(scores, k)
    expected = np.sort(scores.reshape(-1))[::-1][:k]
    assert values.tolist() == expected.tolist()
    assert scores[rows, columns].tolist() == values.tolist()
    assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == len(values)


def test_top_candidates_of_a_large_matrix_are_exact() -> None:
    scores = np.random.default_rng(0).normal(size=(10, 8003)).astype(np.float32)
    _, _, values = top_candidates(scores, 10)
    assert values.tolist() == np.sort(scores.reshape(-1))[::-1][:10].tolist()


def test_divergence_of_a_coin_from_a_loaded_one() -> None:
    fair, loaded = np.log(np.float32([0.5, 0.5])), np.log(np.float32([0.9, 0.1]))
    expected = 0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1)
    assert kl_divergence(fair, loaded) == pytest.approx(expected, abs=1e-6)
    assert kl_divergence(fair, fair) == 0.0
