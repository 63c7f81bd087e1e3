"""`nudge-train pretrain` as people run it: real processes, killed and joined."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from training.config import load_config
from training.errors import TrainingError
from training.nmt.checkpoint import load_description
from training.nmt.trainer import Evaluation, start
from training.recipes import pretrain
from training.recipes.prepare import prepare
from training.recipes.run_folder import RunFolder

TINY = """
name = "tiny"
[languages]
source = "xa"
target = "xb"
[corpus]
train = [{ toy = 400, toy_seed = 1 }]
dev.toy-dev = { toy = 20, toy_seed = 2 }
[tokenizer]
vocabulary = 600
character_coverage = 1.0
[model]
embedding = 16
encoder = 12
decoder = 24
attention = 8
readout = 16
tie_output = true
dropout = 0.2
[pretrain]
batch_tokens = 300
batches_per_update = 2
max_steps = 40
evaluate_every = 20
checkpoint_every = 4
average = 2
ema = 0.9
[decoding]
max_length = 40
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "tiny.toml"
    path.write_text(TINY)
    return path


def _prepared(config: Path, folder: Path) -> Path:
    loaded = load_config(config)
    prepare(loaded, RunFolder.of(loaded, folder))
    return folder


def _pretrain(config: Path, run: Path, *options: str) -> list[str]:
    return [
        *(sys.executable, "-m", "training.cli", "pretrain"), *("--config", str(config), "--run", str(run)), *options
    ]  # fmt: skip


