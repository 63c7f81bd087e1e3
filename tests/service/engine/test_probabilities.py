import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from service.engine.log_softmax import open_log_softmax
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


def test_log_softmax_of_equal_logits_is_uniform() -> None:
    [result] = open_log_softmax(1).run(None, {"x": np.full((2, 8), 5.0, np.float32)})
    assert result == pytest.approx(np.full((2, 8), -math.log(8)), abs=1e-6)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
def test_log_softmax_is_the_textbooks_for_any_size_of_logits(scale: float) -> None:
    logits = (np.random.default_rng(0).normal(size=(7, 503)) * scale).astype(np.float32)
    [result] = open_log_softmax(1).run(None, {"x": logits})
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    expected = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    assert result == pytest.approx(expected, rel=1e-5, abs=1e-4)


def test_log_softmax_of_a_row_does_not_depend_on_the_others() -> None:
    session = open_log_softmax(1)
    logits = np.random.default_rng(1).normal(size=(33, 1001)).astype(np.float32)
    [together] = session.run(None, {"x": logits})
    alone = [session.run(None, {"x": logits[row : row + 1]})[0][0] for row in range(33)]
    assert together.tobytes() == np.stack(alone).tobytes()
