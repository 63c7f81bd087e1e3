"""Sequences of decoder states for the critic to look at: noisy greedy rollouts, and the reference fed as it is.

`rollout` is the DECODE of the paper's algorithm.  It decodes once and keeps the graph on the states: tokens are
constants, logits are computed without a graph, and the gradient reaches the actor through attention and recurrence.
Run it under `torch.no_grad()` when only the critic learns from it.

Shapes:  B sources · M samples of each · N = B·M rows, ordered by source · T steps · H decoder state · A annotation
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from training.corpus.cache import BOS, EOS
from training.decoding.batches import SourceBatch, device_of, evaluating, even, pad_batch
from training.decoding.greedy import row_limits
from training.decoding.hypothesis import LengthLimits
from training.decoding.scoring import shifted_targets
from training.nmt.model import Actor, Encoded, TranslationModel, acts_after, move

# Rows that have ended leave the batch once they are this share of it.  Each time, the graph keeps a copy of the
# encodings of those that stay, so this bounds the copies to four times the first.
COMPACT_SHARE = 0.25


class Trajectory(NamedTuple):
    """States visited by N decoders, padded with zeros to the longest."""

    states: Tensor  # [N, T, H]: z_1 … z_T; z_t predicts token t
    contexts: Tensor  # [N, T, A]: the e_t that went into z_t
    ids: Tensor  # [N, T]: tokens with eos, then padding
    mask: Tensor  # [N, T]: 1 on real steps
    action_norms: Tensor  # [N, T]: length of what the actor alone added, without noise or a graph

    def outputs(self) -> list[tuple[int, ...]]:
        """The tokens of each row, without eos."""
        lengths = self.mask.sum(dim=1).int().tolist()
        rows = [row[:length] for row, length in zip(self.ids.tolist(), lengths, strict=True)]
        return [tuple(row[:-1] if row and row[-1] == EOS else row) for row in rows]

    def is_truncated(self) -> Tensor:
        """Which rows [N] were cut at their limit."""
        return ~((self.ids == EOS) & (self.mask > 0)).any(dim=1)


def rollout(
    model: TranslationModel,
    sources: Sequence[Sequence[int]],
    *,
    limits: LengthLimits,
    actor: Actor | None,
    samples: int = 1,
    sigma: float = 0.0,
    generator: torch.Generator | None = None,
) -> Trajectory:
    """Decode `samples` outputs of each source greedily, with noise N(0, sigma²) on every action.

    All rows are decoded together, so the caller decides the size of the batch.
    """
    with _frozen(model):
        batch, encoded = _encode(model, sources)
        rows = torch.arange(len(sources), device=batch.ids.device).repeat_interleave(samples)
        return _decode(model, encoded.select(rows), row_limits(batch, limits)[rows], actor, sigma, generator)


def force(
    model: TranslationModel,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    *,
    actor: Actor | None = None,
    sigma: float = 0.0,
    noise_after: bool = False,
    generator: torch.Generator | None = None,
) -> Trajectory:
    """The states of the model when it is fed `targets` (ids without eos) whatever it would have said itself.

    A source may have several targets, all the same number of them, side by side.  Noise as in `rollout`; where there is
    no actor, it is where an actor would act that acts after the recurrence, or before it.
    """
    if not sources or len(targets) % len(sources):
        raise ValueError(f"{len(sources)} sources and {len(targets)} targets: give as many targets for each source")
    inputs, ids, is_real = shifted_targets([[*target, EOS] for target in targets], device_of(model))
    with _frozen(model):
        _, encoded = _encode(model, sources)
        if len(targets) > len(sources):
            rows = torch.arange(len(sources), device=inputs.device)
            encoded = encoded.select(rows.repeat_interleave(len(targets) // len(sources)))
        if actor is None and sigma == 0:
            return _force_plain(model, encoded, inputs, ids, is_real)
        recorder, state = Recorder(len(targets), model.sizes.decoder), encoded.first_state
        for step in range(ids.shape[1]):
            noise = None
            if sigma > 0:
                noise = sigma * torch.randn(len(targets), model.sizes.decoder, generator=generator, device=state.device)
            after = noise_after if actor is None else acts_after(actor)
            context, action, state = _move(model, state, inputs[:, step], encoded, actor, noise, after)
            rows = is_real[:, step].nonzero().squeeze(1)
            recorder.add(rows, state[rows], context[rows], ids[rows, step], None if action is None else action[rows])
        return recorder.trajectory()


def _force_plain(model: TranslationModel, encoded: Encoded, inputs: Tensor, ids: Tensor, is_real: Tensor) -> Trajectory:
    """Without an actor the model's own teacher forcing visits the same states, faster; inputs and ids [N, T]."""
    states, contexts = model.force_states(encoded, model.embed_targets(inputs))
    mask = is_real.to(states.dtype)
    return Trajectory(
        states.transpose(0, 1) * mask.unsqueeze(2),
        contexts * mask.unsqueeze(2),
        torch.where(is_real, ids, 0),
        mask,
        torch.zeros_like(mask),
    )


