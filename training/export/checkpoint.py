"""What lies beside a bundle for those who train their own actors: the frozen model in fp16, and its actors.

`checkpoint.safetensors` carries the model's description (config, sizes, training facts) in its metadata, and
`actors.safetensors` each actor's in its own, so that the two and the tokenizer are all that a run folder needs.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save, save_file

from training.config import Config
from training.errors import ExportError
from training.export.bundle import MANIFEST_NAME, read_manifest
from training.export.manifest import ActorFacts
from training.export.weights import ModelWeights

CHECKPOINT_NAME = "checkpoint.safetensors"
ACTORS_NAME = "actors.safetensors"
TRAINING_NAME = "training.toml"

# In a run's folder.
MODEL_NAME = "model.safetensors"
DESCRIPTION_NAME = "config.json"
SHIPPED_NAME = "shipped.json"


def pack_model(model: ModelWeights, description: Mapping[str, Any]) -> bytes:
    """Return the model's weights in fp16 with its description."""
    arrays = {
        name: array.astype(np.float16)
        for name, array in model.arrays.items()
        if not (model.is_tied and name == "output.weight")
    }
    return bytes(save(arrays, metadata={"description": json.dumps(description)}))


def pack_actors(actors: Sequence[ActorFacts]) -> bytes:
    """Return all actors' weights, named `<actor>/<parameter>`, with what is known of each."""
    arrays = {}
    facts = {}
    for actor in actors:
        name = actor.weights.name
        arrays[f"{name}/hidden.weight"] = actor.weights.hidden
        arrays[f"{name}/hidden.bias"] = actor.weights.bias
        arrays[f"{name}/output.weight"] = actor.weights.output
        facts[name] = {
            **actor.details,
            "objective": actor.objective,
            "method": actor.method,
            "optimises": actor.optimises,
            "gains": [dict(gain) for gain in actor.gains],
        }
    return bytes(save(arrays, metadata={"actors": json.dumps(facts)}))


def unpack_bundle(bundle: Path, run: Path) -> None:
    """Make a run folder of a shipped bundle: its model, tokenizer and actors, ready for `nudge-train actor`.

    The bundle's manifest comes along as `shipped.json`, so that an export from this folder keeps what was measured.
    Nothing that exists in `run` is overwritten.
    """
    tensors, metadata = _read(bundle / CHECKPOINT_NAME)
    manifest = read_manifest(bundle)
    copied = {*manifest["tokenizer"].values(), *([manifest["known_words"]] if "known_words" in manifest else [])}
    files = {MODEL_NAME, DESCRIPTION_NAME, SHIPPED_NAME, TRAINING_NAME, *copied}
    in_the_way = sorted(name for name in files if (run / name).exists())
    if in_the_way:
        raise ExportError(f"{run} already has {', '.join(in_the_way)}; unpack into a new folder")
    (run / "actors").mkdir(parents=True, exist_ok=True)
    for name in copied:
        shutil.copyfile(bundle / name, run / name)
    shutil.copyfile(bundle / MANIFEST_NAME, run / SHIPPED_NAME)
    if (bundle / TRAINING_NAME).is_file():
        shutil.copyfile(bundle / TRAINING_NAME, run / TRAINING_NAME)
    if (bundle / ACTORS_NAME).is_file():
        _unpack_actors(bundle / ACTORS_NAME, run / "actors")
    description = json.dumps(json.loads(metadata["description"]), indent=2) + "\n"
    (run / DESCRIPTION_NAME).write_text(description, encoding="utf-8")
    # Last, since it is what makes a folder a trained run.
    save_file(tensors, run / MODEL_NAME)


def _unpack_actors(path: Path, folder: Path) -> None:
    tensors, metadata = _read(path)
    for name, facts in json.loads(metadata["actors"]).items():
        prefix = f"{name}/"
        save_file(
            {key.removeprefix(prefix): array for key, array in tensors.items() if key.startswith(prefix)},
            folder / f"{name}.safetensors",
        )
        (folder / f"{name}.json").write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _read(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    try:
        with safe_open(path, framework="np") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise ExportError(f"{path} cannot be read: {error}") from None


def portable_description(config: Config, description: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model's description without the folders of the machine it was trained on."""
    return {**description, "config": _without_folders(config.model_dump(mode="python"))}


def _without_folders(value: Any) -> Any:
    if isinstance(value, Path):
        return value.name
    if isinstance(value, Mapping):
        return {key: _without_folders(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_folders(item) for item in value]
    return value
