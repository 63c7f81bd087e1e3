"""A short run of the comparison with the engine alone, on the toy bundle: not for its numbers."""

import random
import re
import subprocess
import sys
from pathlib import Path

from http_share import TOKENS, of_length

from service.text.tokeniser import Tokeniser

SCRIPT = Path(__file__).parent / "http_share.py"


def test_a_run_says_what_the_service_adds(toy_models, tmp_path):
    command = [sys.executable, SCRIPT, "--models", toy_models, "--out", tmp_path]
    options = ["--callers", "3", "--rounds", "2", "--requests", "6"]
    run = subprocess.run([*command, *options], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    compared = [line for line in run.stdout.splitlines() if "×" in line]
    assert len(compared) == 4  # time and CPU time, of the engine beside a busy process and of the service
    for line in compared:
        milliseconds, ratio, low, high = map(float, re.findall(r"\d+\.\d+", line))
        assert milliseconds > 0
        assert 0 < low <= ratio <= high


def test_sentences_have_about_twenty_tokens(toy_models):
    bundle = toy_models / "xa-xb"
    tokeniser = Tokeniser(bundle / "tokenizer.model", bundle / "output.model", eos_id=3)
    dice = random.Random(1)
    for _ in range(20):
        assert abs(tokeniser.count(of_length(["Ta netu.", "Ta netu netu ta."], tokeniser, dice)) - TOKENS) <= 2
