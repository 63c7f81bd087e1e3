"""Models and training states on disk.  Every file is written under a temporary name and renamed."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from training.config import Config
from training.errors import TrainingError
from training.nmt.model import ModelSizes, TranslationModel

WEIGHTS = "model.safetensors"
DESCRIPTION = "config.json"


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, and rename it once its bytes are on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        temporary.chmod(0o644)  # some writers leave files that only their owner can read
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def save_model(folder: Path, model: TranslationModel, config: Config, facts: dict[str, Any] | None = None) -> None:
    """Write the weights and, beside them, the config, the sizes and facts about the training."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    description = {"config": config.model_dump(mode="json"), "sizes": vars(model.sizes), "training": facts or {}}
    write_atomically(folder / WEIGHTS, lambda path: save_file(weights, path))
    write_atomically(folder / DESCRIPTION, lambda path: path.write_text(json.dumps(description, indent=2) + "\n"))


def load_model(folder: Path) -> tuple[TranslationModel, Config]:
    """Read what `save_model` wrote; the model is in evaluation mode and frozen."""
    description = load_description(folder)
    model = TranslationModel(ModelSizes(**description["sizes"]))
    weights = load_file(folder / WEIGHTS)
    expected = model.state_dict()
    wrong = sorted(
        name for name in expected.keys() | weights.keys()
        if name not in expected or name not in weights or expected[name].shape != weights[name].shape
    )  # fmt: skip
    if wrong:
        raise TrainingError(f"{folder / WEIGHTS}: parameters that do not fit its {DESCRIPTION}: {', '.join(wrong)}")
    model.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
    return model.eval().requires_grad_(False), Config.model_validate(description["config"])


def load_description(folder: Path) -> dict[str, Any]:
    """Read the facts beside a saved model."""
    for name in (WEIGHTS, DESCRIPTION):
        if not (folder / name).is_file():
            raise TrainingError(f"{folder}: no {name} here; run `nudge-train pretrain` first, or name another --run")
    description: dict[str, Any] = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    return description


def average_weights(paths: list[Path]) -> dict[str, Tensor]:
    """The mean of several weight files."""
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, tensor in load_file(path).items():
            total[name] = total[name] + tensor if name in total else tensor.clone()
    return {name: tensor / len(paths) for name, tensor in total.items()}


def save_state(path: Path, state: dict[str, Any]) -> None:
    """Write a training state to resume from."""
    write_atomically(path, lambda temporary: torch.save(state, temporary))


def load_state(path: Path) -> dict[str, Any]:
    """Read a training state; it holds tensors and plain values only."""
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state
