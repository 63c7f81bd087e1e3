"""The exported graphs compute what the torch model computes."""

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import Tensor

from training.export.graph import build_graphs
from training.export.sessions import BundleSessions, actor_gain, pad_sources
from training.export.weights import ActorWeights, random_actor, unit_ranges

SOURCES = [[5, 6, 7, 8, 9, 3], [10, 11, 3], [3], [12, 13, 14, 15, 16, 17, 18, 19, 3]]


def torch_actor(actor: ActorWeights, weight: float = 1.0):
    """The actor of the contract, written in torch."""
    hidden, bias, output = (torch.from_numpy(array) for array in (actor.hidden, actor.bias, actor.output))

    def act(state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        observation = torch.cat([state, context, word], dim=1)[:, : hidden.shape[1]]
        return weight * torch.tanh(observation @ hidden.T + bias) @ output.T

    act.acts_after = actor.acts_after
    return act


def decode_both(torch_model, sessions, words, actor=None, gain=None):
    """Feed the same words to both and return their first states, then log-probabilities and states of every step.

    Both start each step from torch's state: a random network is chaotic, and would amplify what int8 rounds away.
    """
    ids, mask = pad_sources(SOURCES)
    encoded = torch_model.encode(torch.from_numpy(ids), torch.from_numpy(mask))
    feeds = sessions.encode(SOURCES)
    if sessions.units:
        feeds["actor_gain"] = np.zeros((len(SOURCES), sessions.units), np.float32) if gain is None else gain
    state = encoded.first_state
    ours, theirs = [(feeds["state"],)], [(state.numpy(),)]
    feeds["state"] = state.numpy()
    for previous in words:
        output = torch_model.step(torch.from_numpy(previous), state, encoded, actor)
        state = output.state
        theirs.append((output.logits.log_softmax(dim=1).numpy(), state.numpy()))
        feeds["previous_ids"] = previous
        ours.append(sessions.run_step(feeds))
        feeds["state"] = state.numpy()
    return ours, theirs


def largest_difference(ours, theirs) -> float:
    return max(
        float(np.abs(a - b).max())
        for one, other in zip(ours, theirs, strict=True)
        for a, b in zip(one, other, strict=True)
    )


@pytest.fixture
def words():
    generator = np.random.default_rng(3)
    first = np.full(len(SOURCES), 2)
    return [first] + [generator.integers(1, 53, len(SOURCES)) for _ in range(8)]


@pytest.mark.parametrize(("kind", "tolerance"), [("fp32", 1e-5), ("int8", 0.15)])
def test_probabilities_and_states_equal_torch_without_an_actor(torch_model, sessions, words, kind, tolerance):
    ours, theirs = decode_both(torch_model, sessions(kind), words)
    assert largest_difference(ours, theirs) < tolerance


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize(("kind", "tolerance"), [("fp32", 1e-5), ("int8", 0.15)])
def test_probabilities_and_states_equal_torch_with_either_actor(
    torch_model, sessions, actors, words, index, kind, tolerance
):
    units = unit_ranges(actors)[actors[index].name]
    gain = actor_gain(len(SOURCES), sessions(kind).units, units)
    ours, theirs = decode_both(torch_model, sessions(kind), words, torch_actor(actors[index]), gain)
    assert largest_difference(ours, theirs) < tolerance


def test_gain_scales_and_blends_the_actors(torch_model, sessions, actors, words):
    weights = [0.5] * actors[0].units + [-0.25] * actors[1].units
    gain = np.repeat(np.array(weights, np.float32)[None], len(SOURCES), axis=0)
    first, second = torch_actor(actors[0], 0.5), torch_actor(actors[1], -0.25)

    def blend(*observation: Tensor) -> Tensor:
        return first(*observation) + second(*observation)

    blend.acts_after = first.acts_after
    ours, theirs = decode_both(torch_model, sessions("fp32"), words, blend, gain)
    assert largest_difference(ours, theirs) < 1e-5


@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize(("kind", "tolerance"), [("fp32", 1e-5), ("int8", 0.15)])
def test_actors_of_both_places_share_a_graph(torch_model, model, words, index, kind, tolerance):
    actors = [
        random_actor(f"actor{seed}", 3 + seed, model.sizes, seed, scale=0.1, acts_after=seed != 1) for seed in range(3)
    ]
    sessions = BundleSessions(build_graphs(model, actors, kind, state_range=1.5))
    gain = actor_gain(len(SOURCES), sessions.units, unit_ranges(actors)[f"actor{index}"])
    ours, theirs = decode_both(torch_model, sessions, words, torch_actor(actors[index]), gain)
    assert largest_difference(ours, theirs) < tolerance


def test_an_actor_changes_the_probabilities(sessions):
    """Guards the tests above: they would pass with an actor that does nothing on both sides."""
    feeds = sessions("fp32").encode(SOURCES)
    feeds["previous_ids"] = np.full(len(SOURCES), 2)
    feeds["actor_gain"] = actor_gain(len(SOURCES), sessions("fp32").units, None)
    plain, _ = sessions("fp32").run_step(feeds)
    feeds["actor_gain"] = actor_gain(len(SOURCES), sessions("fp32").units, (0, 6))
    nudged, _ = sessions("fp32").run_step(feeds)
    assert np.abs(plain - nudged).max() > 0.05


@pytest.mark.parametrize("acts_after", [False, True])
def test_wider_state_range_follows_an_actor_that_leaves_the_unit_interval(torch_model, model, words, acts_after):
    """A strong actor pushes states beyond ±1, where the default range saturates."""
    strong = random_actor("strong", 6, model.sizes, seed=1, scale=0.3, acts_after=acts_after)
    gain = np.ones((len(SOURCES), strong.units), np.float32)
    differences = []
    for state_range in (1.0, 4.0):
        sessions = BundleSessions(build_graphs(model, [strong], "int8", state_range=state_range))
        ours, theirs = decode_both(torch_model, sessions, words, torch_actor(strong), gain)
        differences.append(largest_difference(ours, theirs))
    assert max(np.abs(state).max() for _, state in theirs[1:]) > 1.5
    assert differences[0] > 4 * differences[1]


@pytest.mark.parametrize("kind", ["fp32", "int8"])
def test_zero_gain_is_bit_for_bit_the_bundle_without_actors(model, sessions, kind):
    bare = BundleSessions(build_graphs(model, [], kind, state_range=1.5))
    assert bare.units == 0
    with_actors = sessions(kind)
    plain_feeds, feeds = bare.encode(SOURCES), with_actors.encode(SOURCES)
    feeds["actor_gain"] = np.zeros((len(SOURCES), with_actors.units), np.float32)
    for previous in (2, 7, 30):
        plain_feeds["previous_ids"] = feeds["previous_ids"] = np.full(len(SOURCES), previous)
        expected, plain_feeds["state"] = bare.run_step(plain_feeds)
        found, feeds["state"] = with_actors.run_step(feeds)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(feeds["state"], plain_feeds["state"])


@pytest.mark.parametrize("kind", ["fp32", "int8"])
@pytest.mark.parametrize("with_actors", [False, True])
def test_the_next_state_may_be_written_over_the_state(model, actors, sessions, kind, with_actors):
    bundle = sessions(kind) if with_actors else BundleSessions(build_graphs(model, [], kind))
    feeds = bundle.encode(SOURCES)
    if with_actors:
        feeds["actor_gain"] = np.ones((len(SOURCES), bundle.units), np.float32)
    shared, log_probabilities = feeds["state"].copy(), np.zeros((len(SOURCES), 53), np.float32)
    binding = bundle.step.io_binding()
    arrays = feeds | {"state": shared, "previous_ids": np.zeros(len(SOURCES), np.int64)}
    for name, array in arrays.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    for name, array in (("log_probabilities", log_probabilities), ("next_state", shared)):
        binding.bind_ortvalue_output(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    for previous in (2, 7, 30, 11):
        arrays["previous_ids"][:] = feeds["previous_ids"] = np.full(len(SOURCES), previous)
        expected, feeds["state"] = bundle.run_step(feeds)
        bundle.step.run_with_iobinding(binding)
        np.testing.assert_array_equal(log_probabilities, expected)
        np.testing.assert_array_equal(shared, feeds["state"])


@pytest.mark.parametrize("kind", ["fp32", "int8"])
def test_inputs_and_outputs_are_those_of_the_contract(model, actors, kind):
    graphs = build_graphs(model, actors, kind)
    units = sum(actor.units for actor in actors)
    width = 3 * 24 + 14 + units
    assert signature(graphs.encoder) == {
        "in": {"source_ids": (7, ["B", "S"]), "source_mask": (1, ["B", "S"])},
        "out": {"keys": (1, ["B", "S", 8]), "values": (1, ["B", "S", width]), "state": (1, ["B", 24])},
    }
    assert signature(graphs.step) == {
        "in": {
            "previous_ids": (7, ["B"]),
            "state": (1, ["B", 24]),
            "keys": (1, ["B", "S", 8]),
            "values": (1, ["B", "S", width]),
            "source_bias": (1, ["B", "S"]),
            "actor_gain": (1, ["B", units]),
        },
        "out": {"log_probabilities": (1, ["B", 53]), "next_state": (1, ["B", 24])},
    }


def signature(graph: bytes) -> dict:
    proto = onnx.load_from_string(graph).graph
    return {
        side: {
            value.name: (
                value.type.tensor_type.elem_type,
                [axis.dim_param or axis.dim_value for axis in value.type.tensor_type.shape.dim],
            )
            for value in values
        }
        for side, values in (("in", proto.input), ("out", proto.output))
    }


def test_graphs_are_the_same_bytes_for_the_same_weights(model, actors):
    assert build_graphs(model, actors, "int8") == build_graphs(model, actors, "int8")


def test_padding_of_another_id_leaves_the_sentence_alone(model):
    """The encoder finds its padding by id; a model with another pad id works as well."""
    sources = [[5, 6, 7, 3], [8, 3]]
    standard = BundleSessions(build_graphs(model, [], "fp32"))
    other = BundleSessions(build_graphs(model, [], "fp32", pad_id=60))
    ids, mask = pad_sources(sources)
    expected = standard.encoder.run(None, {"source_ids": ids, "source_mask": mask})
    ids[mask == 0] = 60
    for ours, theirs in zip(other.encoder.run(None, {"source_ids": ids, "source_mask": mask}), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
