"""`nudge-train actors`: all actors of a config, once."""

import json
import shutil

import pytest
from safetensors.torch import load_file, save_file

from training.config import ActorTraining
from training.corpus.cache import EOS
from training.errors import TrainingError
from training.recipes.actors import members, train_all
from training.recipes.run_folder import RunFolder

QUICK = {"pairs": 40, "nbest": 3, "batch_tokens": 200, "max_steps": 4, "evaluate_every": 4}
QUICK_DPG = {
    "batch_tokens": 120, "critic_pretraining": 1, "critic_updates": 1, "actor_samples": 2, "critic_units": 8,
    "max_updates": 2, "evaluate_every": 2,
}  # fmt: skip


def quick(**changes):
    settings = {"objective": "bleu", "hidden": 4, "dev_sentences": 20, "supervised": QUICK, "dpg": QUICK_DPG}
    return ActorTraining.model_validate(settings | changes)


@pytest.fixture
def config(tiny_config):
    actors = {
        "first": quick(seeds=2, supervised=QUICK | {"choice": "consensus", "dropout": 0.2}),
        "second": quick(method="dpg", seeds=2, dpg=QUICK_DPG | {"start": "first"}),
        "still": quick(variant="constant"),
        "whole": quick(method="join", join={"parts": {"first": 2}, "gains": (0.5, 1.0)}),
    }
    return tiny_config.model_copy(update={"actors": actors})


@pytest.fixture
def run(tiny_run, tiny_config, tmp_path):
    shutil.copytree(tiny_run.path, tmp_path / "run")
    copied = RunFolder.of(tiny_config, tmp_path / "run")
    weights = load_file(copied.model)
    weights["output.bias"][EOS] += 2.0  # or this babbling model would never end a sentence
    save_file(weights, copied.model)
    return copied


def test_an_actor_of_several_seeds_has_as_many_members(config):
    found = dict(members(config))
    assert list(found) == ["first-1", "first-2", "second-1", "second-2", "still", "whole"]
    assert [settings.seed for settings in found.values()] == [1, 2, 1, 2, 1, 1]
    assert (found["second-1"].dpg.start, found["second-2"].dpg.start) == ("first-1", "first-2")
    # They differ in their seed alone.
    assert found["first-1"] == found["first-2"].model_copy(update={"seed": 1})


def test_all_are_trained_once_and_a_changed_one_only_when_told_to(config, run, quiet):
    train_all(config, run, console=quiet)
    trained = {path: path.stat().st_mtime_ns for path in run.actors.glob("*.safetensors")}
    assert sorted(path.stem for path in trained) == ["first-1", "first-2", "second-1", "second-2", "still", "whole"]
    whole = json.loads((run.actors / "whole.json").read_text())
    assert (whole["hidden"], whole["method"]) == (
        8,
        "the mean of several supervised actors (2 × first), its gain chosen on dev",
    )
    looks = json.loads((run.reports / "actors" / "whole.json").read_text())
    assert [look["measures"].get("gain") for look in looks] == [None, 0.5, 1.0]
    method = json.loads((run.actors / "first-1.json").read_text())["method"]
    assert method == "supervised, margin loss, consensus targets within 0.5 nats of 3-best, dropout 0.2"
    (run.actors / "still.safetensors").unlink()
    train_all(config, run, console=quiet)
    again = {path: path.stat().st_mtime_ns for path in run.actors.glob("*.safetensors")}
    assert {path.stem for path in trained if again[path] != trained[path]} == {"still"}

    # A label is no setting: it follows the config, and nothing is trained for it.
    label = {"ablation": "a control"}
    relabelled = {"still": config.actors["still"].model_copy(update=label)}
    train_all(config.model_copy(update={"actors": config.actors | relabelled}), run, console=quiet)
    assert json.loads((run.actors / "still.json").read_text())["settings"]["ablation"] == "a control"
    assert again == {path: path.stat().st_mtime_ns for path in run.actors.glob("*.safetensors")}

    changed = config.model_copy(update={"actors": config.actors | {"still": quick(variant="constant", seed=5)}})
    with pytest.raises(TrainingError, match=r"still.safetensors was trained with other settings.*--renew"):
        train_all(changed, run, console=quiet)
    train_all(changed, run, ["still"], renew=True, console=quiet)
    assert json.loads((run.actors / "still.json").read_text())["seed"] == 5


def test_a_table_that_the_config_does_not_have_is_named(config, run, quiet):
    with pytest.raises(TrainingError, match=r"no \[actors.thirst\]; it has: first, second, still, whole"):
        train_all(config, run, ["thirst"], console=quiet)