def _decode(
    model: TranslationModel,
    encoded: Encoded,
    limits: Tensor,
    actor: Actor | None,
    sigma: float,
    generator: torch.Generator | None,
) -> Trajectory:
    """Decode every row of `encoded` to its end or its limit [N]."""
    rows = torch.arange(len(limits), device=limits.device)
    state, previous = encoded.first_state, torch.full_like(rows, BOS)
    live = rows  # those of `rows`, by their place in it, that have not ended
    recorder = Recorder(len(limits), model.sizes.decoder)
    for step in range(1, int(limits.max()) + 1):
        noise = None
        if sigma > 0:
            noise = sigma * torch.randn(len(rows), model.sizes.decoder, generator=generator, device=state.device)
        context, action, state = _move(model, state, previous, encoded, actor, noise, acts_after(actor))
        with torch.no_grad():
            previous = model.read(state, previous, context).argmax(dim=1)
        recorder.add(rows[live], state[live], context[live], previous[live], None if action is None else action[live])

        live = live[(previous[live] != EOS) & (step < limits[rows[live]])]
        if len(live) == 0:
            break
        if len(rows) - len(live) >= COMPACT_SHARE * len(rows):
            rows, previous, state, encoded = rows[live], previous[live], state[live], encoded.select(live)
            live = torch.arange(len(rows), device=rows.device)
    return recorder.trajectory()


def _move(
    model: TranslationModel,
    state: Tensor,
    previous: Tensor,
    encoded: Encoded,
    actor: Actor | None,
    noise: Tensor | None,
    after: bool,
) -> tuple[Tensor, Tensor | None, Tensor]:
    """Context, action and next state; the same as the model's step, without its logits."""
    context, _ = model.attend(state, encoded)
    action = None if actor is None else actor(state, context, model.target_embedding(previous))
    moved = action
    if noise is not None:
        noise = F.pad(noise, (0, state.shape[1] - noise.shape[1]))  # an actor's memory stays undisturbed
        moved = noise if action is None else action + noise
    return context, action, move(model, state, previous, context, moved, after)


class Recorder:
    """Puts the steps of rows that end at different times into one padded block, keeping the graph.

    Only the decoder's own part of a state is recorded, not what an actor may remember behind it.
    """

    def __init__(self, rows: int, state_size: int) -> None:
        self._rows, self._state_size = rows, state_size
        self._steps: list[Trajectory] = []

    def add(self, rows: Tensor, states: Tensor, contexts: Tensor, ids: Tensor, actions: Tensor | None) -> None:
        """Record one step of the given rows."""
        own = states[:, : self._state_size]
        norms = own.new_zeros(len(rows)) if actions is None else actions.detach()[:, : self._state_size].norm(dim=1)
        step = Trajectory(own, contexts, ids, torch.ones_like(norms), norms)
        blanks = (column.new_zeros(self._rows, *column.shape[1:]) for column in step)  # 0 is pad, too
        self._steps.append(
            Trajectory(*(blank.index_copy(0, rows, column) for blank, column in zip(blanks, step, strict=True)))
        )

    def trajectory(self) -> Trajectory:
        return Trajectory(*(torch.stack(columns, dim=1) for columns in zip(*self._steps, strict=True)))


def _encode(model: TranslationModel, sources: Sequence[Sequence[int]]) -> tuple[SourceBatch, Encoded]:
    """Encode each source once, without a graph."""
    width = even(max(len(source) for source in sources))
    batch = pad_batch(sources, range(len(sources)), width, device_of(model))
    with torch.no_grad():
        return batch, model.encode(batch.ids, batch.mask)


@contextmanager
def _frozen(model: TranslationModel) -> Iterator[None]:
    """Dropout off and no gradient for the model's own weights; both as they were afterwards."""
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    with evaluating(model):
        try:
            for parameter in learning:
                parameter.requires_grad_(False)
            yield
        finally:
            for parameter in learning:
                parameter.requires_grad_(True)
