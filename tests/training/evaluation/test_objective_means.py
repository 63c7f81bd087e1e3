import numpy as np
import pytest

from training.evaluation.objective_means import compare_means


def test_the_difference_is_that_of_the_means():
    found = compare_means("own", [0.0, 1.0, 0.5], [0.5, 1.0, 0.75])
    assert found.difference == pytest.approx(0.25)
    assert found.metric == "own"


def test_a_constant_gain_is_certain_and_noise_is_not():
    random = np.random.default_rng(0)
    baseline = random.random(200)
    noise = compare_means("own", baseline.tolist(), (baseline + random.normal(0, 1, 200)).tolist())
    gain = compare_means("own", baseline.tolist(), (baseline + 0.1 + random.normal(0, 0.05, 200)).tolist())
    assert gain.p_value < 0.01
    assert gain.low > 0
    assert gain.wins == 1.0
    assert noise.p_value > 0.05
    assert noise.low < 0 < noise.high
