"""Going on from a bundle: what a user has who never saw the run it came from."""

from pathlib import Path

import pytest
import torch
from rich.console import Console

from training.config import Config
from training.errors import TrainingError
from training.nmt.checkpoint import load_model
from training.recipes.prepare import prepare
from training.recipes.pretrain import build_model, facts_of_start, load_start
from training.recipes.run_folder import RunFolder
from training.tokenizer.subwords import Subwords

BUNDLE = Path(__file__).resolve().parents[2] / "fixtures" / "models" / "xa-xb"


def test_a_bundle_gives_its_weights_its_subwords_and_its_facts(
    toy_config: Config, tmp_path: Path, quiet: Console
) -> None:
    config = toy_config.model_copy(update={"start_from": BUNDLE})
    run = RunFolder.of(config, tmp_path / "run")
    prepare(config, run, console=quiet)
    assert run.source_tokenizer.read_bytes() == (BUNDLE / "tokenizer.model").read_bytes()
    model = build_model(config, run)
    load_start(model, run)
    shipped, _ = load_model(run.start.path)
    assert all(torch.equal(weights, model.state_dict()[name]) for name, weights in shipped.state_dict().items())
    assert facts_of_start(config, run)["steps"] > 0
    assert facts_of_start(toy_config, run) == {}


def test_subwords_may_space_openings_from_now_on_and_then_always_do(
    toy_config: Config, tmp_path: Path, quiet: Console
) -> None:
    spaced = toy_config.tokenizer.model_copy(update={"spaced_openings": True})
    config = toy_config.model_copy(update={"start_from": BUNDLE, "tokenizer": spaced})
    run = RunFolder.of(config, tmp_path / "run")
    prepare(config, run, console=quiet)
    subwords, before = Subwords.load(run.source_tokenizer), Subwords.load(BUNDLE / "tokenizer.model")
    assert (subwords.has_spaced_openings, before.has_spaced_openings) == (True, False)
    assert len(subwords) == len(before)
    (run.path / "model.safetensors").write_bytes((run.start.path / "model.safetensors").read_bytes())
    (run.path / "config.json").write_bytes((run.start.path / "config.json").read_bytes())
    with pytest.raises(TrainingError, match=r"set tokenizer\.spaced_openings = true"):
        prepare(
            toy_config.model_copy(update={"start_from": run.path}), RunFolder.of(config, tmp_path / "on"), console=quiet
        )
