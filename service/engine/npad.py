"""Noisy parallel approximate decoding (Cho 2016, arXiv:1605.03835): greedy from noisy states, the likeliest wins.

    z_t = f(z_{t-1} + ε_t, y_{t-1}, c_t)        ε_t ~ N(0, (σ / t)²)

Sample 0 has no noise.  A sample is chosen by one row and judged by another: the chooser is noisy, follows the job's
actors and picks the words; the judge is the frozen model, without noise and without actor, and hears the same words.
Samples are compared by the judge's log-probability, as in the offline half, hence the winner is never less likely than
the greedy output.  Without actors sample 0 is its own judge.  With `explain` each chooser has a shadow: the same state,
noise and word, but no actor.

Shapes:  M samples · H decoder state
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from service.engine.probabilities import Floats, kl_divergence
from service.engine.repetition import cut_length
from service.engine.search import DONE, Moves, Search, Step, Verdict
from service.engine.types import Hypothesis


class Row:
    """One row of the search; `index` changes as rows before it leave."""

    __slots__ = ("index", "noise_index", "parent")

    def __init__(self, index: int, parent: "Row | None" = None, noise_index: int | None = None) -> None:
        self.index = index
        self.parent = self if parent is None else parent  # whose next state it goes on from
        self.noise_index = noise_index  # which of the drawn noise vectors is added to its state


class Sample:
    """One way through the output space."""

    def __init__(self, number: int, rows: Iterator[int], has_actor: bool, explain: bool) -> None:
        self.number = number
        noise_index = number - 1 if number else None
        self.chooser = Row(next(rows), noise_index=noise_index)
        self.judge = Row(next(rows)) if has_actor or number else self.chooser
        self.shadow = Row(next(rows), parent=self.chooser, noise_index=noise_index) if explain else None
        self.ids: list[int] = []
        self.log_probabilities: list[float] = []
        self.influence: list[float] = []

    def rows(self) -> list[Row]:
        return [row for row in dict.fromkeys((self.chooser, self.judge, self.shadow)) if row is not None]


def npad_rows(samples: int, has_actor: bool, explain: bool) -> int:
    """Return how many rows a search with so many samples has."""
    return samples * (3 if explain else 2) - (0 if has_actor else 1)


class NpadSearch(Search):
    """`samples` greedy decoders side by side."""

    def __init__(
        self,
        *,
        samples: int,
        sigma: float,
        alternatives: int,
        seed: int,
        state_size: int,
        eos_id: int,
        max_steps: int,
        source_ids: Sequence[int],
        has_actor: bool,
        has_guard: bool = True,
        explain: bool = False,
    ) -> None:
        self.rows = npad_rows(samples, has_actor, explain)
        self._sigma = sigma
        self._alternatives = alternatives
        self._noise_shape = (samples - 1, state_size)
        self._eos_id = eos_id
        self._max_steps = max_steps
        self._source_ids = source_ids
        self._has_guard = has_guard
        # Equal texts draw equal noise, whoever asks and whenever.
        self._generator = np.random.default_rng(np.random.SeedSequence([seed, *source_ids]))
        self._time = 0
        numbers = iter(range(self.rows))
        self._live = [Sample(number, numbers, has_actor, explain) for number in range(samples)]
        self._choosers = {sample.chooser.index for sample in self._live}
        self._results: list[tuple[int, float, int, Hypothesis]] = []  # (rank, -log-probability, sample, hypothesis)

    def row_has_actor(self, row: int) -> bool:
        return row in self._choosers

    def first_noise(self) -> Floats:
        return self._noise([row for sample in self._live for row in sample.rows()])

    def _noise(self, rows: Sequence[Row]) -> Floats:
        """Return what the next step adds to the states of `rows` [len(rows), H].

        Noise is drawn for samples that have ended too, so that theirs is never handed to another.
        """
        self._time += 1
        draws = self._generator.standard_normal(self._noise_shape, np.float32) * np.float32(self._sigma / self._time)
        noise: Floats = np.zeros((len(rows), self._noise_shape[1]), np.float32)
        for place, row in enumerate(rows):
            if row.noise_index is not None:
                noise[place] = draws[row.noise_index]
        return noise

    def advance(self, step: Step, slots: Sequence[int]) -> Verdict:
        self._live = [sample for sample in self._live if self._extend(sample, step, slots)]
        return self._moves() if self._live else DONE

    def _extend(self, sample: Sample, step: Step, slots: Sequence[int]) -> bool:
        """Add the sample's next word; tell whether it goes on."""
        chooser, judge = slots[sample.chooser.index], slots[sample.judge.index]
        token = step.tokens[chooser]
        sample.log_probabilities.append(float(step.log_probabilities[judge, token]))
        if sample.shadow is not None:
            shadow = slots[sample.shadow.index]
            sample.influence.append(kl_divergence(step.log_probabilities[shadow], step.log_probabilities[chooser]))
        if token == self._eos_id:
            self._finish(sample, rank=0)
            return False
        sample.ids.append(token)
        cut = cut_length(sample.ids, self._source_ids) if self._has_guard else None
        if cut is not None:
            del sample.ids[cut:], sample.log_probabilities[cut:], sample.influence[cut:]
            self._finish(sample, rank=2, is_repetitive=True)
            return False
        if len(sample.ids) >= self._max_steps:
            self._finish(sample, rank=1, is_truncated=True)
            return False
        return True

    def _finish(self, sample: Sample, rank: int, is_truncated: bool = False, is_repetitive: bool = False) -> None:
        influence = None if sample.shadow is None else tuple(sample.influence)
        hypothesis = Hypothesis(
            tuple(sample.ids), tuple(sample.log_probabilities), is_truncated, is_repetitive, influence
        )
        self._results.append((rank, -math.fsum(sample.log_probabilities), sample.number, hypothesis))

    def _moves(self) -> Moves:
        """Keep the rows of the live samples and number them anew."""
        rows = [row for sample in self._live for row in sample.rows()]
        rows.sort(key=lambda row: row.index)
        last_words = {row: sample.ids[-1] for sample in self._live for row in sample.rows()}
        moves = Moves(
            kept=[row.index for row in rows],
            parents=[row.parent.index for row in rows],
            tokens=[last_words[row] for row in rows],
            noise=self._noise(rows),
        )
        for index, row in enumerate(rows):
            row.index = index
        return moves

    def hypotheses(self) -> tuple[Hypothesis, ...]:
        distinct: dict[tuple[int, ...], Hypothesis] = {}
        for *_, hypothesis in sorted(self._results, key=lambda result: result[:3]):
            distinct.setdefault(hypothesis.ids, hypothesis)
        return tuple(distinct.values())[: self._alternatives]
