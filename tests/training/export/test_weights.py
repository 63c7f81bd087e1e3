import numpy as np
import pytest

from training.errors import ExportError
from training.export.weights import (
    ActorWeights,
    actor_weights,
    model_weights,
    random_actor,
    random_weights,
    rounded_to_half,
    unit_ranges,
)


def test_tied_model_uses_the_target_embedding_as_output_and_counts_it_once(model):
    state = {name: array for name, array in model.arrays.items() if name != "output.weight"}
    state["readout.state.weight"] = np.zeros((12, 24))
    state["readout.context.weight"] = np.zeros((12, 20))
    state["readout.word.weight"] = np.zeros((12, 12))
    state["readout.bias"] = np.zeros(12)
    tied = model_weights(state)
    np.testing.assert_array_equal(tied["output.weight"], tied["target_embedding.weight"])
    assert tied.parameters == sum(array.size for array in state.values())


def test_every_problem_of_a_checkpoint_is_reported_at_once(model):
    state = dict(model.arrays)
    del state["readout.word.weight"]
    state["attention.key.bias"] = np.zeros(9)
    state["output.bias"] = np.full(53, np.nan)
    state["surprise"] = np.zeros(1)
    with pytest.raises(ExportError) as error:
        model_weights(state)
    for expected in (
        "missing readout.word.weight [14, 12]",
        "attention.key.bias is [9], expected [8]",
        "output.bias holds NaN",
        "unknown surprise",
    ):
        assert expected in str(error.value)


def test_file_that_is_no_model_is_refused():
    with pytest.raises(ExportError, match="not a translation model's checkpoint"):
        model_weights({"weight": np.zeros((2, 2))})


def test_actor_of_another_model_is_refused(model):
    state = {"hidden.weight": np.zeros((4, 99)), "hidden.bias": np.zeros(4), "output.weight": np.zeros((24, 4))}
    with pytest.raises(ExportError, match=r"hidden \[U, 44\] .* trained on another model"):
        actor_weights("stranger", state, model.sizes)


def test_actor_with_an_output_bias_is_refused(model):
    state = {
        "hidden.weight": np.zeros((4, 44)),
        "hidden.bias": np.zeros(4),
        "output.weight": np.zeros((24, 4)),
        "output.bias": np.zeros(24),
    }
    with pytest.raises(ExportError, match="no output bias"):
        actor_weights("biased", state, model.sizes)


def test_diverged_actor_is_refused(model):
    actor = random_actor("wild", 4, model.sizes)
    state = {"hidden.weight": actor.hidden * np.inf, "hidden.bias": actor.bias, "output.weight": actor.output}
    with pytest.raises(ExportError, match="NaN or infinity"):
        actor_weights("wild", state, model.sizes)


def test_actors_own_consecutive_units_in_the_order_given(model):
    actors = [random_actor("a", 4, model.sizes), random_actor("b", 7, model.sizes)]
    assert unit_ranges(actors) == {"a": (0, 4), "b": (4, 11)}
    assert unit_ranges([]) == {}


def test_two_actors_of_one_name_are_refused(model):
    actor: ActorWeights = random_actor("a", 4, model.sizes)
    with pytest.raises(ExportError, match="two actors are called 'a'"):
        unit_ranges([actor, actor])


def test_rounding_to_half_is_what_a_half_checkpoint_gives_back(model):
    rounded = rounded_to_half(model)
    for name, array in model.arrays.items():
        np.testing.assert_array_equal(rounded[name], array.astype(np.float16).astype(np.float32))
    again = rounded_to_half(rounded)
    assert all(np.array_equal(again[name], rounded[name]) for name in rounded.arrays)


def test_random_weights_have_every_shape_and_repeat_by_seed(model):
    first, second = random_weights(model.sizes, seed=4), random_weights(model.sizes, seed=4)
    assert {name: array.shape for name, array in first.arrays.items()} == model.sizes.shapes()
    np.testing.assert_array_equal(first["decoder.state.weight"], second["decoder.state.weight"])
