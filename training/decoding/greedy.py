"""Greedy decoding: the most probable token at every step, with or without an actor.

Shapes:  B batch · R rows still being decoded · S source length · T output length · H decoder state · V vocabulary
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from training.corpus.cache import BOS, EOS
from training.decoding.batches import Progress, SourceBatch, device_of, evaluating, source_batches
from training.decoding.hypothesis import Hypothesis, LengthLimits
from training.nmt.model import Actor, Encoded, TranslationModel

# Noise [R, H] for step t (from 1) of the rows [R] that are still being decoded.
Noise = Callable[[int, Tensor], Tensor]

# Finished rows leave the batch once they are this share of it; gathering more often costs more than it saves.
COMPACT_SHARE = 0.125


def greedy(
    model: TranslationModel,
    sources: Sequence[Sequence[int]],
    *,
    limits: LengthLimits,
    actor: Actor | None = None,
    batch_tokens: int = 4000,
    on_progress: Progress | None = None,
) -> list[Hypothesis]:
    """Translate `sources` (ids that end with eos) and return one hypothesis each, in the order of the input.

    The log-probabilities are those of the decoder that ran, so with an actor those of the nudged model.
    """
    hypotheses: dict[int, Hypothesis] = {}
    with evaluating(model, actor), torch.no_grad():
        for batch in source_batches(sources, batch_tokens, device_of(model)):
            encoded = model.encode(batch.ids, batch.mask)
            outputs = decode_rows(model, encoded, row_limits(batch, limits), actor)
            hypotheses.update(zip(batch.indices, outputs, strict=True))
            if on_progress is not None:
                on_progress(len(outputs))
    return [hypotheses[index] for index in range(len(sources))]


def row_limits(batch: SourceBatch, limits: LengthLimits) -> Tensor:
    """Steps [B] that each row may take."""
    return torch.tensor([limits.limit(length) for length in batch.lengths], device=batch.ids.device)


def decode_rows(
    model: TranslationModel,
    encoded: Encoded,
    limits: Tensor,
    actor: Actor | None = None,
    noise: Noise | None = None,
    previous: Tensor | None = None,
) -> list[Hypothesis]:
    """Decode every row of `encoded` until it says eos or reaches its limit [B].

    A row whose `first_state` is of the middle of an output goes on from there, behind its `previous` word [B].
    """
    device = encoded.first_state.device
    total, steps = len(limits), int(limits.max())
    ids = torch.full((total, steps), EOS, dtype=torch.int64, device=device)  # [B, T]
    log_probabilities = torch.zeros(total, steps, device=device)  # [B, T]
    has_ended = torch.zeros(total, dtype=torch.bool, device=device)

    rows = torch.arange(total, device=device)  # which rows of the batch are still being decoded
    state = encoded.first_state
    if previous is None:
        previous = torch.full((total,), BOS, dtype=torch.int64, device=device)
    for step in range(1, steps + 1):
        output = model.step(previous, state, encoded, actor, None if noise is None else noise(step, rows))
        best, previous = output.logits.max(dim=1)
        state = output.state
        is_live = ~has_ended[rows] & (step <= limits[rows])
        ids[rows, step - 1] = torch.where(is_live, previous, EOS)
        log_probabilities[rows, step - 1] = best - output.logits.logsumexp(dim=1)
        has_ended[rows] |= is_live & (previous == EOS)

        keep = (~has_ended[rows] & (step < limits[rows])).nonzero().squeeze(1)
        if len(keep) == 0:
            break
        if len(rows) - len(keep) >= COMPACT_SHARE * len(rows):
            rows, previous, state, encoded = rows[keep], previous[keep], state[keep], encoded.select(keep)
    return _collect(ids, log_probabilities, has_ended, limits)


def _collect(ids: Tensor, log_probabilities: Tensor, has_ended: Tensor, limits: Tensor) -> list[Hypothesis]:
    """Cut each row after its first eos, or at its limit."""
    first_eos = (ids == EOS).int().argmax(dim=1)
    lengths = torch.where(has_ended, first_eos, limits).tolist()  # tokens without eos
    hypotheses = []
    for length, ended, row_ids, row_scores in zip(
        lengths, has_ended.tolist(), ids.tolist(), log_probabilities.tolist(), strict=True
    ):
        scores = tuple(row_scores[: length + 1 if ended else length])
        hypotheses.append(Hypothesis(tuple(row_ids[:length]), scores, is_truncated=not ended))
    return hypotheses
