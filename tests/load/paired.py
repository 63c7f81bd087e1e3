"""Compare ways of decoding by rounds: in a round each does the same work, so what the machine does meanwhile cancels.

A machine's speed drifts by more than the effect that is sought.  So the ratio to the baseline is taken inside every
round, and the estimate is the median of the rounds' ratios.  Its interval is a bootstrap over rounds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 4000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Slice:
    """One contestant's part of a round."""

    seconds: float  # from the first request to the last answer
    latencies_s: tuple[float, ...]
    tokens: int
    cpu_s: float  # CPU time of the service


@dataclass(frozen=True, slots=True)
class Estimate:
    """A ratio and its confidence interval."""

    ratio: float
    low: float
    high: float


Round = Mapping[str, Slice]
Statistic = Callable[[Slice], float]


def latency_percentile(percent: float) -> Statistic:
    """The latency that `percent` of a slice's requests do not exceed, interpolated."""
    return lambda part: float(np.percentile(part.latencies_s, percent))


def requests_per_s(part: Slice) -> float:
    return len(part.latencies_s) / part.seconds


def seconds_per_token(part: Slice) -> float:
    """What a token of the answers took: comparable where objectives make shorter or longer answers."""
    return part.seconds / part.tokens


def cpu_per_token(part: Slice) -> float:
    """CPU time of the service for a token, HTTP and all: the surest of the numbers on a machine that is not idle."""
    return part.cpu_s / part.tokens


def pooled(rounds: Sequence[Round], contestant: str) -> Slice:
    """All slices of a contestant as if they were one."""
    parts = [one[contestant] for one in rounds]
    return Slice(
        sum(part.seconds for part in parts),
        tuple(latency for part in parts for latency in part.latencies_s),
        sum(part.tokens for part in parts),
        sum(part.cpu_s for part in parts),
    )


def compare(
    rounds: Sequence[Round], contestant: str, baseline: str, statistic: Statistic, *, seed: int = 0
) -> Estimate:
    """The contestant's statistic as a multiple of the baseline's."""
    ratios = np.array([statistic(one[contestant]) / statistic(one[baseline]) for one in rounds])
    choices = np.random.default_rng(seed).integers(0, len(ratios), (RESAMPLES, len(ratios)))
    medians = np.median(ratios[choices], axis=1)
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(medians, [tail, 100 - tail])
    return Estimate(float(np.median(ratios)), float(low), float(high))


def turns(contestants: Sequence[str], number: int) -> list[str]:
    """The order of a round: rotated, so that each takes every place, and turned round every other time, so that none
    always follows the same one."""
    start = (number // 2) % len(contestants)
    order = [*contestants[start:], *contestants[:start]]
    return order[::-1] if number % 2 else order
