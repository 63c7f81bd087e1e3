import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import training
from training.cli import RECIPES, app

TOY = Path(training.__file__).parent / "configs" / "toy.toml"

# What `import` pulled in, told by a process of its own.
RUN_AND_TELL_TORCH = """
import sys
from training.cli import app
try:
    app(sys.argv[1:])
finally:
    print("torch" in sys.modules)
"""


def nudge_train(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "training.cli", *arguments], capture_output=True, text=True, check=False, timeout=120
    )


def test_the_help_lists_every_recipe() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    assert [name for name in RECIPES if name not in result.output] == []


def test_an_error_of_ours_is_a_message_and_exit_code_1(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text('name = "Broken"\nlayers = 2\n')
    result = nudge_train("prepare", "--config", str(broken))
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"nudge-train: {broken}: 4 problem(s)\n  - name: ")
    assert "Traceback" not in result.stderr


def test_a_wrong_command_is_exit_code_2() -> None:
    result = nudge_train("fly")
    assert result.returncode == 2
    assert "No such command 'fly'" in result.stderr


def test_preparing_does_not_wait_for_torch(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", RUN_AND_TELL_TORCH, "prepare", "--config", str(TOY), "--run", str(tmp_path / "run")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.splitlines()[-1] == "False"
    assert (tmp_path / "run" / "prepared.json").exists()


def test_the_run_lies_in_runs_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["prepare", "--config", str(TOY)])
    assert result.exit_code == 0
    assert (tmp_path / "runs" / "toy" / "prepared.json").exists()
