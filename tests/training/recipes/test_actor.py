"""`nudge-train actor` as people run it: on a run, killed half-way, with an objective of their own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from training.config import ActorTraining, Lesson
from training.corpus.cache import EOS
from training.corpus.toy import toy_pairs
from training.errors import ConfigError, CorpusError, ObjectiveError, TrainingError
from training.nmt.checkpoint import load_model
from training.policy.actor_file import load_actor
from training.policy.objectives import load_objective
from training.policy.objectives.chrf import sentence_chrf
from training.recipes.actor import actor_settings, parse_options, train_actor
from training.recipes.actor_data import ActorData
from training.recipes.prepared import find_prepared
from training.recipes.run_folder import RunFolder

QUICK = {"pairs": 60, "nbest": 3, "batch_tokens": 200, "max_steps": 12, "evaluate_every": 4}
QUICK_DPG = {
    "batch_tokens": 120, "critic_pretraining": 3, "critic_updates": 2, "actor_samples": 2, "critic_units": 8,
    "max_updates": 6, "evaluate_every": 2,
}  # fmt: skip


@pytest.fixture
def run(tiny_run, tiny_config, tmp_path):
    """A copy of the tiny run to train actors in, whose babbling model is made to end its sentences."""
    shutil.copytree(tiny_run.path, tmp_path / "run")
    copied = RunFolder.of(tiny_config, tmp_path / "run")
    weights = load_file(copied.model)
    weights["output.bias"][EOS] += 2.0
    save_file(weights, copied.model)
    return copied


def quick(**changes):
    settings = {"objective": "chrf", "hidden": 4, "dev_sentences": 20, "supervised": QUICK, "dpg": QUICK_DPG} | changes
    return ActorTraining.model_validate(settings)


def facts_of(run, name):
    return json.loads((run.actors / f"{name}.json").read_text())


@pytest.mark.parametrize("variant", ["plain", "constant", "gated", "recurrent"])
def test_an_actor_is_trained_and_described(run, tiny_config, quiet, variant):
    train_actor(tiny_config, run, "mine", quick(variant=variant), console=quiet)
    facts = facts_of(run, "mine")
    assert facts["objective"] == "chrf"
    assert facts["optimises"] == "sentence chrF2"
    assert facts["method"] == "supervised, margin loss, targets within 0.5 nats of 3-best"
    assert [gain["metric"] for gain in facts["gains"]] == ["bleu", "chrf", "log_probability"]
    assert facts["training"]["updates"] == 12
    assert (run.reports / "actors" / "mine.png").stat().st_size > 1000
    looks = json.loads((run.reports / "actors" / "mine.json").read_text())
    assert [look["update"] for look in looks] == [0, 4, 8, 12]
    assert load_actor(run.actor("mine"), load_model(run.path)[0].sizes).sees_previous_word is False


@pytest.mark.parametrize("method", ["supervised", "dpg"])
def test_an_actor_after_the_recurrence_is_trained_and_described_as_such(run, tiny_config, quiet, method):
    train_actor(tiny_config, run, "mine", quick(place="after", method=method), console=quiet)
    assert facts_of(run, "mine")["place"] == "after"
    actor = load_actor(run.actor("mine"), load_model(run.path)[0].sizes)
    assert actor.acts_after
    further = quick(method="dpg", dpg=QUICK_DPG | {"start": "mine"})
    with pytest.raises(TrainingError, match="acts in another place"):
        train_actor(tiny_config, run, "further", further, console=quiet)


def test_a_memory_cannot_travel_behind_the_recurrence():
    with pytest.raises(ValueError, match='use place = "before"'):
        quick(place="after", variant="recurrent")


def test_several_dev_sets_are_looked_at_as_one(run, tiny_config, quiet):
    (name,) = tiny_config.corpus.dev
    for side in ("source", "target"):
        lines = (run.path / "dev" / f"{name}.{side}.txt").read_text().splitlines(keepends=True)
        (run.path / "dev" / f"other.{side}.txt").write_text("".join(lines[10:]))
    whole = run.dev_set(name)
    data = ActorData(
        tiny_config,
        run,
        quick(dev={name: 3, "other": 2}),
        load_model(run.path)[0],
        load_objective("chrf"),
        quiet,
    )
    assert data.dev_name == f"{name} + other"
    assert data.dev.sources == [*whole.sources[:3], *whole.sources[10:12]]
    assert data.dev.references == [*whole.references[:3], *whole.references[10:12]]


def test_the_policy_gradient_runs_from_another_actor(run, tiny_config, quiet):
    train_actor(tiny_config, run, "first", quick(), console=quiet)
    train_actor(tiny_config, run, "second", quick(method="dpg", dpg=QUICK_DPG | {"start": "first"}), console=quiet)
    assert facts_of(run, "second")["method"] == "deterministic policy gradient, critic-aware, from first"
    looks = json.loads((run.reports / "actors" / "second.json").read_text())
    assert [look["update"] for look in looks] == [0, 2, 4, 6]
    watched = {"critic_error", "critic_correlation", "effective_samples", "action_norm", "true_return"}
    assert watched <= looks[1]["measures"].keys()
    first = json.loads((run.reports / "actors" / "first.json").read_text())
    assert looks[0]["dev"]["objective"] == max(look["dev"]["objective"] for look in first)


def test_an_actor_to_start_from_must_have_the_same_shape(run, tiny_config, quiet):
    train_actor(tiny_config, run, "first", quick(), console=quiet)
    other = quick(method="dpg", hidden=5, dpg=QUICK_DPG | {"start": "first"})
    with pytest.raises(TrainingError, match="the same variant, hidden and sees_previous_word"):
        train_actor(tiny_config, run, "second", other, console=quiet)


def test_rounds_decode_with_the_actor_and_choose_again(run, tiny_config, quiet):
    train_actor(tiny_config, run, "mine", quick(supervised=QUICK | {"rounds": 2}), console=quiet)
    assert facts_of(run, "mine")["training"]["updates"] == 24
    # What only this actor could use is gone, the n-best lists stay for the next one.
    assert [path.name.split("-")[0] for path in (run.path / "nbest").iterdir()] == ["3"]


def test_a_finished_actor_is_not_trained_again_unless_told_to(run, tiny_config, quiet):
    train_actor(tiny_config, run, "mine", quick(), console=quiet)
    with pytest.raises(TrainingError, match="finished already"):
        train_actor(tiny_config, run, "mine", quick(), console=quiet)
    train_actor(tiny_config, run, "mine", quick(seed=2), restart=True, console=quiet)
    assert facts_of(run, "mine")["seed"] == 2


@pytest.mark.parametrize("choice", ["objective", "lookahead"])
def test_a_model_that_never_ends_its_sentences_is_no_teacher(tiny_run, tiny_config, tmp_path, quiet, choice):
    shutil.copytree(tiny_run.path, tmp_path / "run")
    endless = RunFolder.of(tiny_config, tmp_path / "run")
    weights = load_file(endless.model)
    weights["output.bias"][EOS] = -1e6
    save_file(weights, endless.model)
    with pytest.raises(TrainingError, match="cut at the length limit"):
        train_actor(tiny_config, endless, "mine", quick(supervised=QUICK | {"choice": choice}), console=quiet)


def test_a_wrong_objective_is_refused_before_anything_is_loaded(tmp_path, tiny_config, quiet):
    with pytest.raises(ObjectiveError, match="no objective 'blue'"):
        train_actor(tiny_config, RunFolder(tmp_path), "mine", quick(objective="blue"), console=quiet)


def test_an_actor_that_the_config_does_not_have_needs_an_objective(tiny_config):
    with pytest.raises(TrainingError, match=r"no \[actors.mine\].*--objective"):
        actor_settings(tiny_config, "mine", {})
    assert actor_settings(tiny_config, "mine", {"objective": "bleu", "method": "dpg"}).method == "dpg"


def test_options_reach_the_tables_of_an_actor(tiny_config):
    config = tiny_config.model_copy(update={"actors": {"mine": quick()}})
    changes = parse_options(["supervised.max_steps=7", "hidden=5", "dpg.start=first", "dpg.vanilla=true"])
    settings = actor_settings(config, "mine", changes)
    assert (settings.supervised.max_steps, settings.supervised.nbest) == (7, 3)
    assert (settings.hidden, settings.dpg.start, settings.dpg.vanilla) == (5, "first", True)
    with pytest.raises(ConfigError, match=r"supervised.steps: Extra inputs are not permitted \(given: 7\)"):
        actor_settings(config, "mine", parse_options(["supervised.steps=7"]))
    with pytest.raises(TrainingError, match="key=value"):
        parse_options(["hidden"])


@pytest.mark.parametrize("method", ["supervised", "dpg"])
def test_killed_and_started_again_it_ends_with_the_same_actor(run, tiny_config, quiet, tmp_path, method):
    settings = quick(
        method=method, supervised=QUICK | {"max_steps": 40}, dpg=QUICK_DPG | {"max_updates": 16, "patience": 99}
    )
    config = tiny_config.model_copy(update={"actors": {"mine": settings}})
    whole = tmp_path / "whole"
    shutil.copytree(run.path, whole)
    train_actor(config, RunFolder.of(config, whole), "mine", settings, console=quiet)

    # The command finds the config in the run's own description.
    description = json.loads(run.config.read_text())
    description["config"] = config.model_dump(mode="json")
    run.config.write_text(json.dumps(description))
    command = [sys.executable, "-m", "training.cli", "actor", "--run", str(run.path), "--name", "mine"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    state = run.actors / "mine.state.pt"
    started = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    before = None
    for _ in range(6000):
        if state.exists():
            before = before or state.stat().st_mtime_ns
            if state.stat().st_mtime_ns != before:  # the second checkpoint: in the middle of learning
                break
        assert started.poll() is None
        time.sleep(0.01)
    started.send_signal(signal.SIGKILL)
    started.wait()
    assert not run.actor("mine").exists()
    resumed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "resuming after update" in resumed.stderr
    assert not state.exists()
    expected, found = load_file(whole / "actors" / "mine.safetensors"), load_file(run.actor("mine"))
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_a_critic_is_pretrained_on_the_lists_of_the_pairs_that_have_some(run, tiny_config, quiet):
    # 60 of the 400 pairs are searched; the critic's shuffle is of all.
    settings = quick(method="dpg", dpg=QUICK_DPG | {"critic_lists": 2, "critic_pretraining": 6})
    train_actor(tiny_config, run, "mine", settings, console=quiet)
    assert facts_of(run, "mine")["training"]["updates"] == 6
    assert any((run.path / "nbest").iterdir())


def test_an_actor_learns_from_recombined_sentences_too(run, tiny_config, quiet):
    settings = quick(supervised=QUICK | {"recombined": 25, "choice": "consensus"})
    data = ActorData(tiny_config, run, settings, load_model(run.path)[0], load_objective("chrf"), quiet)
    own = {source for source, reference in zip(*data.texts(), strict=True) if reference}
    new = {source for source, reference in zip(*data.texts(), strict=True) if not reference}
    assert (len(data.indices), len(new), new & own) == (60 + 25, 25, set())
    train_actor(tiny_config, run, "mine", settings, console=quiet)
    assert "25 recombined sentences" in facts_of(run, "mine")["method"]


def test_lessons_take_the_place_of_the_training_text(run, tiny_config, tmp_path, quiet):
    for name, side in (("source.txt", 0), ("target.txt", 1)):
        lines = [pair[side] for pair in toy_pairs(40, seed=77)]
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    plain = Lesson(source=tmp_path / "source.txt", target=tmp_path / "target.txt", sentences=10)
    other = Lesson(toy=30, toy_seed=78, sentences=25)
    corpus = tiny_config.corpus.model_copy(update={"lessons": (plain, other)})
    config = tiny_config.model_copy(update={"corpus": corpus})
    assert find_prepared(config, run) is not None, "lessons are none of what a run is prepared from"
    shutil.rmtree(run.data)  # nobody needs the training text

    data = ActorData(config, run, quick(), load_model(run.path)[0], load_objective("chrf"), quiet)
    drawn = set(zip(*data.texts(), strict=True))
    first, second = set(toy_pairs(40, seed=77)), set(toy_pairs(30, seed=78))
    assert len(data.indices) == 35
    assert len(drawn & first) == 10
    assert drawn <= first | second
    again = ActorData(config, run, quick(), data.model, load_objective("chrf"), quiet)
    assert again.texts() == data.texts()

    train_actor(config, run, "mine", quick(), console=quiet)
    assert facts_of(run, "mine")["training"]["pairs"] == 35


def test_a_lesson_that_is_not_there_is_said_so(run, tiny_config, tmp_path, quiet):
    lesson = Lesson(source=tmp_path / "nowhere.txt", target=tmp_path / "nowhere.txt")
    corpus = tiny_config.corpus.model_copy(update={"lessons": (lesson,)})
    config = tiny_config.model_copy(update={"corpus": corpus})
    with pytest.raises(CorpusError, match=r"nowhere\.txt: no such file"):
        train_actor(config, run, "mine", quick(), console=quiet)


@pytest.mark.parametrize("changes", [{"choice": "objective"}, {"choice": "consensus", "method": "dpg"}])
def test_recombined_sentences_are_refused_where_a_reference_is_needed(changes):
    how = QUICK | {"recombined": 25, "choice": changes["choice"]}
    with pytest.raises(ValueError, match=r"recombined = 25: such sentences have no reference to hold chrf against"):
        quick(supervised=how, method=changes.get("method", "supervised"))
    assert quick(objective="perplexity", supervised=how).supervised.recombined == 25


def test_policy_gradient_may_be_measured_against_the_models_own_consensus(run, tiny_config, quiet):
    how = QUICK | {"choice": "consensus", "recombined": 25}
    dpg = QUICK_DPG | {"reference": "target", "critic_lists": 2}
    settings = quick(method="dpg", supervised=how, dpg=dpg)
    data = ActorData(tiny_config, run, settings, load_model(run.path)[0], load_objective("chrf"), quiet)
    pairs, lists, hypotheses = data.pairs("target"), data.scored_lists("target"), data.nbest().lists()
    has_target = [any(not one.is_truncated for one in candidates) for candidates in hypotheses]
    assert len(pairs) == sum(has_target) > 25  # recombined sentences, which have no reference, are among them
    for number, candidates in enumerate(
        [candidates for candidates, has_one in zip(hypotheses, has_target, strict=True) if has_one]
    ):
        target = tuple(pairs.pair(number)[1][:-1].tolist())
        assert target in {one.ids for one in candidates}
        drawn, scores = lists.draw(number, 10, np.random.default_rng(number))
        reference, *texts = data.target.decode_many([target, *drawn])
        assert scores == pytest.approx([sentence_chrf(text, reference) for text in texts])
    train_actor(tiny_config, run, "mine", settings, console=quiet)
    assert "returns against chosen targets" in facts_of(run, "mine")["method"]


def test_an_actor_may_be_taught_by_looking_ahead(run, tiny_config, quiet):
    how = QUICK | {"choice": "lookahead", "candidates": 3, "nearness": 2.0, "recombined": 25, "rounds": 2}
    train_actor(tiny_config, run, "mine", quick(objective="perplexity", supervised=how), console=quiet)
    facts = facts_of(run, "mine")
    assert facts["method"] == ("supervised by looking ahead, 3 words within 2 nats, 2 rounds, 25 recombined sentences")
    # What the model itself leads to is kept for other actors; what this one led to is not.
    assert [folder.name.partition("-")[0] for folder in (run.path / "nbest").iterdir()] == ["lookahead"]
    # Against a reference it works for any objective.
    how = QUICK | {"choice": "lookahead"}
    train_actor(tiny_config, run, "other", quick(supervised=how), console=quiet)
    assert facts_of(run, "other")["objective"] == "chrf"


def test_what_lies_ahead_may_be_judged_by_the_models_own_hypotheses(run, tiny_config, quiet):
    how = QUICK | {"choice": "lookahead-consensus", "recombined": 25, "level": True, "delta": 100.0}
    train_actor(tiny_config, run, "mine", quick(supervised=how), console=quiet)
    assert facts_of(run, "mine")["method"] == (
        "supervised by looking ahead, 4 words within 1.5 nats, by consensus of 3-best, 25 recombined sentences"
    )
    # What greedy outputs and their branches are worth, counted again without a bonus.
    settings = quick(supervised=how | {"level": False})
    data = ActorData(tiny_config, run, settings, load_model(run.path)[0], load_objective("chrf"), quiet)
    start = SimpleNamespace(best_actor=lambda: None)
    plain, bonus = (
        ActorData(tiny_config, run, one, data.model, data.objective, quiet).round_lessons(0, start).choices
        for one in (settings, quick(supervised=how))
    )
    lists, first = data.nbest(), 0
    p = np.exp(lists.log_probabilities / 2.0)
    for sentence, length in enumerate(plain.lengths[:20]):
        if not length:
            continue
        own = range(lists.starts[sentence], lists.starts[sentence] + lists.counts[sentence])
        said, *others = data.target.decode_many(
            [plain.candidates[first : first + length - 1, 0], *(lists.outputs()[one] for one in own)]
        )
        shares = [p[one] / p[own.start : own.stop].sum() for one in own]
        expected = sum(
            share * sentence_chrf(said, one) for share, one in zip(shares, others, strict=True) if share >= 0.01
        )
        assert plain.returns[first : first + length, 0] == pytest.approx(expected, rel=1e-5)
        first += length
    others = np.isfinite(plain.returns[:, 1:])
    assert others.any()
    assert (plain.returns[:, 1:][others] != bonus.returns[:, 1:][others]).any()


def test_whoever_asks_for_log_probabilities_gets_them_when_looking_ahead_by_consensus(run, tiny_config, quiet):
    how = QUICK | {"choice": "lookahead-consensus"}
    train_actor(tiny_config, run, "mine", quick(objective="perplexity", supervised=how), console=quiet)
    assert facts_of(run, "mine")["objective"] == "perplexity"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"variant": "recurrent"}, "memory of a recurrent actor is not kept"),
        ({"method": "dpg", "dpg": QUICK_DPG | {"reference": "target"}}, 'has no targets for dpg.reference = "target"'),
        ({"supervised": QUICK | {"choice": "lookahead", "recombined": 25}}, "no reference to hold chrf against"),
    ],
)
def test_looking_ahead_where_it_cannot_be_done_is_refused(changes, problem):
    with pytest.raises(ValueError, match=problem):
        quick(**({"supervised": QUICK | {"choice": "lookahead"}} | changes))
