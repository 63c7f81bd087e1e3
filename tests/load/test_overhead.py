"""A short run of `make overhead` on the toy bundle: not for its numbers, but for all that it should leave behind."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "overhead.py"
KINDS = [
    "no actors", "no actors again", "one actor: bleu", "2 actors: plain", "2 actors: bleu", "2 actors: concise",
    "2 actors: mixed", "beam 5",
]  # fmt: skip


def test_a_run_shows_a_table_and_leaves_numbers_text_and_picture(toy_models, tmp_path):
    command = [sys.executable, SCRIPT, "--models", toy_models, "--out", tmp_path]
    options = ["--callers", "1", "3", "--rounds", "2", "--requests", "24", "--starts", "2"]
    run = subprocess.run([*command, *options], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    assert all(word in run.stdout for word in [*KINDS, "1 caller;", "3 callers;", "p50", "p95", "p99", "requests/s"])

    results = json.loads((tmp_path / "overhead.json").read_text())
    assert list(results["callers"]) == ["1", "3"]
    assert results["starts"] == 2
    for callers, kinds in results["callers"].items():
        assert list(kinds) == KINDS
        for kind in kinds.values():
            # One caller asks eight times in a round, several twice each; so many rounds that 24 requests are made.
            lengths = [len(part["latencies_s"]) for part in kind["rounds"]]
            assert lengths == {"1": [8] * 4, "3": [6] * 4}[callers]
            assert all(0 < latency <= part["seconds"] for part in kind["rounds"] for latency in part["latencies_s"])
            assert all(part["tokens"] > 0 and part["cpu_s"] > 0 for part in kind["rounds"])
            assert all(one["low"] <= one["ratio"] <= one["high"] for one in kind["estimates"].values())
        assert {one["ratio"] for one in kinds["no actors"]["estimates"].values()} == {1.0}
        # What an objective costs is also held against plain requests to the same bundle: the same slices, other ratios.
        compared = {name for name, kind in kinds.items() if kind["against_plain"]}
        assert compared == {"2 actors: bleu", "2 actors: concise", "2 actors: mixed"}
        faster, slower = (kinds[name]["rounds"] for name in ("2 actors: plain", "2 actors: bleu"))
        ratios = [b["cpu_s"] / b["tokens"] / (a["cpu_s"] / a["tokens"]) for a, b in zip(faster, slower, strict=True)]
        measured = kinds["2 actors: bleu"]["against_plain"]["CPU ms/token"]["ratio"]
        assert measured == pytest.approx(statistics.median(ratios))
        # The same texts for all of them: plain greedy answers the same on every bundle, and so does an actor.
        tokens = {name: [part["tokens"] for part in kind["rounds"]] for name, kind in kinds.items()}
        assert tokens["no actors"] == tokens["no actors again"] == tokens["2 actors: plain"]
        assert tokens["one actor: bleu"] == tokens["2 actors: bleu"]

    table = (tmp_path / "overhead.md").read_text(encoding="utf-8")
    headings, choices = 1, 3  # of the second table; the first line of the file is not counted
    assert table.count("\n| ") == 2 * len(KINDS) + headings + 2 * choices
    assert (tmp_path / "overhead.png").read_bytes().startswith(b"\x89PNG")


def test_a_pair_that_is_not_served_is_refused_by_name(toy_models, tmp_path):
    command = [sys.executable, SCRIPT, "--models", toy_models, "--out", tmp_path, "--pair", "de-fr"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode != 0
    assert "de-fr is not served; choose from xa-xb" in run.stderr


def test_no_start_at_all_is_refused(toy_models, tmp_path):
    command = [sys.executable, SCRIPT, "--models", toy_models, "--out", tmp_path, "--starts", "0"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 2
    assert "--starts must be at least 1, not 0" in run.stderr
