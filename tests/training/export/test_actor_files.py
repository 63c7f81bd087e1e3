import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from training.errors import ExportError
from training.export.actor_files import read_actors
from training.export.weights import random_actor


@pytest.fixture
def folder(tmp_path, model):
    """Two actors that a bundle can hold, and a gated one that it cannot."""
    for seed, name in enumerate(("bleu", "concise")):
        actor = random_actor(name, 4 + seed, model.sizes, seed)
        save_actor(tmp_path, name, actor)
    gated = random_actor("gated", 4, model.sizes)
    save_actor(tmp_path, "gated", gated, {"gate.weight": np.zeros((1, 44), np.float32)})
    return tmp_path


def save_actor(folder, name, actor, extra=None):
    arrays = {"hidden.weight": actor.hidden, "hidden.bias": actor.bias, "output.weight": actor.output, **(extra or {})}
    save_file(arrays, folder / f"{name}.safetensors")
    facts = {"objective": name, "method": "supervised", "optimises": f"more {name}", "gains": [], "variant": "plain"}
    (folder / f"{name}.json").write_text(json.dumps(facts))


def test_all_actors_a_bundle_can_hold_are_read_by_name(folder, model):
    actors, left_out = read_actors(folder, model.sizes)
    assert [(actor.weights.name, actor.weights.units) for actor in actors] == [("bleu", 4), ("concise", 5)]
    assert actors[0].optimises == "more bleu"
    assert actors[0].details["variant"] == "plain"
    assert left_out.keys() == {"gated"}
    assert "gate.weight" in left_out["gated"]


def test_the_place_of_an_actor_is_read_with_it(folder, model):
    path = folder / "bleu.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"place": "after"}))
    actors, _ = read_actors(folder, model.sizes)
    assert [actor.weights.acts_after for actor in actors] == [True, False]


def test_named_actors_are_read_in_the_order_of_the_names(folder, model):
    actors, left_out = read_actors(folder, model.sizes, ["concise", "bleu"])
    assert [actor.weights.name for actor in actors] == ["concise", "bleu"]
    assert left_out == {}


def test_named_actor_that_a_bundle_cannot_hold_is_an_error(folder, model):
    with pytest.raises(ExportError, match=r"gate\.weight"):
        read_actors(folder, model.sizes, ["gated"])


def test_unknown_actor_is_named_beside_the_known_ones(folder, model):
    with pytest.raises(ExportError, match=r"no actor called chrf \(there is: bleu, concise, gated\)"):
        read_actors(folder, model.sizes, ["bleu", "chrf"])


def test_run_without_actors_has_none(tmp_path, model):
    assert read_actors(tmp_path / "actors", model.sizes) == ([], {})


def test_actor_without_its_description_is_refused(folder, model):
    (folder / "bleu.json").unlink()
    with pytest.raises(ExportError, match="what the actor was trained for"):
        read_actors(folder, model.sizes)


@pytest.mark.parametrize(
    ("text", "reason"), [("{", "not JSON"), ("[]", "not an object"), ("{}", "objective and method")]
)
def test_broken_description_is_refused_with_the_reason(folder, model, text, reason):
    (folder / "bleu.json").write_text(text)
    with pytest.raises(ExportError, match=reason):
        read_actors(folder, model.sizes, ["bleu"])


def test_truncated_weights_are_refused(folder, model):
    path = folder / "bleu.safetensors"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ExportError, match="cannot be read"):
        read_actors(folder, model.sizes, ["bleu"])
