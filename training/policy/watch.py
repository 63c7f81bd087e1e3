"""Watching an actor learn: what is recorded, which weights are kept, when it has stalled, and when it has collapsed.

Deterministic policy gradient is known to rise and then fall apart.  A collapse (the dev objective far below where it
started, outputs of an absurd length, numbers that are not finite) is noticed at the next look: training goes back to
the best weights so far, with half the learning rate, and gives up after a few times.  What is saved is always the best.
"""

import copy
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from torch import Tensor
from torch.optim import Optimizer

from training.policy.actor import PlainActor
from training.policy.dev import DevScores

# A collapse: the dev objective loses this share of its first value, or outputs become this much longer or shorter.
COLLAPSED_SHARE = 0.15
COLLAPSED_LENGTH = 1.4
MAX_COLLAPSES = 3


@dataclass(frozen=True)
class Look:
    """One look at the dev set, and means since the last look of what the training itself measures."""

    update: int
    seconds: float
    dev: DevScores
    measures: dict[str, float]  # loss, action_norm, critic_error, critic_correlation, effective_samples, …
    is_collapse: bool = False


@dataclass
class ActorState:
    """Everything a resumed run needs, except what the config and the seed decide."""

    actor: PlainActor
    optimizer: Optimizer
    averaged: dict[str, Tensor]  # moving average of the weights; what is looked at and kept
    best: dict[str, Tensor]
    update: int = 0
    seconds: float = 0.0  # of updates
    cpu_seconds: float = 0.0  # of everything, over all parts of a training that was killed and resumed
    rate_factor: float = 1.0
    round_number: int = 0
    round_start: int = 0  # update at which this round of the supervised strategy began
    looks: list[Look] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)  # modules with a state of their own, such as a critic

    @property
    def best_look(self) -> Look | None:
        """The look with the highest dev objective; the earliest of equals."""
        sane = [look for look in self.looks if not look.is_collapse]
        return max(sane, key=lambda look: look.dev.objective, default=None)

    def has_stalled(self, patience: int, since: int = 0) -> bool:
        """Whether the last `patience` looks, all after update `since`, brought nothing better."""
        best = self.best_look
        return best is not None and sum(look.update > max(best.update, since) for look in self.looks) >= patience

    @property
    def collapses(self) -> int:
        return sum(look.is_collapse for look in self.looks)

    def as_dict(self) -> dict[str, Any]:
        """Tensors and plain values only, so that loading runs no code."""
        plain = ("averaged", "best", "update", "seconds", "cpu_seconds", "rate_factor", "round_number", "round_start")
        return {name: getattr(self, name) for name in plain} | {
            "actor": self.actor.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "looks": [asdict(look) for look in self.looks],
            "more": {name: part.state_dict() for name, part in self.more.items()},
        }

    def load_dict(self, saved: dict[str, Any]) -> None:
        self.actor.load_state_dict(saved.pop("actor"))
        self.optimizer.load_state_dict(saved.pop("optimizer"))
        self.looks = [Look(**look | {"dev": DevScores(**look["dev"])}) for look in saved.pop("looks")]
        for name, part in saved.pop("more").items():
            self.more[name].load_state_dict(part)
        for name, value in saved.items():
            setattr(self, name, value)

    def candidate(self) -> PlainActor:
        """The actor that would be kept now: the averaged one."""
        actor = copy.deepcopy(self.actor)
        actor.load_state_dict(self.averaged)
        return actor

    def best_actor(self) -> PlainActor:
        actor = copy.deepcopy(self.actor)
        actor.load_state_dict(self.best)
        return actor

    def move_average(self, decay: float) -> None:
        """φ̄ ← d φ̄ + (1 − d) φ, with a smaller d at first so that the start is soon forgotten."""
        decay = min(decay, (1 + self.update) / (10 + self.update))
        for name, tensor in self.actor.state_dict().items():
            self.averaged[name].lerp_(tensor, 1 - decay)


class Observer(Protocol):
    """What happens around the updates: progress, checkpoints, plots.  It never changes the training."""

    def updated(self, state: ActorState, measures: dict[str, float]) -> None: ...

    def looked(self, state: ActorState, look: Look) -> None: ...

    def checkpoint(self, state: ActorState) -> None: ...


def start_state(actor: PlainActor, optimizer: Optimizer) -> ActorState:
    """The state before the first update."""
    return ActorState(actor, optimizer, averaged=weights_of(actor), best=weights_of(actor))


def weights_of(actor: PlainActor) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in actor.state_dict().items()}


class Tally:
    """Means of what training measures between two looks."""

    def __init__(self) -> None:
        self._sums: defaultdict[str, float] = defaultdict(float)
        self._counts: defaultdict[str, int] = defaultdict(int)

    def add(self, measures: dict[str, float]) -> None:
        for name, value in measures.items():
            self._sums[name] += value
            self._counts[name] += 1

    def take(self) -> dict[str, float]:
        """The means, and start anew."""
        means = dict(self._means())
        self.__init__()  # type: ignore[misc]
        return means

    def _means(self) -> Iterator[tuple[str, float]]:
        for name, total in self._sums.items():
            yield name, total / self._counts[name]


def record_look(state: ActorState, dev: DevScores, measures: dict[str, float]) -> Look:
    """Record a look; keep the weights if they are the best so far, or go back to the best if they have collapsed."""
    look = Look(state.update, state.seconds, dev, measures, is_collapse=_is_collapse(state, dev, measures))
    state.looks.append(look)
    if look.is_collapse:
        _return_to_best(state)
    elif state.best_look is look:
        state.best = {name: tensor.clone() for name, tensor in state.averaged.items()}
    return look


def _is_collapse(state: ActorState, dev: DevScores, measures: dict[str, float]) -> bool:
    if not all(math.isfinite(value) for value in (dev.objective, *measures.values())):
        return True
    if not state.looks:
        return False
    start = state.looks[0].dev
    fell = start.objective - dev.objective > COLLAPSED_SHARE * max(1e-9, abs(start.objective))
    stretch = max(dev.length_ratio, 1e-9) / max(start.length_ratio, 1e-9)
    return fell or not 1 / COLLAPSED_LENGTH < stretch < COLLAPSED_LENGTH


def _return_to_best(state: ActorState) -> None:
    state.actor.load_state_dict(state.best)
    state.averaged = {name: tensor.clone() for name, tensor in state.best.items()}
    state.optimizer.state.clear()  # its moments speak of where the actor no longer is
    state.rate_factor /= 2
