"""Write a bundle: complete and checked under a temporary name, then renamed, so that no reader sees half of one."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from training.errors import ExportError
from training.export.manifest import BundleFacts, make_manifest

MANIFEST_NAME = "manifest.json"
ENCODER_NAME = "encoder.onnx"
STEP_NAME = "step.onnx"
GOLDEN_NAME = "golden.jsonl"
CARD_NAME = "MODEL_CARD.md"
WORDS_NAME = "known_words.txt"


def write_bundle(
    folder: Path,
    facts: BundleFacts,
    files: Mapping[str, bytes],
    *,
    created: datetime,
    beside: Mapping[str, bytes] | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Write `files` and their manifest to `folder` and return the manifest.

    `beside` holds what lies in the folder but is not loaded by the service and so not in the manifest.  An existing
    folder is replaced only with `force`, and only after the new one is complete on disk.
    """
    refuse_to_overwrite(folder, force)
    manifest = make_manifest(facts, files, created)
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"

    folder.parent.mkdir(parents=True, exist_ok=True)
    # A leading dot keeps a service that watches the parent from taking the unfinished folder for a bundle.
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.partial-", dir=folder.parent))
    try:
        for name, data in {**files, **(beside or {}), MANIFEST_NAME: text.encode()}.items():
            _write_durably(partial / name, data)
        partial.chmod(0o755)
        _move_into_place(partial, folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return manifest


def refuse_to_overwrite(folder: Path, force: bool) -> None:
    """Raise `ExportError` when `folder` must not be replaced: it exists and `force` is off, or it is no bundle."""
    if folder.exists() and not force:
        raise ExportError(f"{folder} exists already; choose another folder with --out, or replace it with --force")
    if folder.exists() and not (folder / MANIFEST_NAME).is_file():
        raise ExportError(f"{folder} is not a bundle (it has no {MANIFEST_NAME}), so --force will not replace it")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a bundle on disk."""
    path = folder / MANIFEST_NAME
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ExportError(f"{folder} is not a bundle: it has no {MANIFEST_NAME}") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ExportError(f"{path} is not JSON: {error}") from None
    return manifest


def _write_durably(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _move_into_place(partial: Path, folder: Path) -> None:
    """Rename; a folder that is in the way is set aside first and put back should the second rename fail."""
    if not folder.exists():
        partial.rename(folder)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.replaced-", dir=folder.parent))
    folder.rename(aside)
    try:
        partial.rename(folder)
    except OSError:
        aside.rename(folder)
        raise
    shutil.rmtree(aside)
