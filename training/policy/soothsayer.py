"""Soothsayer prediction functions (Li et al. 2017), the concurrent approach that the paper discusses: a baseline.

A network Q predicts, from a decoder state in the middle of an output, the objective of the output that will come of
it.  Beam search adds its prediction, weighted, to the log-probability of a prefix.  Unlike an actor it costs a beam.

Shapes:  N prefixes · T steps · H decoder state · A annotation · U hidden units
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from training.decoding.rollout import force
from training.nmt.checkpoint import write_atomically
from training.nmt.model import ModelSizes, TranslationModel
from training.policy.nbest import NBest

HIDDEN = 64
UPDATES = 400
BATCH_OUTPUTS = 96
LEARNING_RATE = 2e-3
WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0)


class Soothsayer(nn.Module):
    """Q(z_t, e_t): one tanh layer; a sigmoid at the end where the objective is bounded."""

    def __init__(self, state: int, annotation: int, hidden: int, is_bounded: bool) -> None:
        super().__init__()
        self.is_bounded = is_bounded
        self.hidden = nn.Linear(state + annotation, hidden)
        self.output = nn.Linear(hidden, 1)

    def forward(self, states: Tensor, contexts: Tensor, lengths: Tensor | None = None) -> Tensor:
        """The predicted objective [...] of prefixes with states [..., H] and contexts [..., A]."""
        value = self.output(torch.tanh(self.hidden(torch.cat([states, contexts], dim=-1)))).squeeze(-1)
        return torch.sigmoid(value) if self.is_bounded else value


@dataclass(frozen=True)
class Tuned:
    """A trained soothsayer and the weight that is best on the dev set."""

    soothsayer: Soothsayer
    weight: float
    facts: dict[str, Any]


def train_soothsayer(
    model: TranslationModel,
    sources: Sequence[Sequence[int]],
    nbest: NBest,
    scores: NDArray[np.float64],
    is_bounded: bool,
    *,
    seed: int,
    updates: int = UPDATES,
    on_update: Callable[[int, float], None] = lambda update, loss: None,
) -> Soothsayer:
    """Learn, on n-best hypotheses [J] with their objectives [J], to foresee the objective at every step."""
    torch.manual_seed(seed)
    soothsayer = Soothsayer(model.sizes.decoder, 2 * model.sizes.encoder, HIDDEN, is_bounded)
    optimizer = torch.optim.Adam(soothsayer.parameters(), lr=LEARNING_RATE)
    random = np.random.default_rng(seed)
    outputs, sentence = nbest.outputs(), nbest.sentence
    finished = np.flatnonzero(~nbest.is_truncated)
    for update in range(1, updates + 1):
        # A few sentences at a time, of about one length: their outputs pad each other little.
        drawn = random.choice(finished, min(len(finished), 4 * BATCH_OUTPUTS), replace=False)
        drawn = drawn[np.argsort(nbest.lengths[drawn], kind="stable")]
        start = int(random.integers(0, max(1, len(drawn) - BATCH_OUTPUTS + 1)))
        chosen = drawn[start : start + BATCH_OUTPUTS]
        with torch.no_grad():
            seen = force(model, [sources[sentence[one]] for one in chosen], [outputs[one] for one in chosen])
        truth = torch.tensor(scores[chosen], dtype=torch.float32).unsqueeze(1)
        errors = (soothsayer(seen.states, seen.contexts) - truth) ** 2 * seen.mask
        loss = errors.sum() / seen.mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        on_update(update, loss.item())
    return soothsayer.eval().requires_grad_(False)


def save_soothsayer(path: Path, tuned: Tuned) -> None:
    """Write the weights to `path` (*.safetensors) and the facts beside it."""
    weights = {name: tensor.contiguous() for name, tensor in tuned.soothsayer.state_dict().items()}
    facts = tuned.facts | {"weight": tuned.weight, "is_bounded": tuned.soothsayer.is_bounded}
    write_atomically(path, lambda temporary: save_file(weights, temporary))
    text = json.dumps(facts, indent=2) + "\n"
    write_atomically(path.with_suffix(".json"), lambda temporary: temporary.write_text(text, encoding="utf-8"))


def load_soothsayer(path: Path, sizes: ModelSizes) -> Tuned | None:
    """Read a soothsayer made for a model of these sizes; None when there is none."""
    if not path.is_file() or not path.with_suffix(".json").is_file():
        return None
    facts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    weights = load_file(path)
    if weights["hidden.weight"].shape[1] != sizes.decoder + 2 * sizes.encoder:
        return None
    soothsayer = Soothsayer(sizes.decoder, 2 * sizes.encoder, len(weights["hidden.bias"]), facts["is_bounded"])
    soothsayer.load_state_dict(weights)
    return Tuned(soothsayer.eval().requires_grad_(False), facts["weight"], facts)
