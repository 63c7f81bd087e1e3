"""Greedy decoding: the likeliest word at every step."""

from collections.abc import Callable, Sequence

from service.engine.probabilities import kl_divergence
from service.engine.repetition import RepetitionGuard
from service.engine.search import DONE, GO_ON, Moves, Search, Step, Verdict
from service.engine.types import Hypothesis

Report = Callable[[int, float, float | None], None]


class GreedySearch(Search):
    """One row.  With `explain`, a second one shadows it: same state, same word, no actor."""

    rows = 1

    def __init__(
        self,
        *,
        eos_id: int,
        max_steps: int,
        guard: RepetitionGuard | None = None,
        explain: bool = False,
        report: Report | None = None,
    ) -> None:
        self._eos_id = eos_id
        self._max_steps = max_steps
        self._guard = guard
        self._report = report
        self._ids: list[int] = []
        self._log_probabilities: list[float] = []
        self._influence: list[float] | None = [] if explain else None
        self._is_truncated = False
        self._is_repetitive = False
        if explain:
            self.rows = 2

    def row_has_actor(self, row: int) -> bool:
        return row == 0

    def advance(self, step: Step, slots: Sequence[int]) -> Verdict:
        slot = slots[0]
        token = step.tokens[slot]
        log_probability = step.best[slot]
        influence = None
        if self._influence is not None:
            influence = kl_divergence(step.log_probabilities[slots[1]], step.log_probabilities[slot])
            self._influence.append(influence)
        self._log_probabilities.append(log_probability)
        if token == self._eos_id:
            return DONE
        ids = self._ids
        ids.append(token)
        if self._report is not None:
            self._report(token, log_probability, influence)
        if self._guard is not None and self._guard.is_suspicious(token, len(ids)):
            self._stop_loop(self._guard)
        if self._is_repetitive:
            return DONE
        if len(ids) >= self._max_steps:
            self._is_truncated = True
            return DONE
        return GO_ON if self._influence is None else Moves(kept=(0, 1), parents=(0, 0), tokens=(token, token))

    def _stop_loop(self, guard: RepetitionGuard) -> None:
        start = guard.loop_start(self._ids)
        if start is not None:
            self._is_repetitive = True
            del self._ids[start:]
            del self._log_probabilities[start:]
            if self._influence is not None:
                del self._influence[start:]

    def hypotheses(self) -> tuple[Hypothesis, ...]:
        influence = None if self._influence is None else tuple(self._influence)
        return (
            Hypothesis(
                tuple(self._ids), tuple(self._log_probabilities), self._is_truncated, self._is_repetitive, influence
            ),
        )
