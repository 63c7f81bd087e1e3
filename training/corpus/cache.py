"""Parallel text as ids on disk, memory-mapped: written once, opened in milliseconds, whatever its size.

A cache is a folder of four files:

    source.ids, target.ids   all sentences one after the other, each closed by eos (uint16, or int32)
    lengths.npy              int32 [2, pairs]: lengths of the source and of the target sentences, eos included
    cache.json               format, type of the ids, number of pairs and of tokens

It is written under a temporary name and renamed, so a cache that exists is a cache that is whole.
"""

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from training.errors import CorpusError

PAD, UNK, BOS, EOS = 0, 1, 2, 3

FORMAT = 1
DESCRIPTION = "cache.json"
LENGTHS = "lengths.npy"
SIDES = ("source", "target")
BUFFERED_IDS = 1 << 20

IdArray = NDArray[np.uint16] | NDArray[np.int32]


@dataclass(frozen=True)
class TokenCorpus:
    """Pairs of id sequences, each closed by eos.  Lengths count the eos."""

    source_ids: IdArray
    target_ids: IdArray
    source_lengths: NDArray[np.int32]
    target_lengths: NDArray[np.int32]
    source_starts: NDArray[np.int64]
    target_starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.source_lengths)

    def pair(self, index: int) -> tuple[IdArray, IdArray]:
        """Return the source and the target ids of one pair, each with its final eos."""
        source, target = self.source_starts[index], self.target_starts[index]
        return (
            self.source_ids[source : source + self.source_lengths[index]],
            self.target_ids[target : target + self.target_lengths[index]],
        )

    @classmethod
    def of(cls, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Self:
        """Pairs of ids, given **without eos**, in memory."""
        sides = []
        for side in (0, 1):
            closed = [[*pair[side], EOS] for pair in pairs]
            lengths = np.array([len(sentence) for sentence in closed], np.int32)
            ids = np.array([token for sentence in closed for token in sentence], np.int32)
            sides.append((ids, lengths, np.cumsum(lengths, dtype=np.int64) - lengths))
        source, target = sides
        return cls(source[0], target[0], source[1], target[1], source[2], target[2])

    def extended(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> "TokenCorpus":
        """The same in memory, with more pairs of ids, given **without eos**, behind it."""
        more = TokenCorpus.of(pairs)
        return TokenCorpus(
            np.concatenate([self.source_ids, more.source_ids.astype(self.source_ids.dtype)]),
            np.concatenate([self.target_ids, more.target_ids.astype(self.target_ids.dtype)]),
            np.append(self.source_lengths, more.source_lengths),
            np.append(self.target_lengths, more.target_lengths),
            np.append(self.source_starts, len(self.source_ids) + more.source_starts),
            np.append(self.target_starts, len(self.target_ids) + more.target_starts),
        )

    @classmethod
    def write(
        cls, folder: Path, pairs: Iterable[tuple[Sequence[int], Sequence[int]]], *, vocabulary: int = 65_535
    ) -> None:
        """Write pairs of ids **without eos** (it is appended here) as the cache `folder`, replacing an older one.

        `vocabulary` is the larger of the two vocabularies' sizes; it decides the type of the ids on disk.
        """
        dtype = np.dtype(np.uint16 if vocabulary < 65_536 else np.int32)
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = folder.parent / f".{folder.name}.partial-{os.getpid()}"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            lengths = _write_sides(partial, pairs, dtype, vocabulary)
            np.save(partial / LENGTHS, lengths)
            description = {
                "format": FORMAT,
                "dtype": dtype.name,
                "pairs": lengths.shape[1],
                "source_tokens": int(lengths[0].sum(dtype=np.int64)),
                "target_tokens": int(lengths[1].sum(dtype=np.int64)),
            }
            (partial / DESCRIPTION).write_text(json.dumps(description) + "\n", encoding="utf-8")
            if folder.exists():
                shutil.rmtree(folder)
            partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map the cache in `folder`; raise `CorpusError` when it is missing or does not fit its own description."""
        try:
            description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
            lengths = np.load(folder / LENGTHS)
        except (OSError, ValueError) as error:
            raise CorpusError(f"{folder}: no usable cache of ids ({error}); run `nudge-train prepare` first") from None
        if description.get("format") != FORMAT:
            raise CorpusError(f"{folder}: cache format {description.get('format')}, not {FORMAT}; prepare it again")
        dtype = np.dtype(description["dtype"])
        flat = [
            _map_ids(folder / f"{side}.ids", dtype, int(lengths[row].sum(dtype=np.int64)))
            for row, side in enumerate(SIDES)
        ]
        starts = [np.cumsum(row, dtype=np.int64) - row for row in lengths]
        return cls(flat[0], flat[1], lengths[0], lengths[1], starts[0], starts[1])


def _write_sides(
    folder: Path, pairs: Iterable[tuple[Sequence[int], Sequence[int]]], dtype: np.dtype[Any], vocabulary: int
) -> NDArray[np.int32]:
    """Stream the ids of both sides to their files; return lengths [2, pairs]."""
    lengths: tuple[list[int], list[int]] = ([], [])
    buffers: tuple[list[int], list[int]] = ([], [])
    with (folder / "source.ids").open("wb") as source, (folder / "target.ids").open("wb") as target:
        for pair in pairs:
            for ids, buffer, length in zip(pair, buffers, lengths, strict=True):
                buffer.extend(ids)
                buffer.append(EOS)
                length.append(len(ids) + 1)
            for buffer, file in zip(buffers, (source, target), strict=True):
                if len(buffer) >= BUFFERED_IDS:
                    _flush(buffer, file, dtype, vocabulary)
        for buffer, file in zip(buffers, (source, target), strict=True):
            _flush(buffer, file, dtype, vocabulary)
    return np.array(lengths, dtype=np.int32).reshape(2, -1)


def _flush(buffer: list[int], file: BinaryIO, dtype: np.dtype[Any], vocabulary: int) -> None:
    ids = np.array(buffer, dtype=np.int64)
    if ids.size and not (ids.min() >= 0 and ids.max() < vocabulary):
        raise ValueError(f"ids from {ids.min()} to {ids.max()} in a cache for a vocabulary of {vocabulary}")
    file.write(ids.astype(dtype).tobytes())
    buffer.clear()


def _map_ids(path: Path, dtype: np.dtype[Any], tokens: int) -> IdArray:
    given = path.stat().st_size if path.exists() else -1
    if given != tokens * dtype.itemsize:
        raise CorpusError(
            f"{path}: {given} bytes, not the {tokens * dtype.itemsize} of {tokens} tokens; prepare it again"
        )
    if tokens == 0:
        return np.zeros(0, dtype)
    return np.memmap(path, dtype=dtype, mode="r")
