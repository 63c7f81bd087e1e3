"""Source sentences in batches of similar length, and the frozen model that reads them.

Shapes:  B batch · S padded source length, always even
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from training.corpus.cache import PAD

# Called with the number of sentences that were finished since the last call.
Progress = Callable[[int], None]


@dataclass(frozen=True)
class SourceBatch:
    """Some of the sources, padded to one even length."""

    indices: list[int]  # where each row stands in the input
    lengths: list[int]  # tokens of each row, eos included
    ids: Tensor  # [B, S]
    mask: Tensor  # [B, S], 1 on real positions


def source_batches(
    sources: Sequence[Sequence[int]], batch_tokens: int, device: torch.device, copies: int = 1
) -> Iterator[SourceBatch]:
    """Cut the sources, longest first, into batches of at most `batch_tokens` tokens, padding included.

    A sentence that is longer on its own still gets a batch.  `copies` is how many rows the caller makes of each
    sentence (a beam, noisy samples), and counts against the budget.
    """
    if any(len(source) == 0 for source in sources):
        empty = next(index for index, source in enumerate(sources) if len(source) == 0)
        raise ValueError(f"source {empty} has no tokens; every source ends with eos, so it has at least one")
    # Longest first: a batch that does not fit into memory fails at once rather than at the end.
    order = sorted(range(len(sources)), key=lambda index: -len(sources[index]))
    start = 0
    while start < len(order):
        width = even(len(sources[order[start]]))
        rows = max(1, batch_tokens // (width * copies))
        yield pad_batch(sources, order[start : start + rows], width, device)
        start += rows


def pad_batch(
    sources: Sequence[Sequence[int]], indices: Sequence[int], width: int, device: torch.device
) -> SourceBatch:
    """The named sources as one padded batch of `width` positions."""
    lengths = [len(sources[index]) for index in indices]
    ids = torch.full((len(indices), width), PAD, dtype=torch.int64)
    for row, index in enumerate(indices):
        ids[row, : lengths[row]] = torch.as_tensor(sources[index], dtype=torch.int64)
    mask = (torch.arange(width) < torch.tensor(lengths).unsqueeze(1)).float()
    return SourceBatch(list(indices), lengths, ids.to(device), mask.to(device))


def even(length: int) -> int:
    """The next even length: the attention's product over an odd one may change a row's bits with its padding."""
    return length + length % 2


def device_of(model: nn.Module) -> torch.device:
    return next(model.parameters()).device


@contextmanager
def evaluating(*modules: object) -> Iterator[None]:
    """Switch dropout off in the given modules (what is no module is left alone), and afterwards back to what it was.

    Each part gets its own mode back: a frozen model inside a new wrapper does not start to train.
    """
    parts = [part for module in modules if isinstance(module, nn.Module) for part in module.modules()]
    modes = [part.training for part in parts]
    try:
        for part in parts:
            part.training = False
        yield
    finally:
        for part, mode in zip(parts, modes, strict=True):
            part.training = mode
