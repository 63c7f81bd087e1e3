"""Small random models as torch modules and as exported graphs, shared by the tests of the exporter."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from training.export.graph import build_graphs
from training.export.nodes import Quantisation
from training.export.sessions import BundleSessions
from training.export.weights import ActorWeights, ModelWeights, Sizes, model_weights, random_actor
from training.nmt.model import ModelSizes, TranslationModel

SIZES = Sizes(source_vocabulary=61, target_vocabulary=53, embedding=12, encoder=10, decoder=24, attention=8, readout=14)


@pytest.fixture(scope="session")
def torch_model() -> TranslationModel:
    """A model with weights large enough that gates, attention and outputs all vary."""
    torch.manual_seed(5)
    model = TranslationModel(ModelSizes(**vars(SIZES)))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4)
    return model.eval().requires_grad_(False)


@pytest.fixture(scope="session")
def model(torch_model: TranslationModel) -> ModelWeights:
    return model_weights({name: tensor.numpy() for name, tensor in torch_model.state_dict().items()})


@pytest.fixture(scope="session")
def actors() -> list[ActorWeights]:
    """Two actors of different widths; the second sees the previous word."""
    return [
        random_actor("first", 6, SIZES, seed=1, scale=0.15),
        random_actor("second", 3, SIZES, seed=2, scale=0.15, sees_previous_word=True),
    ]


@pytest.fixture(scope="session")
def sessions(model: ModelWeights, actors: Sequence[ActorWeights]) -> Callable[[Quantisation], BundleSessions]:
    """The exported graphs with both actors, in either precision; their actions take states beyond ±1."""
    built = {kind: BundleSessions(build_graphs(model, actors, kind, state_range=1.5)) for kind in ("fp32", "int8")}
    return lambda kind: built[kind]


def random_sources(count: int, seed: int, longest: int = 17) -> list[list[int]]:
    """Random sentences of 1 to `longest` ids with eos at the end."""
    generator = np.random.default_rng(seed)
    return [[*generator.integers(4, 53, generator.integers(0, longest)).tolist(), 3] for _ in range(count)]
