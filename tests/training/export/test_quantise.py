import numpy as np

from training.export.quantise import quantise_weight


def test_largest_weight_of_each_output_becomes_63():
    integers, scales = quantise_weight(np.array([[0.5, -1.26], [6.3, 0.0]], np.float32))
    np.testing.assert_array_equal(integers, [[25, -63], [63, 0]])
    np.testing.assert_allclose(scales, [0.02, 0.1])


def test_output_of_zero_weights_stays_zero():
    integers, scales = quantise_weight(np.zeros((1, 3), np.float32))
    np.testing.assert_array_equal(integers, [[0, 0, 0]])
    assert scales[0] == 1.0


def test_error_is_at_most_half_a_step():
    weight = np.random.default_rng(0).normal(size=(20, 50)).astype(np.float32)
    integers, scales = quantise_weight(weight)
    error = np.abs(integers * scales[:, None] - weight)
    assert (error <= scales[:, None] * 0.5001).all()
    assert np.abs(integers).max() == 63
