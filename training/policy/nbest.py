"""The frozen model's n-best lists of the training text: searched for once, used for every objective.

A store is a folder of shards (`00000.npz`, …) of consecutive sentences.  Each shard is written under a temporary name
and renamed, so a search that was killed goes on with the first shard that is missing.

Shapes:  N sentences · J hypotheses of all sentences, in order · L tokens of all hypotheses, in order
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.decoding.hypothesis import Hypothesis
from training.nmt.checkpoint import write_atomically

SHARD_SENTENCES = 1000

Search = Callable[[Sequence[Sequence[int]]], list[list[Hypothesis]]]


@dataclass(frozen=True)
class NBest:
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

    @classmethod
    def concatenate(cls, parts: Sequence["NBest"]) -> "NBest":
        """The sentences of all parts, one part after the other."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))

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


def stored_nbest(
    folder: Path, sources: Sequence[Sequence[int]], search: Search, on_progress: Callable[[int], None] = lambda _: None
) -> NBest:
    """Return the n-best lists of `sources`, searching only for the shards that `folder` does not hold yet."""
    shards = []
    for number, start in enumerate(range(0, len(sources), SHARD_SENTENCES)):
        path = folder / f"{number:05d}.npz"
        part = sources[start : start + SHARD_SENTENCES]
        if not path.exists():
            _write(path, NBest.of(search(part)))
        shards.append(_read(path))
        on_progress(len(part))
    return NBest.concatenate(shards)


def _write(path: Path, shard: NBest) -> None:
    def save(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez(file, **vars(shard))

    write_atomically(path, save)


def _read(path: Path) -> NBest:
    with np.load(path) as arrays:
        return NBest(**{name: arrays[name] for name in NBest.__dataclass_fields__})
