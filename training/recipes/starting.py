"""A model that another training left, as the starting point of a run: further training, on the same text or on other.

`prepare` copies it into the run, so that the run needs nothing but its own folder from then on.
"""

import shutil
from pathlib import Path
from typing import Any

from training.config import Config
from training.errors import TrainingError
from training.export.bundle import MANIFEST_NAME
from training.export.checkpoint import unpack_bundle
from training.nmt.checkpoint import load_description, load_model
from training.nmt.model import TranslationModel
from training.recipes.run_folder import RunFolder


def fetch_start(origin: Path, run: RunFolder) -> None:
    """Copy the model of `origin`, a trained run or a bundle, to `run.start`, and its subwords to `run`."""
    start = run.start
    if (origin / MANIFEST_NAME).is_file():
        unpack_bundle(origin, start.path)
    else:
        given = RunFolder(origin, run.is_joint)
        missing = [path.name for path in _parts(given) if not path.is_file()]
        if missing:
            raise TrainingError(
                f"start_from = {origin}: neither a bundle nor a trained run with these subwords ({', '.join(missing)} "
                "missing); finish its pretraining first"
            )
        start.path.mkdir()
        for path in _parts(given):
            shutil.copyfile(path, start.path / path.name)
    for path in {start.source_tokenizer, start.target_tokenizer}:
        if not path.is_file():
            raise TrainingError(f"start_from = {origin}: its subwords are joint or not, and the config's are otherwise")
        shutil.copyfile(path, run.path / path.name)


def load_start(model: TranslationModel, run: RunFolder) -> None:
    """Give `model` the weights of the run's starting point."""
    given, _ = load_model(run.start.path)
    if given.sizes != model.sizes:
        raise TrainingError(f"the model to start from has {given.sizes}, the config asks for {model.sizes}")
    model.load_state_dict(given.state_dict())


def facts_of_start(config: Config, run: RunFolder) -> dict[str, Any]:
    """Return the facts of the training that this run goes on from, as `save_model` wrote them; none: an empty dict."""
    if config.start_from is None:
        return {}
    facts: dict[str, Any] = load_description(run.start.path)["training"]
    return facts


def _parts(run: RunFolder) -> list[Path]:
    return [run.model, run.config, *sorted({run.source_tokenizer, run.target_tokenizer})]
