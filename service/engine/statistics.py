"""What the engine counts, and how fast it has lately been."""

import math
from collections import Counter

from service.engine.errors import DeadlineExceeded, EngineError
from service.engine.types import Output

MEMORY_S = 5.0  # how much busy time the measured speed remembers
FRESH_S = 0.05  # what is averaged as one piece
FIRST_GUESS = 1000.0  # rows advanced a second, before anything was measured


class Statistics:
    """Counters of one engine; written by its thread alone, read by any."""

    def __init__(self) -> None:
        self.steps = 0
        self.row_steps = 0
        self.tokens = 0
        self.encoded = 0
        self.finished = 0
        self.cancelled = 0
        self.expired = 0
        self.overloaded = 0
        self.batch_sizes: Counter[int] = Counter()
        self.row_steps_per_s = Speed()  # rows advanced
        self.drain_per_s = Speed()  # queue cost (source tokens times rows) taken from the queue

    def count_step(self, rows: int) -> None:
        self.steps += 1
        self.row_steps += rows
        self.batch_sizes[rows] += 1

    def count_answer(self, result: Output | EngineError | None) -> None:
        match result:
            case Output():
                self.finished += 1
            case DeadlineExceeded():
                self.expired += 1
            case _:
                self.cancelled += 1

    def count_turn(self, row_steps: int, drained_cost: int, seconds: float) -> None:
        """Take in one turn of the engine: its work and how long it took, encoding included."""
        self.row_steps_per_s.add(row_steps, seconds)
        self.drain_per_s.add(drained_cost, seconds)


class Speed:
    """Units per second of busy time, averaged over about the last MEMORY_S seconds of it."""

    def __init__(self) -> None:
        self._units = FIRST_GUESS * 1e-3
        self._seconds = 1e-3
        self._fresh_units = 0.0
        self._fresh_seconds = 0.0

    def add(self, units: float, seconds: float) -> None:
        self._fresh_units += units
        self._fresh_seconds += seconds
        if self._fresh_seconds > FRESH_S:  # a turn is much shorter: fading at every one would only cost time
            keep = math.exp(-self._fresh_seconds / MEMORY_S)
            self._units = self._units * keep + self._fresh_units
            self._seconds = self._seconds * keep + self._fresh_seconds
            self._fresh_units = self._fresh_seconds = 0.0

    @property
    def per_s(self) -> float:
        return (self._units + self._fresh_units) / (self._seconds + self._fresh_seconds)
