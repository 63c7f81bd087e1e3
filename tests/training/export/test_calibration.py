import numpy as np
import pytest

from training.errors import ExportError
from training.export.calibration import calibrate, fit


def test_curve_that_made_the_data_is_found():
    scores = np.linspace(-3, 0, 200)
    quality = 1 / (1 + np.exp(-(1.9 * scores + 1.2)))
    found = fit(scores, quality, "made up")
    assert found.slope == pytest.approx(1.9, abs=0.01)
    assert found.intercept == pytest.approx(1.2, abs=0.01)
    assert found.mean_error < 1e-3
    assert found.confidence(0.0) == pytest.approx(1 / (1 + np.exp(-1.2)), abs=1e-3)


def test_scores_that_say_nothing_give_the_mean_quality():
    found = fit(np.full(40, -1.0), np.array([0.2, 0.8] * 20), "made up")
    assert found.confidence(-1.0) == pytest.approx(0.5, abs=1e-3)
    assert found.mean_error == pytest.approx(0.3, abs=1e-3)
    assert found.bin_error < 1e-3


def test_perfect_translations_have_a_finite_curve_near_one():
    found = fit(np.linspace(-0.1, 0, 50), np.ones(50), "perfect")
    assert np.isfinite([found.slope, found.intercept]).all()
    assert found.confidence(0.0) > 0.99


def test_quality_is_sentence_chrf():
    outputs = ["ein Haus", "xyz"] * 10
    found = calibrate([-0.1, -3.0] * 10, outputs, ["ein Haus", "ein Haus"] * 10, "dev")
    assert found.confidence(-0.1) > 0.95
    assert found.confidence(-3.0) < 0.05
    manifest = found.as_manifest()
    assert manifest["fitted_on"] == "dev"
    assert "20 sentences" in manifest["meaning"]


def test_too_few_sentences_are_refused():
    with pytest.raises(ExportError, match="10 sentences or more"):
        fit(np.zeros(3), np.zeros(3), "tiny")
