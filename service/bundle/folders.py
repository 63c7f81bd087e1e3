"""What lies in the models folder right now, told apart by names, sizes and times; nothing is read."""

import os
from pathlib import Path

from service.bundle.manifest import MANIFEST_NAME

# (name, size, modification time, inode) of every file: any copy, edit or rename of the folder changes it.
Fingerprint = tuple[tuple[str, int, int, int], ...]


def scan(models_dir: Path) -> dict[Path, Fingerprint]:
    """Return the folders that look like bundles.

    A folder whose name begins with a dot is somebody's unfinished work, and one without a manifest is no bundle (yet).
    """
    found: dict[Path, Fingerprint] = {}
    with os.scandir(models_dir) as entries:
        for entry in entries:
            if entry.name.startswith(".") or not entry.is_dir():
                continue
            fingerprint = _fingerprint(Path(entry.path))
            if any(name == MANIFEST_NAME for name, *_ in fingerprint):
                found[Path(entry.path)] = fingerprint
    return found


def _fingerprint(folder: Path) -> Fingerprint:
    facts = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                status = entry.stat()
                facts.append((entry.name, status.st_size, status.st_mtime_ns, status.st_ino))
    except OSError:  # it is being replaced or removed under our eyes: look again next time
        return ()
    return tuple(sorted(facts))
