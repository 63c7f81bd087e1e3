"""Batches of pairs of similar length, cut by a budget of tokens, in an order that only the seed and the epoch decide.

Shapes:  B rows · S padded source length, always even · T padded target length

The batches of all epochs are one infinite sequence, a function of the seed alone.  Update number n of rank r among w
processes takes batch n · w + r of it, so a run resumes anywhere in the same sequence, and the processes share an epoch
without overlap.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.corpus.cache import BOS, PAD, IdArray, TokenCorpus
from training.corpus.respelling import Respelling
from training.errors import CorpusError

IntArray = NDArray[np.int32] | NDArray[np.int64]

POOL_BATCHES = 1000  # pairs are sorted by length within pools of about this many batches


@dataclass(frozen=True)
class Batch:
    """Padded rows of one update.  Masks are 1 for a real position and 0 for padding."""

    source_ids: Tensor  # [B, S] int64, each row closed by eos
    source_mask: Tensor  # [B, S] float32
    target_inputs: Tensor  # [B, T] int64: bos, then the target without its eos
    target_outputs: Tensor  # [B, T] int64: the target, closed by eos
    target_mask: Tensor  # [B, T] float32

    def __len__(self) -> int:
        return self.source_ids.shape[0]

    @property
    def source_tokens(self) -> int:
        """Real source positions, eos included."""
        return int(self.source_mask.sum())

    @property
    def target_tokens(self) -> int:
        """Real target positions, eos included."""
        return int(self.target_mask.sum())

    def to(self, device: torch.device | str) -> "Batch":
        return Batch(
            self.source_ids.to(device, non_blocking=True),
            self.source_mask.to(device, non_blocking=True),
            self.target_inputs.to(device, non_blocking=True),
            self.target_outputs.to(device, non_blocking=True),
            self.target_mask.to(device, non_blocking=True),
        )


def epoch_batches(
    source_lengths: IntArray,
    target_lengths: IntArray,
    *,
    batch_tokens: int,
    max_tokens: int,
    seed: int,
    epoch: int,
) -> list[NDArray[np.int64]]:
    """Return the batches of one epoch as arrays of pair indices.

    Lengths count the eos; `max_tokens` does not: a pair with more subwords than that on either side is left out.
    In every batch, rows × the longest padded row of either side is at most `batch_tokens`.
    """
    if batch_tokens < max_tokens + 2:
        raise ValueError(
            f"batch_tokens = {batch_tokens} cannot hold one pair of max_tokens = {max_tokens}, eos and padding"
        )
    random = np.random.default_rng((seed, epoch))
    order = random.permutation(short_enough(source_lengths, target_lengths, max_tokens))
    if not order.size:
        return []
    source, target = source_lengths[order], target_lengths[order]
    widths = np.maximum(source + source % 2, target)  # the source is padded to an even length
    pool = max(1, int(POOL_BATCHES * batch_tokens / widths.mean()))
    # By the longer side alone; ties keep the random order of the permutation.  Sorting by both sides would pad a little
    # less, but batches of one length ratio are batches of one kind of sentence, and the toy was learnt more slowly.
    ranked = np.lexsort((widths, np.arange(order.size) // pool))
    batches = [order[ranked[start:stop]] for start, stop in _cuts(widths[ranked], batch_tokens)]
    return [batches[index] for index in random.permutation(len(batches))]


def short_enough(source_lengths: IntArray, target_lengths: IntArray, max_tokens: int) -> NDArray[np.int64]:
    """Return the indices of the pairs with at most `max_tokens` subwords, eos not counted, on both sides."""
    return np.flatnonzero(np.maximum(source_lengths, target_lengths) - 1 <= max_tokens)


def _cuts(widths: IntArray, batch_tokens: int) -> Iterator[tuple[int, int]]:
    """Yield spans of rows, each as long as rows × largest width of the span ≤ `batch_tokens` allows."""
    start = 0
    while start < len(widths):
        # No batch can have more rows than the budget divided by its first row's width.
        ahead = np.maximum.accumulate(widths[start : start + batch_tokens // widths[start]])
        rows = int(np.searchsorted(ahead * np.arange(1, len(ahead) + 1), batch_tokens, side="right"))
        yield start, start + rows
        start += rows


def pad_batch(corpus: TokenCorpus, indices: NDArray[np.int64]) -> Batch:
    """Return the pairs at `indices` as padded tensors."""
    source_ids, source_mask = _padded(
        corpus.source_ids, corpus.source_starts, corpus.source_lengths, indices, even=True
    )
    target_ids, target_mask = _padded(
        corpus.target_ids, corpus.target_starts, corpus.target_lengths, indices, even=False
    )
    target_inputs = np.full_like(target_ids, PAD)
    target_inputs[:, 0] = BOS
    # The last real position holds eos, an output that is never an input.
    target_inputs[:, 1:] = np.where(target_mask[:, 1:] > 0, target_ids[:, :-1], PAD)
    return Batch(
        torch.from_numpy(source_ids),
        torch.from_numpy(source_mask),
        torch.from_numpy(target_inputs),
        torch.from_numpy(target_ids),
        torch.from_numpy(target_mask),
    )


def _padded(
    flat: IdArray | NDArray[np.int64],
    starts: NDArray[np.int64],
    lengths: IntArray,
    indices: NDArray[np.int64],
    *,
    even: bool,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return ids [B, L] and mask [B, L] of the chosen sentences."""
    length = lengths[indices]
    longest = int(length.max())
    columns = np.arange(longest + longest % 2 if even else longest)
    is_real = columns < length[:, None]
    positions = np.where(is_real, starts[indices][:, None] + columns, 0)
    return np.where(is_real, flat[positions], PAD).astype(np.int64), is_real.astype(np.float32)


