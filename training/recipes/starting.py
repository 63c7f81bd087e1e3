"""A model that another training left, as the starting point of a run: further training, on the same text or on other.

`prepare` copies it into the run, so that the run needs nothing but its own folder from then on; `pretrain` loads it.
"""

import shutil
from pathlib import Path

from training.errors import TrainingError
from training.export.bundle import MANIFEST_NAME
from training.export.checkpoint import unpack_bundle
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


def _parts(run: RunFolder) -> list[Path]:
    return [run.model, run.config, *sorted({run.source_tokenizer, run.target_tokenizer})]
