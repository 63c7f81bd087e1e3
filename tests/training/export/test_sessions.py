import numpy as np
import pytest

from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.export.sessions import actor_gain, pad_sources, source_bias

LIMITS = LengthLimits(ratio=1.0, extra=5, maximum=12)


def test_padded_length_is_even_even_for_one_sentence():
    ids, mask = pad_sources([[5, 6, 3]])
    np.testing.assert_array_equal(ids, [[5, 6, 3, 0]])
    np.testing.assert_array_equal(mask, [[1, 1, 1, 0]])


def test_gain_is_one_on_the_actors_units_alone():
    np.testing.assert_array_equal(actor_gain(2, 4, (1, 3)), [[0, 1, 1, 0]] * 2)
    np.testing.assert_array_equal(actor_gain(1, 3, None), [[0, 0, 0]])


def test_bias_leaves_words_alone_and_takes_padding_out():
    assert source_bias(np.array([[1, 1, 0]], np.float32)).tolist() == [[0.0, 0.0, -1e9]]
    assert source_bias(np.array([[1, 0]], np.float32)).dtype == np.float32


def test_greedy_gives_torchs_words_and_scores_in_the_order_of_the_input(torch_model, sessions):
    generator = np.random.default_rng(4)
    sources = [[*generator.integers(4, 53, length).tolist(), 3] for length in (7, 1, 12, 4, 0, 9)]
    expected = greedy(torch_model, sources, limits=LIMITS)
    outputs = sessions("fp32").greedy(sources, LIMITS, batch_size=4)
    for output, hypothesis in zip(outputs, expected, strict=True):
        assert output.ids == hypothesis.ids
        assert output.is_truncated == hypothesis.is_truncated
        assert output.score == pytest.approx(hypothesis.score, abs=1e-4)
        steps = len(output.ids) + (not output.is_truncated)
        assert len(output.margins) == steps
    assert any(output.is_truncated for output in outputs)
