"""`nudge-train report` on a run with actors of two objectives, a control and two policy-gradient curves."""

import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from training.cli import app
from training.config import ActorTraining
from training.corpus.cache import EOS
from training.errors import EvaluationError
from training.recipes.actor import train_actor
from training.recipes.report import report
from training.recipes.run_folder import RunFolder

BUNDLE = Path(__file__).resolve().parents[2] / "fixtures" / "models" / "xa-xb"
QUICK = {"pairs": 60, "nbest": 3, "batch_tokens": 200, "max_steps": 12, "evaluate_every": 6}
QUICK_DPG = {
    "batch_tokens": 120, "critic_pretraining": 2, "critic_updates": 1, "actor_samples": 2, "critic_units": 8,
    "max_updates": 4, "evaluate_every": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def reported(tiny_run, tiny_config, tmp_path_factory, quiet):
    """A run with actors, and the report on it."""
    path = tmp_path_factory.mktemp("runs") / "tiny"
    shutil.copytree(tiny_run.path, path)
    run = RunFolder.of(tiny_config, path)
    weights = load_file(run.model)
    weights["output.bias"][EOS] += 2.0  # or this babbling model would never end a sentence
    save_file(weights, run.model)
    for name, changes in {
        "bleu-1": {"objective": "bleu"},
        "bleu-2": {"objective": "bleu", "seed": 2},
        "bleu-constant": {"objective": "bleu", "variant": "constant"},
        "brief": {"objective": "concise", "objective_options": {"length": 0.8}, "variant": "recurrent"},
        "aware": {"objective": "bleu", "method": "dpg"},
        "vanilla": {"objective": "bleu", "method": "dpg", "dpg": QUICK_DPG | {"vanilla": True}},
        "try": {"objective": "bleu", "ablation": "something else"},
    }.items():
        settings = {"hidden": 4, "dev_sentences": 20, "supervised": QUICK, "dpg": QUICK_DPG} | changes
        train_actor(tiny_config, run, name, ActorTraining.model_validate(settings), console=quiet)
    (path / "notes.md").write_text("What we think of it.\n", encoding="utf-8")
    results = report(tiny_config, run, soothsayers=["bleu"], notes=path / "notes.md", draws=100, console=quiet)
    return run, results


def test_every_system_is_measured_on_every_set(reported):
    _, (result,) = reported
    names = [system.name for system in result.systems]
    assert names[:6] == ["greedy", "beam", "npad", "soothsayer:bleu", "length-bonus:bleu", "length-bonus:concise"]
    assert {"actor:bleu-1", "actor:brief", "beam+actor:bleu-1", "beam+actor:brief"} <= set(names)
    assert list(result.systems[0].scores) == ["bleu", "chrf", "log_probability", "concise"]


def test_what_costs_most_can_be_left_out(reported, tiny_config, tmp_path, quiet):
    run, _ = reported
    shutil.copytree(run.path, tmp_path / "run")
    copied = RunFolder.of(tiny_config, tmp_path / "run")
    (result,) = report(tiny_config, copied, ["bleu-1"], with_beam=False, with_npad=False, draws=100, console=quiet)
    assert [system.name for system in result.systems] == ["greedy", "beam", "length-bonus:bleu", "actor:bleu-1"]


def test_every_actor_is_compared_with_greedy_beam_and_its_controls(reported):
    _, (result,) = reported
    actors = {actor.name: actor for actor in result.actors}
    scores = {system.name: system.scores for system in result.systems}
    for name, actor in actors.items():
        for metric, change in actor.against_greedy.items():
            expected = scores[f"actor:{name}"][metric] - scores["greedy"][metric]
            assert change.difference == pytest.approx(expected, abs=1e-9)
        for metric, change in actor.against_beam.items():
            expected = scores[f"beam+actor:{name}"][metric] - scores["beam"][metric]
            assert change.difference == pytest.approx(expected, abs=1e-9)
    beyond = actors["bleu-1"].against_constant
    assert beyond.difference == pytest.approx(scores["actor:bleu-1"]["bleu"] - scores["actor:bleu-constant"]["bleu"])
    assert actors["bleu-constant"].is_control
    assert actors["bleu-constant"].against_constant is None
    assert actors["brief"].against_constant is None
    assert actors["brief"].against_length_bonus.metric == "concise"
    assert (actors["bleu-1"].group, actors["bleu-2"].group) == ("bleu", "bleu")


def test_tables_figures_examples_and_gains_are_written(reported):
    run, (result,) = reported
    text = (run.reports / "actors.md").read_text(encoding="utf-8")
    assert f"### {result.test_set} ({result.sentences:,} sentences)" in text
    assert "Mean ± standard deviation over seeds" in text
    assert "What we think of it." in text
    assert "![learning](figures/tiny-critic-awareness.png)" in text
    for figure in (f"tiny-{result.test_set}.png", "tiny-critic-awareness.png"):
        assert (run.reports / "figures" / figure).read_bytes().startswith(b"\x89PNG")
    contents = json.loads((run.reports / "actors.json").read_text(encoding="utf-8"))
    assert contents["test_sets"][0]["verdicts"]
    assert "with actor" in (run.reports / "examples" / f"bleu-1-{result.test_set}.html").read_text(encoding="utf-8")
    gains = json.loads((run.actors / "bleu-1.json").read_text())["gains"]
    assert {gain["metric"] for gain in gains} == {"bleu", "chrf", "log_probability", "concise"}
    assert all(gain["test_set"] == result.test_set and 0 < gain["p"] <= 1 for gain in gains)


def test_what_was_only_tried_is_reported_by_its_dev_scores(reported):
    run, (result,) = reported
    text = (run.reports / "actors.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `try` | something else | bleu |")]
    looks = json.loads((run.reports / "actors" / "try.json").read_text())
    best = max((look["dev"] for look in looks), key=lambda dev: dev["objective"])
    assert len(rows) == 1
    assert rows[0].split(" | ")[3] == f"{best['bleu']:.2f}"
    assert "actor:try" not in {system.name for system in result.systems}
    # Seeds are averaged, and the baselines are there to compare with.
    assert "| `bleu` | supervised" in text
    assert "| greedy | | |" in text
    assert "| beam 5 | | |" in text


