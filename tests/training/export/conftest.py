"""Small random models as torch modules and as exported graphs, shared by the tests of the exporter."""

from collections.abc import Callable, Sequence

import pytest
import torch

from training.config import Decoding
from training.export.graph import build_graphs
from training.export.manifest import ActorFacts, BundleFacts
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


@pytest.fixture(scope="session", params=["before", "after"])
def actors(request: pytest.FixtureRequest) -> list[ActorWeights]:
    """The two actors, acting before the recurrence or after it."""
    return two_actors(acts_after=request.param == "after")


def two_actors(acts_after: bool) -> list[ActorWeights]:
    """Two actors of different widths; the second sees the previous word."""
    return [
        random_actor("first", 6, SIZES, seed=1, scale=0.15, acts_after=acts_after),
        random_actor("second", 3, SIZES, seed=2, scale=0.12, sees_previous_word=True, acts_after=acts_after),
    ]


@pytest.fixture(scope="session")
def sessions(model: ModelWeights, actors: Sequence[ActorWeights]) -> Callable[[Quantisation], BundleSessions]:
    """The exported graphs with both actors, in either precision; their actions take states beyond ±1."""
    built = {kind: BundleSessions(build_graphs(model, actors, kind, state_range=1.5)) for kind in ("fp32", "int8")}
    return lambda kind: built[kind]


@pytest.fixture
def facts(model: ModelWeights) -> BundleFacts:
    """What a manifest of the random model with both actors says."""
    actors = two_actors(acts_after=False)
    return BundleFacts(
        source="xa",
        target="xb",
        model=model,
        quantisation="int8",
        decoding=Decoding(),
        tokenizer_files=("tokenizer.model", "tokenizer.model"),
        actors=[
            ActorFacts(
                actors[0],
                objective="bleu",
                method="supervised, margin loss",
                optimises="sentence BLEU",
                gains=[{"test_set": "news", "metric": "bleu", "greedy": 30.0, "actor": 31.5, "beam": 32.0, "p": 0.002}],
            ),
            ActorFacts(actors[1], objective="mine:reward", method="dpg"),
        ],
        default_objective="first",
        calibration={"slope": 1.9, "intercept": 1.2, "meaning": "expected chrF", "fitted_on": "dev"},
        scores=[
            {
                "test_set": "news",
                "decoder": "beam",
                "objective": None,
                "bleu": 32.0,
                "chrf": 55.25,
                "signature": "nrefs:1",
            }
        ],
        provenance={"config": "training/configs/toy.toml", "steps": 1500, "cpu_hours": 0.04, "data": []},
    )
