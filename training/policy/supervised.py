"""The supervised strategy (Chen et al. 2018): train the actor, through the frozen model, to produce chosen hypotheses.

The decoder is fed the target and nudged at every step; the loss asks that the target's next token win the greedy
choice.  Gradients flow through the frozen model's states to the actor alone.

Where the teacher looks ahead (`training.policy.lookahead`), the decoder is fed what it says itself, and the loss asks
at every step for the word that leads to the best return.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.config import Supervised
from training.corpus.batches import Batch, BatchStream, pad_batch
from training.corpus.cache import TokenCorpus
from training.nmt.model import TranslationModel
from training.policy.actor import PlainActor, model_for
from training.policy.dev import DevScores
from training.policy.forcing import force_nudged
from training.policy.lookahead import Crossroads
from training.policy.losses import cross_entropy_loss, margin_loss, regret_loss
from training.policy.watch import MAX_COLLAPSES, ActorState, Observer, Tally, record_look, start_state

CLIP_NORM = 1.0
FINAL_RATE = 0.1


@dataclass(frozen=True)
class Lessons:
    """The pairs of a round: sources and what the decoder is fed; at the steps of those, choices to be made."""

    pairs: TokenCorpus
    choices: Crossroads | None = None  # none: the target's own words are what is wanted

    def choices_of(self, indices: NDArray[np.int64]) -> tuple[Tensor, Tensor] | None:
        """Candidates and returns [N, K] of all real positions of these pairs, row by row."""
        if self.choices is None:
            return None
        starts, lengths = self.pairs.target_starts[indices], self.pairs.target_lengths[indices]
        positions = np.concatenate([np.arange(start, start + n) for start, n in zip(starts, lengths, strict=True)])
        return (
            torch.from_numpy(self.choices.candidates[positions]).long(),
            torch.from_numpy(self.choices.returns[positions]),
        )


# Returns the lessons of a round; those of a later round depend on what the actor has learnt by then.
RoundLessons = Callable[[int, ActorState], Lessons]


def start(actor: PlainActor, config: Supervised) -> ActorState:
    """The state before the first update."""
    learnt = [parameter for parameter in actor.parameters() if parameter.requires_grad]
    return start_state(actor, torch.optim.Adam(learnt, lr=config.learning_rate))


def train(
    state: ActorState,
    model: TranslationModel,
    round_lessons: RoundLessons,
    config: Supervised,
    max_tokens: int,
    seed: int,
    measure: Callable[[PlainActor], DevScores],
    observer: Observer,
) -> None:
    """Update `state` for all rounds; each ends at its last update, or when the dev objective no longer rises."""
    if not state.looks:
        observer.looked(state, record_look(state, measure(state.candidate()), {}))
        observer.checkpoint(state)
    while state.round_number < config.rounds and state.collapses <= MAX_COLLAPSES:
        lessons = round_lessons(state.round_number, state)
        stream = BatchStream(
            lessons.pairs,
            batch_tokens=max(config.batch_tokens, max_tokens + 2),
            max_tokens=max_tokens,
            seed=seed + 1_000_003 * state.round_number,
        )
        _train_round(state, model, lessons, stream, config, measure, observer)
        state.round_number += 1
        state.round_start = state.update
        state.actor.load_state_dict(state.best)
        state.averaged = {name: tensor.clone() for name, tensor in state.best.items()}
        observer.checkpoint(state)


def _train_round(
    state: ActorState,
    model: TranslationModel,
    lessons: Lessons,
    stream: BatchStream,
    config: Supervised,
    measure: Callable[[PlainActor], DevScores],
    observer: Observer,
) -> None:
    tally = Tally()
    last = state.round_start + config.max_steps
    batches = stream.index_batches(start_step=state.update - state.round_start)
    while state.update < last and not state.has_stalled(config.patience, since=state.round_start):
        began = time.monotonic()
        state.update += 1
        share = (state.update - state.round_start) / config.max_steps
        rate = config.learning_rate * state.rate_factor * (1 - (1 - FINAL_RATE) * share)
        torch.manual_seed(stream.seed * 1_000_003 + state.update)  # dropout's: a resumed run draws the same
        measures = update(state, model, lessons, next(batches), config, rate)
        state.seconds += time.monotonic() - began
        tally.add(measures)
        observer.updated(state, measures)
        if (state.update - state.round_start) % config.evaluate_every == 0 or state.update == last:
            look = record_look(state, measure(state.candidate()), tally.take())
            observer.looked(state, look)
            observer.checkpoint(state)
            if state.collapses > MAX_COLLAPSES:
                return


def update(
    state: ActorState,
    model: TranslationModel,
    lessons: Lessons,
    indices: NDArray[np.int64],
    config: Supervised,
    rate: float,
) -> dict[str, float]:
    """One update of the actor on these pairs; return what was measured on the way."""
    for group in state.optimizer.param_groups:
        group["lr"] = rate
    state.optimizer.zero_grad()
    batch, choices = pad_batch(lessons.pairs, indices), lessons.choices_of(indices)
    stakes = lessons.choices.stakes if lessons.choices else 1.0
    loss, accuracy, norm = batch_loss(state.actor, model, batch, config, choices, stakes)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(state.actor.parameters(), CLIP_NORM)
    state.optimizer.step()
    state.move_average(config.average)
    return {"loss": loss.item(), "accuracy": float(accuracy), "action_norm": float(norm)}


def batch_loss(
    actor: PlainActor,
    model: TranslationModel,
    batch: Batch,
    config: Supervised,
    choices: tuple[Tensor, Tensor] | None = None,
    stakes: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """The loss on a batch of targets, the share of tokens that win the greedy choice, the mean length of actions."""
    acted_on = model_for(model, actor)
    with _dropping(model, config.dropout):
        with torch.no_grad():
            encoded = acted_on.encode(batch.source_ids, batch.source_mask)
        forced = force_nudged(acted_on, actor, encoded, batch.target_inputs)
    is_real = batch.target_mask > 0
    readouts, targets = forced.readouts[is_real], batch.target_outputs[is_real]
    if choices is not None:
        loss, accuracy = regret_loss(model, readouts, *choices, config.margin, stakes)
    elif config.loss == "margin":
        loss, accuracy = margin_loss(model, readouts, targets, config.margin, config.reach)
    else:
        loss, accuracy = cross_entropy_loss(model, readouts, targets)
    return loss, accuracy, forced.actions[is_real].norm(dim=1).mean()


@contextmanager
def _dropping(model: TranslationModel, rate: float) -> Iterator[None]:
    """Drop words' and annotations' units at this rate: the frozen model then meets its training text as if it were new.

    Without, it is surer of that text than of any other, and the actor learns from too few of its doubts.
    """
    was_training, before = model.training, model.dropout
    model.dropout = rate
    model.train(rate > 0)
    try:
        yield
    finally:
        model.dropout = before
        model.train(was_training)
