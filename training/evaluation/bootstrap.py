"""Is a difference real?  Paired bootstrap resampling (Koehn 2004).

A test set is drawn anew many times, with replacement, from its own sentences; both systems are scored on the same
draws.  Sums of sentence statistics over a draw are one matrix product: how often each sentence was drawn, times its
statistics.

Shapes:  D draws · N sentences
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from training.errors import EvaluationError
from training.evaluation.metrics import METRICS, Floats, SentenceStatistics

DEFAULT_DRAWS = 1000
DEFAULT_SEED = 12345  # sacreBLEU's, so that both give the same p-values
CONFIDENCE = 0.95

# Draws are counted in pieces of at most this many numbers (8 bytes each).
NUMBERS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Resampled:
    """One system's scores on the test set and on every draw of it, by metric."""

    scores: dict[str, float]
    draws: dict[str, Floats]  # [D] each

    def interval(self, metric: str) -> tuple[float, float]:
        """The 95% confidence interval of a score."""
        return _interval(self.draws[metric])


@dataclass(frozen=True)
class Difference:
    """A system's score minus a baseline's, and what the draws say about it."""

    metric: str
    difference: float
    low: float  # 95% confidence interval of the difference
    high: float
    p_value: float
    wins: float  # share of draws in which the system is better than the baseline; Koehn's confidence


def resample(statistics: SentenceStatistics, *, draws: int = DEFAULT_DRAWS, seed: int = DEFAULT_SEED) -> Resampled:
    """Score a system on `draws` resampled test sets: the same ones for every system of the same test set and seed."""
    if draws < 1:
        raise EvaluationError(f"{draws} draws: the bootstrap needs at least 1, and 1000 to say anything")
    parts: dict[str, list[Floats]] = {metric.name: [] for metric in METRICS}
    for counts in _counts(len(statistics), draws, seed):
        for metric in METRICS:
            parts[metric.name].append(metric.score(counts @ metric.statistics(statistics)))
    return Resampled(
        scores={metric.name: float(metric.score(metric.statistics(statistics).sum(axis=0))) for metric in METRICS},
        draws={name: np.concatenate(pieces) for name, pieces in parts.items()},
    )


def compare(baseline: Resampled, system: Resampled) -> dict[str, Difference]:
    """Compare two systems of one test set that were resampled with the same seed, metric by metric."""
    differences = {}
    for name, baseline_draws in baseline.draws.items():
        drawn = system.draws[name] - baseline_draws
        observed = system.scores[name] - baseline.scores[name]
        low, high = _interval(drawn)
        differences[name] = Difference(name, observed, low, high, _p_value(drawn, observed), float((drawn > 0).mean()))
    return differences


def _p_value(drawn: Floats, observed: float) -> float:
    """How often chance alone gives a difference above the one observed, computed as sacreBLEU does.

    The draws vary around their mean as the difference would around zero if the systems were equally good.  One-sided:
    a difference whose 95% interval just touches zero has p = 0.025.  Unlike sacreBLEU's, the p of no difference is 1:
    equal outputs have no spread either, and nothing would exceed it.
    """
    if observed == 0:
        return 1.0
    sizes = np.abs(drawn)
    exceeding = int(((sizes - sizes.mean()) > abs(observed)).sum())
    return (exceeding + 1) / (len(drawn) + 1)


def _interval(draws: Floats) -> tuple[float, float]:
    low, high = np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def _counts(sentences: int, draws: int, seed: int) -> Iterator[Floats]:
    """How often each sentence is in each draw [D, N], in pieces of D."""
    random = np.random.default_rng(seed)
    at_once = max(1, NUMBERS_AT_ONCE // sentences)
    for start in range(0, draws, at_once):
        rows = min(at_once, draws - start)
        drawn = random.integers(0, sentences, size=(rows, sentences))
        flat = drawn + sentences * np.arange(rows)[:, None]
        yield np.bincount(flat.ravel(), minlength=rows * sentences).reshape(rows, sentences).astype(np.float64)
