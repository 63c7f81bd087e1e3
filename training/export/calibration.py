"""From a score to a confidence: how good is a translation likely to be, judging by its mean token log-probability?

    confidence = σ(slope · score + intercept)  ≈  expected sentence chrF / 100

The two numbers minimise the log-loss against the chrF of each dev sentence as a soft target, whose expectation a
logistic curve then predicts without bias.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.chrf import CHRF

from training.errors import ExportError

ITERATIONS = 50
RIDGE = 1e-3
"""Keeps the slope finite when every translation of a (toy) dev set is perfect."""


@dataclass(frozen=True)
class Calibration:
    """A fitted curve and how far off it is on the sentences it was fitted on."""

    slope: float
    intercept: float
    mean_error: float  # mean |confidence - chrF / 100| of single sentences
    bin_error: float  # the same of the means of ten bins of equal size: what a confidence promises on average
    fitted_on: str
    sentences: int

    def confidence(self, score: float) -> float:
        return float(_sigmoid(np.array(self.slope * score + self.intercept)))

    def as_manifest(self) -> dict[str, Any]:
        return {
            "slope": round(self.slope, 4),
            "intercept": round(self.intercept, 4),
            "meaning": (
                "expected sentence chrF (0-1) of a greedy translation; off by"
                f" {self.mean_error:.2f} for a single sentence and by {self.bin_error:.2f} on average over many,"
                f" measured on {self.sentences} sentences"
            ),
            "fitted_on": self.fitted_on,
        }


def calibrate(
    scores: Sequence[float], outputs: Sequence[str], references: Sequence[str], fitted_on: str
) -> Calibration:
    """Fit the curve to one dev set's mean token log-probabilities and outputs."""
    metric = CHRF()
    quality = [metric.sentence_score(out, [ref]).score / 100 for out, ref in zip(outputs, references, strict=True)]
    return fit(np.array(scores, np.float64), np.array(quality, np.float64), fitted_on)


def fit(scores: NDArray[np.float64], quality: NDArray[np.float64], fitted_on: str) -> Calibration:
    """Fit by Newton's method; scores and quality (0-1) are of the same sentences [N]."""
    if len(scores) < 10 or len(scores) != len(quality):
        raise ExportError(f"{len(scores)} scores and {len(quality)} qualities: calibration needs 10 sentences or more")
    design = np.stack([scores, np.ones_like(scores)], axis=1)  # [N, 2]
    weights = np.zeros(2)
    for _ in range(ITERATIONS):
        predicted = _sigmoid(design @ weights)
        gradient = design.T @ (predicted - quality) + RIDGE * weights
        curvature = (design * (predicted * (1 - predicted))[:, None]).T @ design + RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        # Far from the optimum a full Newton step can overshoot.
        weights = weights - step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-10:
            break
    predicted = _sigmoid(design @ weights)
    order = np.argsort(predicted, kind="stable")
    bins = np.array_split(order, 10)
    bin_error = float(np.mean([abs(predicted[rows].mean() - quality[rows].mean()) for rows in bins]))
    return Calibration(
        float(weights[0]),
        float(weights[1]),
        float(np.abs(predicted - quality).mean()),
        bin_error,
        fitted_on,
        len(scores),
    )


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-np.clip(values, -500, 500)))
