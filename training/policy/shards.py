"""Arrays about many sentences, found once and kept as a folder of shards (`00000.npz`, …) of consecutive sentences.

Each shard is written under a temporary name and renamed, so a search that was killed goes on with the first shard that
is missing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self

import numpy as np

from training.nmt.checkpoint import write_atomically

SHARD_SENTENCES = 1000

Sources = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Shard:
    """What is known about some sentences; every field is an array, its rows in the order of the sentences."""

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """The sentences of all parts, one part after the other."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    @classmethod
    def stored(
        cls,
        folder: Path,
        sources: Sources,
        find: Callable[[int, Sources], Self],
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> Self:
        """What `folder` holds about `sources`, finding only the shards that it does not hold yet.

        `find` is given the number of the first of the sentences, and the sentences.
        """
        shards = []
        for number, start in enumerate(range(0, len(sources), SHARD_SENTENCES)):
            path, part = folder / f"{number:05d}.npz", sources[start : start + SHARD_SENTENCES]
            if not path.exists():
                find(start, part)._write(path)
            shards.append(cls._read(path))
            on_progress(len(part))
        return cls.concatenate(shards)

    def _write(self, path: Path) -> None:
        def save(temporary: Path) -> None:
            with temporary.open("wb") as file:
                np.savez(file, **{field.name: getattr(self, field.name) for field in fields(self)})

        write_atomically(path, save)

    @classmethod
    def _read(cls, path: Path) -> Self:
        with np.load(path) as arrays:
            return cls(**{field.name: arrays[field.name] for field in fields(cls)})