def test_notes_must_exist(tiny_run, tiny_config, reported, quiet, tmp_path):
    with pytest.raises(EvaluationError, match="no such file"):
        report(tiny_config, reported[0], notes=tmp_path / "none.md", console=quiet)


def test_a_run_without_actors_has_nothing_to_report(tiny_run, tiny_config, tmp_path, quiet):
    with pytest.raises(EvaluationError, match="no actors yet"):
        report(tiny_config, RunFolder.of(tiny_config, tmp_path), console=quiet)


TOY = """
name = "toy"
[languages]
source = "xa"
target = "xb"
[corpus]
train = [{ toy = 100 }]
dev.toy-dev = { toy = 20, toy_seed = 2 }
test.toy-test = { toy = 30, toy_seed = 3 }
"""


def _changes(run):
    (found,) = json.loads((run / "reports" / "actors.json").read_text(encoding="utf-8"))["test_sets"]
    return [actor["against_greedy"] for actor in found["actors"]]


def test_tables_can_be_made_again_from_a_bundle(tmp_path):
    config, run = tmp_path / "toy.toml", tmp_path / "run"
    config.write_text(TOY, encoding="utf-8")
    arguments = ["report", "--bundle", str(BUNDLE), "--config", str(config), "--run", str(run), "--no-beam"]
    first = CliRunner().invoke(app, arguments)
    assert first.exit_code == 0, first.output
    text = (run / "reports" / "actors.md").read_text(encoding="utf-8")
    assert "### toy-test (30 sentences)" in text
    assert "| `actor:bleu` |" in text
    assert "nan" not in text
    # Again, it is the same; another bundle is not reported on in its place.
    changes = _changes(run)
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert _changes(run) == changes
    (run / "shipped.json").write_text("{}", encoding="utf-8")
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code != 0
    assert "was not made of" in " ".join(refused.output.split())


def test_a_bundle_needs_texts_of_its_languages(tmp_path):
    config = tmp_path / "other.toml"
    config.write_text(TOY.replace('"xb"', '"xc"'), encoding="utf-8")
    run = str(tmp_path / "run")
    without = CliRunner().invoke(app, ["report", "--bundle", str(BUNDLE)])
    assert "--bundle goes with --config" in without.output
    other = CliRunner().invoke(app, ["report", "--bundle", str(BUNDLE), "--config", str(config), "--run", run])
    assert "translates xa to xb" in " ".join(other.output.split())
