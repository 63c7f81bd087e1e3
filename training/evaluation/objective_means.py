"""Objectives that are means over sentences (conciseness, a user's own), and whether their differences are real."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from training.evaluation.bootstrap import DEFAULT_DRAWS, DEFAULT_SEED, Difference

Floats = NDArray[np.float64]


def compare_means(
    name: str,
    baseline: Sequence[float],
    system: Sequence[float],
    *,
    draws: int = DEFAULT_DRAWS,
    seed: int = DEFAULT_SEED,
) -> Difference:
    """Paired bootstrap of the mean difference between two systems' scores of the same sentences.

    p is how often a difference this far from zero would be drawn if the systems were equally good: the draws vary
    around the observed difference as they would around zero.
    """
    differences = np.asarray(system, np.float64) - np.asarray(baseline, np.float64)
    random = np.random.default_rng(seed)
    drawn: Floats = np.array(
        [differences[row].mean() for row in random.integers(0, len(differences), (draws, len(differences)))]
    )
    observed = float(differences.mean())
    low, high = np.percentile(drawn, [2.5, 97.5])
    p = (np.count_nonzero(np.abs(drawn - drawn.mean()) >= abs(observed)) + 1) / (draws + 1)
    return Difference(name, observed, float(low), float(high), float(min(1.0, p)), float((drawn > 0).mean()))
