"""A few seconds of `make locust` on the toy bundle."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent / "locust_report.py"


def test_traffic_flows_without_a_failure_and_leaves_a_report(toy_models, tmp_path):
    command = [sys.executable, SCRIPT, "--models", toy_models, "--out", tmp_path, "--seconds", "5", "--users", "6"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    (total,) = [line for line in (run.stdout + run.stderr).splitlines() if "Aggregated" in line and "%" in line]
    requests, failures = total.split()[1:3]
    assert int(requests) > 6
    assert failures == "0(0.00%)"
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "greedy" in report
    assert "Locust" in report