def respelt(batch: Batch, respelling: Respelling, random: np.random.Generator) -> Batch:
    """Return the batch with some subwords of its sources written as shorter ones; it may become wider."""
    is_real = batch.source_mask.numpy() > 0
    flat, lengths = respelling.respell(batch.source_ids.numpy()[is_real], is_real.sum(axis=1), random)
    starts = np.cumsum(lengths) - lengths
    source_ids, source_mask = _padded(flat, starts, lengths, np.arange(len(batch)), even=True)
    return replace(batch, source_ids=torch.from_numpy(source_ids), source_mask=torch.from_numpy(source_mask))


class BatchStream:
    """The infinite sequence of batches of a corpus, from any update on, for one of several processes."""

    def __init__(
        self,
        corpus: TokenCorpus,
        *,
        batch_tokens: int,
        max_tokens: int,
        seed: int,
        rank: int = 0,
        world: int = 1,
        respelling: Respelling | None = None,
    ) -> None:
        self.corpus = corpus
        self.batch_tokens = batch_tokens
        self.max_tokens = max_tokens
        self.seed = seed
        self.rank = rank
        self.world = world
        self.respelling = respelling
        kept = short_enough(corpus.source_lengths, corpus.target_lengths, max_tokens)
        self.left_out = len(corpus) - len(kept)  # pairs longer than max_tokens
        if not len(kept):
            raise CorpusError(
                f"none of the {len(corpus)} training pairs has at most {max_tokens} subwords on both sides; "
                "raise pretrain.max_tokens"
            )

    def epoch(self, epoch: int) -> list[NDArray[np.int64]]:
        """Return the batches of one epoch, of all processes, as arrays of pair indices."""
        return epoch_batches(
            self.corpus.source_lengths,
            self.corpus.target_lengths,
            batch_tokens=self.batch_tokens,
            max_tokens=self.max_tokens,
            seed=self.seed,
            epoch=epoch,
        )

    def batches(self, start_step: int = 0) -> Iterator[Batch]:
        """Yield this process's batches for ever, beginning with the one of update `start_step` (from 0)."""
        for step, indices in enumerate(self.index_batches(start_step), start=start_step):
            batch = pad_batch(self.corpus, indices)
            if self.respelling is not None:
                # Its place in the sequence decides a batch's spelling, not who computes it, nor when.
                random = np.random.default_rng((self.seed, step * self.world + self.rank))
                batch = respelt(batch, self.respelling, random)
            yield batch

    def index_batches(self, start_step: int = 0) -> Iterator[NDArray[np.int64]]:
        """The same sequence as pair indices."""
        position = start_step * self.world + self.rank  # in the sequence of all batches of all epochs
        epoch = 0
        while True:
            batches = self.epoch(epoch)
            while position < len(batches):
                yield batches[position]
                position += self.world
            position -= len(batches)
            epoch += 1
