"""Who may call now: the key, the requests of the last minute, the characters of the month."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from service.errors import InvalidKey, RateLimited, StartupError
from service.keys.store import ApiKey, KeyStore
from service.keys.usage import Usage
from service.settings import Settings

log = structlog.get_logger("nudge.keys")

_LOOK_AGAIN_S = 1.0


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling: `name` tells callers apart for fairness, `key` is None without one."""

    name: str
    key: ApiKey | None = None


class Gate:
    """Checks callers.  Without a key file everybody may call, within the limit for addresses."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store = KeyStore(settings.keys_file) if settings.keys_file else None
        self._usage = None
        if settings.keys_file:
            self._usage = Usage(settings.usage_file or settings.keys_file.with_suffix(".usage.json"))
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._looked_at = time.monotonic()

    @property
    def has_keys(self) -> bool:
        return self._store is not None

    @property
    def needs_key(self) -> bool:
        return self._store is not None and self._settings.key_required

    def identify(self, token: str | None, address: str) -> Caller:
        """The caller behind a key or an address; InvalidKey if there should be a good key and is none."""
        if self._store is None:
            return Caller(f"address:{address}")
        self._look_again(self._store)
        key = self._store.find(token) if token else None
        if key is None and (token or self._settings.key_required):
            raise InvalidKey(was_given=bool(token))
        return Caller(f"key:{key.id}", key) if key else Caller(f"address:{address}")

    def admit(self, caller: Caller) -> None:
        """Count a request of this caller, or raise RateLimited."""
        per_minute = caller.key.requests_per_minute if caller.key else self._settings.requests_per_minute
        if not per_minute:
            return
        limit = RateLimitItemPerMinute(per_minute)
        if not self._limiter.hit(limit, caller.name):
            reset_at = self._limiter.get_window_stats(limit, caller.name).reset_time
            raise RateLimited(per_minute, retry_after_s=max(1.0, reset_at - time.time()))

    def reserve(self, caller: Caller, characters: int) -> Callable[[], None]:
        """Count characters against the caller's quota, or raise QuotaExceeded; returns how to give them back."""
        if caller.key is None or self._usage is None:
            return lambda: None
        return self._usage.reserve(caller.key, characters)

    def used(self, caller: Caller) -> int:
        """Characters of this month."""
        return self._usage.of(caller.key) if caller.key and self._usage else 0

    def save(self) -> None:
        """Write what was used to disk; a disk that refuses costs nobody an answer."""
        try:
            if self._usage is not None:
                self._usage.save()
        except OSError as error:
            log.error("usage_not_saved", problem=str(error))

    def _look_again(self, store: KeyStore) -> None:
        """Notice new and revoked keys, at most once a second."""
        now = time.monotonic()
        if now - self._looked_at < _LOOK_AGAIN_S:
            return
        self._looked_at = now
        try:
            store.reload()
        except (StartupError, OSError) as error:
            log.error("keys_not_reloaded", problem=str(error))
