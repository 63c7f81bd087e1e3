"""Beam search in rows of the shared batch, with n-best lists, length normalisation, and actors if the job has any.

A search has `size` places.  At every step the best continuations of its live prefixes fill the places that are left;
one that ends with eos is finished, keeps its place and is extended no more.  The search is over when no place is left,
when the length bound is reached, or as soon as no live prefix can still enter the n-best list.  Finished hypotheses are
ranked by  log p / length ** alpha  (eos counts); what was cut at the bound ranks behind everything that finished, and
what fell into a loop behind that.  But for the loops, these are the rules of the offline half.

The rows of a search read the same source, so a reordering moves states only.

Shapes:  W places of the beam · n live prefixes · R rows of the batch · V vocabulary
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.engine.probabilities import kl_divergence, top_candidates
from service.engine.repetition import cut_length
from service.engine.search import DONE, Moves, Search, Step, Verdict
from service.engine.types import Hypothesis


@dataclass(slots=True)
class Prefix:
    """An output that has not ended."""

    ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    total: float  # their sum
    influence: tuple[float, ...]

    def extended(self, token: int, log_probability: float, influence: float | None) -> "Prefix":
        return Prefix(
            (*self.ids, token),
            (*self.log_probabilities, log_probability),
            self.total + log_probability,
            self.influence if influence is None else (*self.influence, influence),
        )


class BeamSearch(Search):
    """`size` rows; with `explain`, a shadow row without actor beside each of them."""

    def __init__(
        self,
        *,
        size: int,
        alternatives: int,
        length_alpha: float,
        eos_id: int,
        max_steps: int,
        source_ids: Sequence[int],
        has_guard: bool = True,
        explain: bool = False,
    ) -> None:
        self.rows = 2 * size if explain else size
        self._size = size
        self._eos_id = eos_id
        self._max_steps = max_steps
        self._source_ids = source_ids
        self._has_guard = has_guard
        self._explain = explain
        self._alpha = length_alpha
        self._places = size
        self._live = [Prefix((), (), 0.0, ())]  # prefix i stands in row i
        self._result = NBest(alternatives)

    def row_has_actor(self, row: int) -> bool:
        return row < self._size

    def advance(self, step: Step, slots: Sequence[int]) -> Verdict:
        shadows = slots[len(slots) // 2 :] if self._explain else ()
        live: list[Prefix] = []
        parents: list[int] = []
        for parent, token, log_probability in self._continuations(step, slots):
            influence = None
            if self._explain:
                influence = kl_divergence(
                    step.log_probabilities[shadows[parent]], step.log_probabilities[slots[parent]]
                )
            prefix = self._live[parent].extended(token, log_probability, influence)
            if token == self._eos_id:
                self._places -= 1
                self._finish(prefix)
            elif not self._is_stopped(prefix):
                live.append(prefix)
                parents.append(parent)
        self._drop_hopeless(live, parents)
        self._live = live
        return self._moves(parents, len(slots)) if live else DONE

    def _continuations(self, step: Step, slots: Sequence[int]) -> list[tuple[int, int, float]]:
        """Return (row, token, log-probability) of the best continuations, best first, as many as there are places."""
        count = len(self._live)
        own = list(slots[:count])
        log_probabilities = step.log_probabilities[own]  # [n, V]
        totals = np.array([prefix.total for prefix in self._live], np.float32)
        # All live prefixes are equally long, so dividing by length ** alpha would not change their order.
        rows, tokens, _ = top_candidates(totals[:, None] + log_probabilities, self._places)
        chosen = log_probabilities[rows, tokens]
        return list(zip(rows.tolist(), tokens.tolist(), chosen.tolist(), strict=True))

    def _finish(self, prefix: Prefix) -> None:
        score = prefix.total / len(prefix.log_probabilities) ** self._alpha
        self._result.add(0, score, self._hypothesis(prefix, prefix.ids[:-1]))

    def _is_stopped(self, prefix: Prefix) -> bool:
        """Whether `prefix` may not go on: in a loop, or at the bound."""
        score = prefix.total / len(prefix.ids) ** self._alpha
        cut = cut_length(prefix.ids, self._source_ids) if self._has_guard else None
        if cut is not None:
            self._result.add(2, score, self._hypothesis(prefix, prefix.ids[:cut], is_repetitive=True))
            return True
        if len(prefix.ids) >= self._max_steps:
            self._result.add(1, score, self._hypothesis(prefix, prefix.ids, is_truncated=True))
            return True
        return False

    def _drop_hopeless(self, live: list[Prefix], parents: list[int]) -> None:
        """Drop prefixes that can no longer enter the n-best list.

        A prefix only loses log-probability, and a longer length only helps, so the best that can become of it is to end
        at the bound at no further cost: total / bound ** alpha.
        """
        bound = self._max_steps**self._alpha
        threshold = self._result.threshold()
        for index in reversed(range(len(live))):
            if live[index].total / bound <= threshold:
                del live[index], parents[index]

    def _moves(self, parents: list[int], rows: int) -> Moves:
        """Keep a row for every place: where prefixes were dropped, the next step may fill their places again."""
        idle = self._places - len(self._live)
        parents = parents + parents[:1] * idle
        tokens = [prefix.ids[-1] for prefix in self._live]
        tokens += tokens[:1] * idle
        kept = list(range(self._places))
        if self._explain:
            kept += [rows // 2 + row for row in kept]
            parents, tokens = parents * 2, tokens * 2
        return Moves(kept, parents, tokens)

    def _hypothesis(
        self, prefix: Prefix, ids: tuple[int, ...], is_truncated: bool = False, is_repetitive: bool = False
    ) -> Hypothesis:
        length = len(ids) if is_repetitive else len(prefix.log_probabilities)
        influence = prefix.influence[:length] if self._explain else None
        return Hypothesis(ids, prefix.log_probabilities[:length], is_truncated, is_repetitive, influence)

    def hypotheses(self) -> tuple[Hypothesis, ...]:
        return self._result.best()


class NBest:
    """The best hypotheses of one search so far: by rank (0 finished, 1 cut, 2 in a loop), then by score."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: list[tuple[int, float, Hypothesis]] = []

    def add(self, rank: int, score: float, hypothesis: Hypothesis) -> None:
        self._entries.append((rank, -score, hypothesis))
        self._entries.sort(key=lambda entry: entry[:2])
        del self._entries[self._size :]

    def threshold(self) -> float:
        """Return the score that a further finished hypothesis has to exceed to enter the list."""
        if len(self._entries) < self._size or self._entries[-1][0] > 0:
            return -math.inf
        return -self._entries[-1][1]

    def best(self) -> tuple[Hypothesis, ...]:
        return tuple(hypothesis for _, _, hypothesis in self._entries)
