"""Maximum-likelihood training:  J(θ) = Σ_n Σ_t log p_θ(ŷ_t | ŷ_<t, X).

The trainer is a function of its state: everything random is derived from (seed, number of the batch), so a run that
was killed and resumed computes exactly what it would have computed otherwise.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.optim import Adadelta, Adam, Optimizer

from training.config import Pretrain
from training.corpus.batches import Batch, BatchStream
from training.errors import TrainingError
from training.nmt.loss import output_loss
from training.nmt.model import TranslationModel
from training.nmt.precision import product_dtype
from training.nmt.processes import Processes
from training.nmt.schedule import learning_rate

# So many updates in a row may have a gradient that is not finite; each is skipped.
MAX_BAD_UPDATES = 20


@dataclass(frozen=True)
class Evaluation:
    """One look at the dev set."""

    step: int
    dev_bleu: float
    train_loss: float  # nats per target word since the last look, without smoothing
    tokens: int  # target words seen in training so far
    seconds: float  # spent in training so far


@dataclass
class TrainingState:
    """Everything a resumed run needs."""

    model: TranslationModel
    optimizer: Optimizer
    averaged: dict[str, Tensor]  # exponential moving average of the weights; empty when it is off
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # of all processes; evaluations are not counted, as in `seconds`
    loss_sum: float = 0.0
    loss_tokens: int = 0
    bad_updates: int = 0
    evaluations: list[Evaluation] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Tensors and plain values only, so that loading runs no code."""
        plain = {
            name: getattr(self, name)
            for name in (
                "step",
                "tokens",
                "seconds",
                "cpu_seconds",
                "loss_sum",
                "loss_tokens",
                "bad_updates",
                "averaged",
            )
        }
        return plain | {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "evaluations": [vars(evaluation) for evaluation in self.evaluations],
        }

    def load_dict(self, saved: dict[str, Any]) -> None:
        self.model.load_state_dict(saved.pop("model"))
        self.optimizer.load_state_dict(saved.pop("optimizer"))
        self.evaluations = [Evaluation(**evaluation) for evaluation in saved.pop("evaluations")]
        for name, value in saved.items():
            setattr(self, name, value)

    @property
    def best(self) -> Evaluation | None:
        """The evaluation with the highest dev BLEU; the earliest of equals."""
        return max(self.evaluations, key=lambda one: one.dev_bleu, default=None)


class Observer(Protocol):
    """What happens around the updates: progress, checkpoints, plots.  It never changes the training."""

    def updated(self, state: TrainingState, loss: float, rate: float) -> None: ...

    def evaluated(self, state: TrainingState, evaluation: Evaluation) -> None: ...

    def checkpoint(self, state: TrainingState) -> None: ...


def start(model: TranslationModel, config: Pretrain) -> TrainingState:
    """The state before the first update."""
    parameters = list(model.parameters())
    optimizer: Optimizer
    if config.optimizer == "adam":
        optimizer = Adam(parameters, lr=config.learning_rate, betas=config.adam_betas, eps=1e-9, fused=True)
    else:
        optimizer = Adadelta(parameters, lr=config.learning_rate, rho=0.95, eps=1e-6)
    averaged = {name: tensor.clone() for name, tensor in model.state_dict().items()} if config.ema else {}
    return TrainingState(model, optimizer, averaged)


