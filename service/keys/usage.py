"""Characters translated by each key and month, kept in a file so that a restart forgets nothing."""

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from service.errors import QuotaExceeded, StartupError
from service.keys.store import ApiKey, write_atomically

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


class Usage:
    """Counts in memory; `save` writes them when they have changed."""

    def __init__(self, path: Path, clock: Clock = utc_now) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()  # it is saved by another thread than counts
        self._is_dirty = False
        self._characters: dict[str, dict[str, int]] = {}  # month -> key id -> characters
        if path.exists():
            self._characters = _read(path)

    def of(self, key: ApiKey) -> int:
        """Characters of this month."""
        return self._characters.get(self._month(), {}).get(key.id, 0)

    def reserve(self, key: ApiKey, characters: int) -> Callable[[], None]:
        """Count characters before they are translated, or raise QuotaExceeded; returns how to give them back."""
        month, used, limit = self._month(), self.of(key), key.characters_per_month
        if limit and used + characters > limit:
            raise QuotaExceeded(used, limit, self._seconds_to_next_month())
        self._add(month, key.id, characters)
        return lambda: self._add(month, key.id, -characters)

    def save(self) -> None:
        """Write the counts of this month and the one before, if there is anything new."""
        with self._lock:
            if not self._is_dirty:
                return
            self._characters = dict(sorted(self._characters.items())[-2:])
            written = json.dumps(self._characters, indent=2)
            self._is_dirty = False  # what is counted from now on is new again
        try:
            write_atomically(self._path, written)
        except OSError:
            self._is_dirty = True
            raise

    def _add(self, month: str, key_id: str, characters: int) -> None:
        with self._lock:
            counts = self._characters.setdefault(month, {})
            counts[key_id] = counts.get(key_id, 0) + characters
            self._is_dirty = True

    def _month(self) -> str:
        return self._clock().strftime("%Y-%m")

    def _seconds_to_next_month(self) -> float:
        now = self._clock()
        year, month = (now.year + 1, 1) if now.month == 12 else (now.year, now.month + 1)
        return (
            now.replace(year=year, month=month, day=1, hour=0, minute=0, second=0, microsecond=0) - now
        ).total_seconds()


def _read(path: Path) -> dict[str, dict[str, int]]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        return {str(month): {str(key): int(count) for key, count in counts.items()} for month, counts in raw.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise StartupError(f"{path} is not a usage file: {error}. Repair it, or remove it to count from 0.") from error