@pytest.fixture(scope="module")
def uninterrupted(config: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = _prepared(config, tmp_path_factory.mktemp("whole"))
    subprocess.run(_pretrain(config, run), check=True, capture_output=True)
    return run


def test_a_run_leaves_a_model_its_curve_and_its_facts(uninterrupted: Path) -> None:
    for name in ("model.safetensors", "config.json", "reports/learning-curve.png", "reports/pretrain.json"):
        assert (uninterrupted / name).stat().st_size > 0
    # Only what averaging needs is kept of the evaluated weights.
    assert len(list((uninterrupted / "checkpoints").glob("weights-*.safetensors"))) == 2


def test_killed_at_any_moment_it_goes_on_to_the_same_weights(config: Path, uninterrupted: Path, tmp_path: Path) -> None:
    run = _prepared(config, tmp_path / "killed")
    state = run / "checkpoints" / "latest.pt"
    process = subprocess.Popen(_pretrain(config, run), stderr=subprocess.DEVNULL)
    while not state.exists():
        assert process.poll() is None, "it ended before its first checkpoint"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (run / "model.safetensors").exists()

    again = subprocess.run(_pretrain(config, run), check=True, capture_output=True, text=True)
    assert "resuming after update" in again.stderr
    expected, given = load_file(uninterrupted / "model.safetensors"), load_file(run / "model.safetensors")
    assert expected.keys() == given.keys()
    for name, tensor in expected.items():
        assert torch.equal(tensor, given[name]), name


def test_two_processes_reach_what_one_reaches(config: Path, uninterrupted: Path, tmp_path: Path) -> None:
    run = _prepared(config, tmp_path / "two")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    trained = subprocess.run(
        _pretrain(config, run, "--processes", "2"), capture_output=True, text=True, env=environment
    )
    assert trained.returncode == 0, trained.stderr
    expected, given = load_file(uninterrupted / "model.safetensors"), load_file(run / "model.safetensors")
    for name, tensor in expected.items():
        # The same sums in another order: equal but for rounding, which forty updates of Adam amplify.
        torch.testing.assert_close(given[name], tensor, atol=2e-3, rtol=2e-2, msg=name)


def test_nobody_goes_on_without_the_process_that_leads(config: Path, tmp_path: Path) -> None:
    run = _prepared(config, tmp_path / "led")
    leader = subprocess.Popen(_pretrain(config, run, "--processes", "2"), stderr=subprocess.PIPE)
    while not (run / "checkpoints" / "latest.pt").exists():
        assert leader.poll() is None, "it ended before its first checkpoint"
        time.sleep(0.01)
    leader.kill()
    leader.communicate(timeout=60)  # returns when no process has the other end any more


def test_a_checkpoint_of_another_model_is_not_resumed(config: Path, uninterrupted: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(TINY.replace("decoder = 24", "decoder = 20"))
    refused = subprocess.run(_pretrain(other, uninterrupted), capture_output=True, text=True)
    assert refused.returncode == 1
    assert "--restart" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("is_raw_better", [True, False])
def test_the_last_weights_are_kept_where_their_average_lags_behind(
    config: Path, uninterrupted: Path, tmp_path: Path, is_raw_better: bool, quiet
) -> None:
    loaded = load_config(config)
    source, run = RunFolder.of(loaded, uninterrupted), RunFolder.of(loaded, tmp_path)
    state = start(pretrain.build_model(loaded, source), loaded.pretrain)
    state.averaged = {name: weights + 1.0 for name, weights in state.averaged.items()}
    state.step, state.evaluations = 1, [Evaluation(1, 20.0, 1.0, 100, 1.0)]
    run.checkpoints.mkdir(parents=True)
    save_file(state.averaged, run.checkpoints / "weights-0000001.safetensors")

    class Judge:
        def bleu(self, model: torch.nn.Module) -> float:
            return 30.0 if is_raw_better else 10.0

    pretrain._finish(state, loaded, run, Judge(), quiet)
    kept = load_file(run.model)
    expected = state.model.state_dict() if is_raw_better else state.averaged
    assert all(torch.equal(kept[name], expected[name]) for name in kept)


def _further(tmp_path: Path, origin: Path, **changes: str) -> Path:
    """A config that goes on from `origin`, on other text and for so short that the weights hardly move."""
    text = f'start_from = "{origin}"\n' + TINY.replace("toy_seed = 1", "toy_seed = 7").replace(
        "max_steps = 40", "max_steps = 2"
    )
    for old, new in changes.items():
        text = text.replace(old, new)
    path = tmp_path / "further.toml"
    path.write_text(text + "\n")
    return path


def test_a_run_goes_on_from_another_on_other_text(uninterrupted: Path, tmp_path: Path) -> None:
    config = _further(tmp_path, uninterrupted)
    run = _prepared(config, tmp_path / "further")
    assert (run / "tokenizer.model").read_bytes() == (uninterrupted / "tokenizer.model").read_bytes()
    subprocess.run(_pretrain(config, run), check=True, capture_output=True)
    before, after = load_file(uninterrupted / "model.safetensors"), load_file(run / "model.safetensors")
    fresh = pretrain.build_model(load_config(config), RunFolder(run, is_joint=True)).state_dict()
    moved = sum(float((after[name] - before[name]).abs().sum()) for name in after)
    assert 0 < moved < 0.2 * sum(float((fresh[name] - before[name]).abs().sum()) for name in after)
    first, second = (load_description(folder)["training"] for folder in (uninterrupted, run))
    assert second["steps"] == first["steps"] + 2
    assert second["target_words"] > first["target_words"]


def test_a_start_of_other_sizes_or_of_nothing_is_refused(uninterrupted: Path, tmp_path: Path, quiet) -> None:
    other = load_config(_further(tmp_path, uninterrupted, **{"decoder = 24": "decoder = 20"}))
    run = RunFolder.of(other, tmp_path / "other")
    prepare(other, run, console=quiet)
    with pytest.raises(TrainingError, match=r"decoder=24.*decoder=20"):
        pretrain.pretrain(other, run, console=quiet)
    nothing = load_config(_further(tmp_path, tmp_path / "nowhere"))
    with pytest.raises(
        TrainingError, match=r"start_from = .*nowhere: neither a bundle nor a trained run .*model\.safetensors"
    ):
        prepare(nothing, RunFolder.of(nothing, tmp_path / "nothing"), console=quiet)
    assert not (tmp_path / "nothing" / "prepared.json").exists()
    separate = load_config(_further(tmp_path, uninterrupted, **{"vocabulary = 600": "vocabulary = 600\njoint = false"}))
    with pytest.raises(TrainingError, match="missing"):
        prepare(separate, RunFolder.of(separate, tmp_path / "separate"), console=quiet)
