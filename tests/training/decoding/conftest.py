"""Models small enough that what a decoder must find can be derived by hand or by trying everything."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from training.decoding.hypothesis import LengthLimits
from training.nmt.model import Actor, Encoded, ModelSizes, StepOutput, TranslationModel


class TabularModel(nn.Module):
    """p(y_t | y_<t, x) read from a table [x, t, y_{t-1}, y_t]: x is the first source token, the state is (x, t).

    After the last t of the table its last entry is used.  An action moves the state, so an actor that returns (0, 1)
    makes the model skip one row of the table at every step.
    """

    def __init__(self, probabilities: Tensor) -> None:
        super().__init__()
        self.logits = nn.Parameter(probabilities.log())

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> Encoded:
        first_state = torch.stack([source_ids[:, 0].float(), torch.zeros(len(source_ids))], dim=1)
        empty = torch.zeros(*source_ids.shape, 1)
        return Encoded(empty, empty, source_mask, first_state)

    def step(
        self,
        previous_ids: Tensor,
        state: Tensor,
        encoded: Encoded,
        actor: Actor | None = None,
        noise: Tensor | None = None,
    ) -> StepOutput:
        context = torch.zeros(len(state), 1)
        action = None if actor is None else actor(state, context, previous_ids.float().unsqueeze(1))
        nudged = state if action is None else state + action
        position = nudged[:, 1].long().clamp(max=self.logits.shape[1] - 1)
        logits = self.logits[nudged[:, 0].long(), position, previous_ids]
        return StepOutput(logits, nudged + torch.tensor([0.0, 1.0]), context, action)


@pytest.fixture(scope="session")
def tabular() -> Callable[[Tensor], TabularModel]:
    """Build a model from its table of probabilities [x, t, y_{t-1}, y_t]."""
    return TabularModel


@pytest.fixture(scope="session")
def random_table() -> Callable[..., TabularModel]:
    """Build a tabular model with random entries."""

    def build(seed: int, sources: int = 4, steps: int = 3, vocabulary: int = 5) -> TabularModel:
        generator = torch.Generator().manual_seed(seed)
        logits = 2 * torch.randn(sources, steps, vocabulary, vocabulary, generator=generator)
        return TabularModel(logits.softmax(dim=-1))

    return build


@pytest.fixture(scope="session")
def tiny_model() -> Callable[..., TranslationModel]:
    """Build a real translation model with random weights, large enough to prefer some outputs over others."""

    def build(seed: int = 0, vocabulary: int = 9, scale: float = 3.0, tie_output: bool = False) -> TranslationModel:
        torch.manual_seed(seed)
        sizes = ModelSizes(11, vocabulary, 6, 5, 8, 4, 6, tie_output)
        model = TranslationModel(sizes, dropout=0.5)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(scale)
        return model.eval()

    return build


@pytest.fixture(scope="session")
def short() -> LengthLimits:
    """At most 12 tokens, whatever the source."""
    return LengthLimits(ratio=0.0, extra=12, maximum=200)


@pytest.fixture(scope="session")
def exhaustive() -> Callable[..., list[tuple[tuple[int, ...], float]]]:
    """Every finished output of up to `limit` tokens with its score log p / length ** alpha, best first."""

    def search(
        model: TranslationModel, source: list[int], limit: int, alpha: float, actor: Actor | None = None
    ) -> list[tuple[tuple[int, ...], float]]:
        encoded = model.encode(torch.tensor([source]), torch.ones(1, len(source)))
        found: list[tuple[tuple[int, ...], float]] = []

        def extend(prefix: tuple[int, ...], log_probability: float, previous: int, state: Tensor) -> None:
            if len(prefix) == limit:
                return
            output = model.step(torch.tensor([previous]), state, encoded, actor)
            row = output.logits[0].log_softmax(dim=0).tolist()
            for token, value in enumerate(row):
                total = log_probability + value
                if math.isinf(total):
                    continue
                if token == 3:
                    found.append((prefix, total / (len(prefix) + 1) ** alpha))
                else:
                    extend((*prefix, token), total, token, output.state)

        with torch.no_grad():
            extend((), 0.0, 2, encoded.first_state)
        return sorted(found, key=lambda entry: -entry[1])

    return search
