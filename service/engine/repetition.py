"""The repetition guard: stop an output that has fallen into a loop.

A decoder that meets odd input may repeat a phrase until its length bound.  The rule is deterministic and looks only at
the sentence itself:

- The tail of the output is a loop when a unit of n ≤ MAX_PERIOD tokens stands there k times in a row, with
  k ≥ MIN_REPEATS, n · k ≥ MIN_TOKENS, and k at least two more than any unit repeats in the source (so that "ha ha ha
  ha ha ha" may be translated as what it is).
- Then decoding stops; the output keeps the unit as often as the source repeats one (once, normally) and is flagged.
"""

from collections.abc import Sequence
from functools import lru_cache

MAX_PERIOD = 12
MIN_REPEATS = 4
MIN_TOKENS = 8


class RepetitionGuard:
    """Watches one growing output.  A token costs one dictionary look-up until something repeats."""

    __slots__ = ("_last_seen", "_source", "_streak")

    def __init__(self, source_ids: Sequence[int]) -> None:
        self._source = source_ids
        self._last_seen: dict[int, int] = {}
        self._streak = 0  # tokens at the end that each stood within MAX_PERIOD before: a loop has no other kind

    def is_suspicious(self, token: int, position: int) -> bool:
        """Take in `token` at `position`; tell whether `loop_start` is worth calling."""
        last = self._last_seen.get(token)
        self._last_seen[token] = position
        if last is None or position - last > MAX_PERIOD:
            self._streak = 0
            return False
        self._streak += 1
        return self._streak >= MIN_TOKENS // 2

    def loop_start(self, ids: Sequence[int]) -> int | None:
        """Return the length to cut `ids` to when its tail is a loop, else None."""
        return cut_length(ids, self._source)


def cut_length(ids: Sequence[int], source_ids: Sequence[int]) -> int | None:
    """Return the length to cut `ids` to when its tail is a loop, else None."""
    for period in range(1, MAX_PERIOD + 1):
        needed = max(MIN_REPEATS, -(-MIN_TOKENS // period))
        if len(ids) < period * needed:
            continue
        repeats = tail_repeats(ids, period)
        if repeats >= needed:
            allowed = _cached_source_repeats(tuple(source_ids))
            if repeats >= allowed + 2:
                return len(ids) - period * (repeats - allowed)
    return None


def tail_repeats(ids: Sequence[int], period: int) -> int:
    """Return how often the last `period` tokens stand in a row at the end of `ids`."""
    repeats = 1
    end = len(ids)
    unit = ids[end - period : end]
    while end - (repeats + 1) * period >= 0:
        start = end - (repeats + 1) * period
        if ids[start : start + period] != unit:
            break
        repeats += 1
    return repeats


def source_repeats(source_ids: Sequence[int]) -> int:
    """Return how often any unit of at most MAX_PERIOD tokens stands in a row in the source, at least 1."""
    most = 1
    for period in range(1, MAX_PERIOD + 1):
        run = 0  # tokens in a row that equal the one `period` before
        for index in range(period, len(source_ids)):
            run = run + 1 if source_ids[index] == source_ids[index - period] else 0
            most = max(most, run // period + 1)
    return most


@lru_cache(maxsize=512)
def _cached_source_repeats(source_ids: tuple[int, ...]) -> int:
    """A source that is one long loop lets the output loop too, and then this is asked at every step of every row."""
    return source_repeats(source_ids)
