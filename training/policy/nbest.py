"""The frozen model's n-best lists of the training text: searched for once, used for every objective.

Shapes:  N sentences · J hypotheses of all sentences, in order · L tokens of all hypotheses, in order
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.decoding.hypothesis import Hypothesis
from training.policy.shards import Shard

Search = Callable[[Sequence[Sequence[int]]], list[list[Hypothesis]]]


@dataclass(frozen=True)
class NBest(Shard):
    """Hypotheses of many sentences, best first within a sentence."""

    counts: NDArray[np.int32]  # [N] hypotheses of each sentence
    lengths: NDArray[np.int32]  # [J] tokens of each hypothesis, eos not counted
    log_probabilities: NDArray[np.float32]  # [J] log p(y | x) under the frozen model, eos included
    is_truncated: NDArray[np.bool_]  # [J]
    ids: NDArray[np.int32]  # [L]

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def starts(self) -> NDArray[np.int64]:
        """[N]: the first hypothesis of each sentence."""
        return np.cumsum(self.counts, dtype=np.int64) - self.counts

    @property
    def sentence(self) -> NDArray[np.int64]:
        """[J]: the sentence of each hypothesis."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @property
    def mean_log_probabilities(self) -> NDArray[np.float32]:
        """[J]: mean log-probability of a token, eos included."""
        tokens = np.maximum(1, self.lengths + ~self.is_truncated)
        return (self.log_probabilities / tokens).astype(np.float32)

    def outputs(self) -> list[list[int]]:
        """The ids of every hypothesis, without eos."""
        return [part.tolist() for part in np.split(self.ids, np.cumsum(self.lengths)[:-1])] if len(self.lengths) else []

    @classmethod
    def of(cls, lists: Sequence[Sequence[Hypothesis]]) -> "NBest":
        flat = [hypothesis for candidates in lists for hypothesis in candidates]
        return cls(
            np.array([len(candidates) for candidates in lists], np.int32),
            np.array([len(one.ids) for one in flat], np.int32),
            np.array([one.log_probability for one in flat], np.float32),
            np.array([one.is_truncated for one in flat], np.bool_),
            np.array([token for one in flat for token in one.ids], np.int32),
        )

    def with_more(self, other: "NBest") -> "NBest":
        """The same sentences with the other's hypotheses behind their own; what a sentence has already is left out."""
        own, more = self.lists(), other.lists()
        merged = [
            list(first) + [one for one in second if one.ids not in {known.ids for known in first}]
            for first, second in zip(own, more, strict=True)
        ]
        return NBest.of(merged)

    def lists(self) -> list[list[Hypothesis]]:
        """Back to hypotheses; only their total log-probability is known."""
        flat = [
            Hypothesis(tuple(ids), (float(total),), bool(cut))
            for ids, total, cut in zip(self.outputs(), self.log_probabilities, self.is_truncated, strict=True)
        ]
        return [flat[start : start + count] for start, count in zip(self.starts, self.counts, strict=True)]
