"""An objective of the user's own, from a shipped bundle and a parallel file to an answer over HTTP: five commands."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from training.corpus.toy import VARIANTS, toy_pairs

NUDGE_TRAIN = Path(sys.executable).parent / "nudge-train"
# Enough for a model this small; the defaults are for larger ones.
QUICK = [
    f"--option=supervised.{option}"
    for option in (
        "nbest=4",
        "delta=2.0",
        "learning_rate=0.01",
        "max_steps=300",
        "batch_tokens=1500",
        "evaluate_every=100",
    )
]

OWN = '''
def full(hypotheses, references):
    """The long word where there is a choice"""
    return [0.0 if " SHORT" in hypothesis else 1.0 for hypothesis in hypotheses]

full.bounded = True
'''


@pytest.fixture
def desk(toy_models, tmp_path):
    """A folder with a copy of the shipped bundle, a parallel text, and the user's module."""
    shutil.copytree(toy_models / "xa-xb", tmp_path / "models" / "xa-xb")
    with (tmp_path / "pairs.tsv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t", quoting=csv.QUOTE_NONE).writerows(toy_pairs(1600, seed=77))
    short = min((translation for _, translation in VARIANTS["tipola"]), key=len)
    (tmp_path / "wishes.py").write_text(OWN.replace("SHORT", short), encoding="utf-8")
    return tmp_path


def nudge_train(desk, *arguments):
    finished = subprocess.run(
        [NUDGE_TRAIN, *arguments], cwd=desk, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr[-3000:]
    return finished.stderr


@pytest.mark.timeout(1800)
def test_five_commands_from_a_bundle_to_an_answer_that_serves_the_own_objective(desk, start_server):
    """*tipola* has a long and a short translation, and greedy decoding says the short one; the best action is known."""
    nudge_train(
        desk, "actor", "--bundle", "models/xa-xb", "--text", "pairs.tsv", "--run", "runs/mine",
        "--name", "full", "--objective", "wishes:full", *QUICK,
    )  # fmt: skip
    nudge_train(desk, "report", "--run", "runs/mine", "--actor", "full", "--no-beam")
    nudge_train(desk, "export", "--run", "runs/mine", "--out", "models/xa-xb", "--force", "--sentences", "60")
    server = start_server(desk / "models")

    short, long = sorted((translation for _, translation in VARIANTS["tipola"]), key=len)
    sources = [source for source, _ in toy_pairs(1500, seed=78) if "tipola" in source.lower()][:30]
    answers = {
        objective: server.translate(sources, objective=objective)["translatedText"] for objective in (None, "full")
    }
    assert len(sources) == 30
    assert sum(f" {short}" in text for text in answers[None]) > 20
    assert sum(long in text and f" {short}" not in text for text in answers["full"]) > 27

    # The report says what was gained, and so does the bundle.
    assert "wishes:full" in (desk / "runs/mine/reports/actors.md").read_text(encoding="utf-8")
    manifest = json.loads((desk / "models/xa-xb/manifest.json").read_text(encoding="utf-8"))
    (entry,) = [actor for actor in manifest["actors"] if actor["name"] == "full"]
    assert entry["optimises"] == "The long word where there is a choice"
    (gain,) = [gain for gain in entry["gains"] if gain["metric"] == "wishes:full"]
    assert gain["test_set"] == "held-out-test"
    assert gain["actor"] > gain["greedy"]
    # The actors that were shipped are still there.
    shipped = json.loads((desk / "runs/mine/shipped.json").read_text(encoding="utf-8"))["actors"]
    assert {actor["name"] for actor in shipped} < {actor["name"] for actor in manifest["actors"]}
