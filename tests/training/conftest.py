"""Runs of the toy language, shared by all tests of the offline half: prepared and trained once a session.

toy_config     training/configs/toy.toml as it ships
prepared_toy   a run that `prepare` has finished; copy it before changing it
toy_run        the same, trained as the config says: above 90 BLEU (a minute or two)
tiny_run       a small model trained for a few updates: it babbles, but everything is there (a few seconds)
"""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

import training
from training.config import Config, load_config
from training.recipes.prepare import prepare
from training.recipes.run_folder import RunFolder

CONFIGS = Path(training.__file__).parent / "configs"


@pytest.fixture(scope="session")
def quiet() -> Console:
    return Console(quiet=True)


@pytest.fixture(scope="session")
def toy_config() -> Config:
    return load_config(CONFIGS / "toy.toml")


@pytest.fixture(scope="session")
def tiny_config(toy_config: Config) -> Config:
    return toy_config.model_copy(
        update={
            "name": "tiny",
            "corpus": toy_config.corpus.model_copy(
                update={"train": (toy_config.corpus.train[0].model_copy(update={"toy": 400}),)}
            ),
            "tokenizer": toy_config.tokenizer.model_copy(update={"vocabulary": 400}),
            "model": toy_config.model.model_copy(
                update={"embedding": 12, "encoder": 10, "decoder": 16, "attention": 8, "readout": 14}
            ),
            "pretrain": toy_config.pretrain.model_copy(
                update={"max_steps": 20, "evaluate_every": 10, "checkpoint_every": 10, "warmup_steps": 2}
            ),
        }
    )


@pytest.fixture(scope="session")
def prepared_toy(toy_config: Config, tmp_path_factory: pytest.TempPathFactory, quiet: Console) -> RunFolder:
    run = RunFolder.of(toy_config, tmp_path_factory.mktemp("runs") / "toy")
    prepare(toy_config, run, console=quiet)
    return run


@dataclass(frozen=True)
class ToyTraining:
    run: RunFolder
    cpu_seconds: float


@pytest.fixture(scope="session")
def toy_training(
    toy_config: Config, prepared_toy: RunFolder, tmp_path_factory: pytest.TempPathFactory, quiet: Console
) -> ToyTraining:
    path = tmp_path_factory.mktemp("runs") / "toy"
    shutil.copytree(prepared_toy.path, path)
    began = time.process_time()
    run = _pretrained(toy_config, path, quiet)
    return ToyTraining(run, cpu_seconds=time.process_time() - began)


@pytest.fixture(scope="session")
def toy_run(toy_training: ToyTraining) -> RunFolder:
    return toy_training.run


@pytest.fixture(scope="session")
def tiny_run(tiny_config: Config, tmp_path_factory: pytest.TempPathFactory, quiet: Console) -> RunFolder:
    path = tmp_path_factory.mktemp("runs") / "tiny"
    prepare(tiny_config, RunFolder.of(tiny_config, path), console=quiet)
    return _pretrained(tiny_config, path, quiet)


def _pretrained(config: Config, path: Path, console: Console) -> RunFolder:
    import torch  # takes a second or two

    from training.recipes.pretrain import pretrain

    run = RunFolder.of(config, path)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        pretrain(config, run, console=console)
    finally:
        torch.set_num_threads(threads)
    return run
