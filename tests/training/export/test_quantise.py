import numpy as np
import pytest

from training.export.quantise import quantise_matrix, quantise_rows


def test_largest_weight_of_each_output_becomes_63():
    integers, scales = quantise_rows(np.array([[0.5, -1.26], [6.3, 0.0]], np.float32))
    np.testing.assert_array_equal(integers, [[25, -63], [63, 0]])
    np.testing.assert_allclose(scales, [0.02, 0.1])


def test_output_of_zero_weights_stays_zero():
    integers, scales = quantise_rows(np.zeros((1, 3), np.float32))
    np.testing.assert_array_equal(integers, [[0, 0, 0]])
    assert scales[0] == 1.0


def test_error_is_at_most_half_a_step():
    weight = np.random.default_rng(0).normal(size=(20, 50)).astype(np.float32)
    integers, scales = quantise_rows(weight)
    error = np.abs(integers * scales[:, None] - weight)
    assert (error <= scales[:, None] * 0.5001).all()
    assert np.abs(integers).max() == 63


def test_matrix_with_one_scale_is_exact_when_its_weights_are_multiples_of_it():
    weight = np.arange(-63, 64, dtype=np.float32).reshape(1, -1) * np.float32(0.25)
    integers, scale = quantise_matrix(weight)
    assert scale.shape == ()
    assert float(scale) == pytest.approx(0.25)
    np.testing.assert_array_equal(integers[0], np.arange(-63, 64))


def test_one_outlier_does_not_coarsen_the_whole_matrix():
    generator = np.random.default_rng(0)
    weight = generator.normal(0, 0.1, (100, 100)).astype(np.float32)
    weight[0, 0] = 1.0
    integers, scale = quantise_matrix(weight)
    assert integers[0, 0] == 63
    assert float(scale) * 63 < 0.9
    error = np.square(integers * scale - weight).sum()
    naive = np.square(np.rint(weight * 63) / 63 - weight).sum()
    assert error < naive


def test_matrix_of_zeros_stays_zero():
    integers, scale = quantise_matrix(np.zeros((2, 3), np.float32))
    assert not integers.any()
    assert scale == 1.0
