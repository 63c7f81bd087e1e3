"""Graphs of models whose annotations are refined compute what torch computes, whatever their batch mates."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.training.export.conftest import SIZES
from training.corpus.cache import BOS
from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.export.graph import build_graphs
from training.export.sessions import BundleSessions, pad_sources
from training.export.weights import ModelWeights, model_weights, rounded_to_half
from training.nmt.model import ModelSizes, TranslationModel

REFINED = replace(SIZES, encoder=12, refinement=2)
SOURCES = [[5, 6, 7, 8, 9, 3], [10, 11, 3], [3], [12, 13, 14, 15, 16, 17, 18, 19, 3]]


@pytest.fixture(scope="module")
def torch_model() -> TranslationModel:
    torch.manual_seed(5)
    model = TranslationModel(ModelSizes(**vars(REFINED)))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.randn_like(parameter) * (0.2 if name.startswith("refinement") else 0.4))
    return model.eval().requires_grad_(False)


@pytest.fixture(scope="module")
def model(torch_model: TranslationModel) -> ModelWeights:
    return model_weights({name: tensor.numpy() for name, tensor in torch_model.state_dict().items()})


def test_sizes_are_read_off_the_weights(model: ModelWeights, torch_model: TranslationModel) -> None:
    assert model.sizes == REFINED
    assert model.parameters == sum(parameter.numel() for parameter in torch_model.parameters())
    assert rounded_to_half(model).sizes == REFINED


@pytest.mark.parametrize(("kind", "tolerance"), [("fp32", 1e-5), ("int8", 0.1)])
def test_log_probabilities_equal_torch(torch_model, model, kind, tolerance) -> None:
    sessions = BundleSessions(build_graphs(model, [], kind))
    ids, mask = pad_sources(SOURCES)
    with torch.no_grad():
        encoded = torch_model.encode(torch.from_numpy(ids), torch.from_numpy(mask))
        expected = torch_model.step(torch.full((len(SOURCES),), BOS), encoded.first_state, encoded)
    feeds = {**sessions.encode(SOURCES), "previous_ids": np.full(len(SOURCES), BOS)}
    log_probabilities, state = sessions.run_step(feeds)
    assert np.abs(log_probabilities - expected.logits.log_softmax(1).numpy()).mean() < tolerance
    assert np.abs(state - expected.state.numpy()).mean() < tolerance


def test_greedy_outputs_equal_torch_and_need_the_refinement(torch_model, model) -> None:
    limits = LengthLimits(2.0, 5, 30)
    sessions = BundleSessions(build_graphs(model, [], "fp32"))
    outputs = [output.ids for output in sessions.greedy(SOURCES, limits)]
    assert outputs == [output.ids for output in greedy(torch_model, SOURCES, limits=limits)]
    unrefined = TranslationModel(ModelSizes(**vars(replace(REFINED, refinement=0)))).eval()
    unrefined.load_state_dict(torch_model.state_dict(), strict=False)
    assert outputs != [output.ids for output in greedy(unrefined, SOURCES, limits=limits)]


@pytest.mark.parametrize("kind", ["fp32", "int8"])
@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_bits_do_not_depend_on_padding_or_batch_mates(model, kind, scale) -> None:
    """Also where the cuts act, which large weights make them do."""
    arrays = {name: array * scale if ".hidden." in name else array for name, array in model.arrays.items()}
    sessions = BundleSessions(build_graphs(model_weights(arrays), [], kind))
    generator = np.random.default_rng(2)
    sources = [[*generator.integers(4, 53, length).tolist(), 3] for length in (0, 1, 2, 5, 6, 7, 14, 15, 31, 70)]
    together = sessions.encode(sources)
    for row, source in enumerate(sources):
        alone = sessions.encode([source])
        np.testing.assert_array_equal(together["state"][row], alone["state"][0])
        for name in ("keys", "values"):
            np.testing.assert_array_equal(together[name][row, : len(source)], alone[name][0, : len(source)])


def test_integers_saturate_where_training_cuts(model) -> None:
    """Hidden units eight times as large are cut at 6 in both, so int8 stays near fp32."""
    arrays = {name: array * 8 if ".hidden." in name else array for name, array in model.arrays.items()}
    fp32, int8 = (BundleSessions(build_graphs(model_weights(arrays), [], kind)) for kind in ("fp32", "int8"))
    for name in ("keys", "values"):
        expected, found = (sessions.encode(SOURCES[:1])[name] for sessions in (fp32, int8))
        assert np.abs(found - expected).mean() < 0.1 * np.abs(expected).mean()
