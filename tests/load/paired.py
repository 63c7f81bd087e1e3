"""Compare ways of decoding by rounds: in a round each does the same work, so what the machine does meanwhile cancels.

A machine's speed drifts by more than the effect that is sought.  So rounds are short, the ratio to the baseline is
taken inside every round, and the estimate is the median of the rounds' ratios.  Percentiles of latencies are those of
all rounds together, for a short round has no tail.  Intervals are bootstraps over rounds.

Where a process finds its memory is luck, which lasts as long as the process.  So the processes may be started several
times; the rounds of each start follow one another, and the bootstrap draws starts, and of each its rounds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    rounds: Sequence[Round], contestant: str, baseline: str, statistic: Statistic, *, starts: int = 1, seed: int = 0
) -> Estimate:
    """The contestant's statistic as a multiple of the baseline's."""
    ratios = np.array([statistic(one[contestant]) / statistic(one[baseline]) for one in rounds])
    draws = _draws(len(ratios), starts, RESAMPLES, seed)
    return _estimate(np.median(ratios), [np.median(ratios[drawn]) for drawn in draws])


def compare_latencies(
    rounds: Sequence[Round], contestant: str, baseline: str, percent: float, *, starts: int = 1, seed: int = 0
) -> Estimate:
    """The percentile of the contestant's latencies in all rounds as a multiple of the baseline's."""
    own, other = (np.array([one[name].latencies_s for one in rounds]) for name in (contestant, baseline))

    def ratio(drawn: NDArray[np.int64]) -> float:
        return float(np.percentile(own[drawn], percent) / np.percentile(other[drawn], percent))

    everything = np.arange(len(rounds))
    draws = _draws(len(rounds), starts, RESAMPLES // 8, seed)
    return _estimate(ratio(everything), [ratio(drawn) for drawn in draws])


def _draws(rounds: int, starts: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Indices of rounds: as many starts as there are, drawn with replacement, and so many rounds of each."""
    of_each, rest = divmod(rounds, starts)
    assert not rest, "every start has as many rounds as the others"
    dice = np.random.default_rng(seed)
    for _ in range(resamples):
        drawn = dice.integers(0, starts, (starts, 1))
        yield (drawn * of_each + dice.integers(0, of_each, (starts, of_each))).ravel()


def _estimate(ratio: float, resampled: Sequence[float]) -> Estimate:
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(resampled, [tail, 100 - tail])
    return Estimate(float(ratio), float(low), float(high))


def turns(contestants: Sequence[str], number: int) -> list[str]:
    """The order of a round: rotated, so that each takes every place, and turned round every other time, so that none
    always follows the same one."""
    start = (number // 2) % len(contestants)
    order = [*contestants[start:], *contestants[:start]]
    return order[::-1] if number % 2 else order