def train(
    state: TrainingState,
    stream: BatchStream,
    config: Pretrain,
    processes: Processes,
    evaluate: Callable[[TrainingState], float],
    observer: Observer,
) -> None:
    """Update `state` until the last step, or until dev BLEU has not risen for `patience` evaluations."""
    share = config.batches_per_update // processes.world
    if share * processes.world != config.batches_per_update:
        raise TrainingError(
            f"{processes.world} processes cannot share pretrain.batches_per_update = {config.batches_per_update} "
            f"evenly; set it to a multiple of {processes.world}"
        )
    batches = stream.batches(start_step=state.step * share)
    # The leader decides for all, should machines differ.
    is_half = product_dtype(config.precision, processes.device) is torch.bfloat16
    state.model.product_dtype = torch.bfloat16 if processes.from_leader(is_half) else torch.float32
    while state.step < config.max_steps and not _has_stalled(state, config.patience):
        began, cpu_began = time.monotonic(), time.process_time()
        loss, rate = update(state, batches, share, config, processes)
        state.seconds += time.monotonic() - began
        state.cpu_seconds += (time.process_time() - cpu_began) * processes.world  # they do equal shares
        observer.updated(state, loss, rate)
        is_last = state.step == config.max_steps
        if state.step % config.evaluate_every == 0 or is_last:
            bleu = processes.from_leader(evaluate(state) if processes.is_leader else 0.0)
            train_loss = state.loss_sum / max(1, state.loss_tokens)
            evaluation = Evaluation(state.step, bleu, train_loss, state.tokens, state.seconds)
            state.evaluations.append(evaluation)
            state.loss_sum, state.loss_tokens = 0.0, 0
            observer.evaluated(state, evaluation)
        if state.step % config.checkpoint_every == 0 or is_last:
            observer.checkpoint(state)


def update(
    state: TrainingState, batches: Iterator[Batch], share: int, config: Pretrain, processes: Processes
) -> tuple[float, float]:
    """One update from `batches_per_update` batches of all processes; return nats per word and the learning rate."""
    model, optimizer = state.model.train(), state.optimizer
    state.step += 1
    rate = learning_rate(config, state.step)
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=False)
    likelihood_sum = torch.zeros((), device=processes.device)
    words = torch.zeros((), device=processes.device)
    for index in range(share):
        batch = next(batches).to(processes.device)
        # Dropout depends on the batch's place in the sequence alone, not on who computes it.
        torch.manual_seed(_batch_seed(config, state.step, index * processes.world + processes.rank))
        is_real = batch.target_mask.reshape(-1) > 0
        encoded = model.encode(batch.source_ids, batch.source_mask)
        readouts = model.force(encoded, batch.target_inputs).reshape(is_real.numel(), -1)[is_real]
        targets = batch.target_outputs.reshape(-1)[is_real]
        loss, likelihood = output_loss(
            readouts, targets, model.output_weight(), model.output.bias, config.label_smoothing, model.product_dtype
        )
        loss.backward()  # type: ignore[no-untyped-call]
        likelihood_sum += likelihood
        words += len(targets)
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    processes.add_up([*gradients, likelihood_sum, words])
    for gradient in gradients:
        gradient /= words
    norm = float(torch.nn.utils.get_total_norm(gradients))
    mean_loss = float(likelihood_sum / words)
    state.tokens += int(words)
    if not _is_sane(state, norm, mean_loss):
        return mean_loss, rate
    torch.nn.utils.clip_grads_with_norm_(model.parameters(), config.clip_norm, torch.tensor(norm))
    optimizer.step()
    if state.averaged:
        _move_average(state, config.ema)
    state.loss_sum += float(likelihood_sum)
    state.loss_tokens += int(words)
    return mean_loss, rate


def _batch_seed(config: Pretrain, step: int, index: int) -> int:
    return config.seed * 1_000_003 + (step - 1) * config.batches_per_update + index


def _is_sane(state: TrainingState, norm: float, loss: float) -> bool:
    """The NaN guard: an update whose gradient is not finite is skipped; too many in a row end the run."""
    if math.isfinite(norm) and math.isfinite(loss):
        state.bad_updates = 0
        return True
    state.bad_updates += 1
    if state.bad_updates > MAX_BAD_UPDATES:
        raise TrainingError(
            f"the gradient was not finite in {state.bad_updates} updates in a row, up to update {state.step}: lower "
            "pretrain.learning_rate or pretrain.clip_norm; the last checkpoint is from before"
        )
    return False


def _move_average(state: TrainingState, decay: float) -> None:
    """θ̄ ← d θ̄ + (1 − d) θ, with a smaller d at first so that the random start is soon forgotten."""
    decay = min(decay, (1 + state.step) / (10 + state.step))
    weights = state.model.state_dict()
    torch._foreach_lerp_([state.averaged[name] for name in weights], list(weights.values()), 1 - decay)


def _has_stalled(state: TrainingState, patience: int) -> bool:
    best = state.best
    return best is not None and sum(one.step > best.step for one in state.evaluations) >= patience
