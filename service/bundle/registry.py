"""The pairs that are served, kept in step with the models folder while requests are running.

A bundle that appears is loaded beside what is there and takes its place only when it has passed every check; the old
one goes on until its last lease ends, then its engine is drained and closed.  A bad bundle is refused with its reason,
and what was served before stays.  All methods belong to one event loop.
"""

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from service.bundle.errors import BundleRefused, PairNotServed
from service.bundle.folders import Fingerprint, scan
from service.bundle.loader import LoadedPair, load_bundle
from service.engine.types import EngineSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Problem:
    """A bundle that is not served, or not in its newest version, and why."""

    folder: Path
    reason: str


class Served:
    """A loaded pair, and how many requests are using it."""

    def __init__(self, pair: LoadedPair) -> None:
        self.pair = pair
        self.leases = 0
        self.is_idle = asyncio.Event()
        self.is_idle.set()

    async def retire(self) -> None:
        """Wait for the last lease to end, then close the engine."""
        await self.is_idle.wait()
        await self.pair.engine.close(drain=True)


class Lease:
    """Holds a pair for the length of an `async with`; what it holds is not closed meanwhile."""

    def __init__(self, registry: "Registry", source: str, target: str) -> None:
        self._registry = registry
        self._wanted = (source, target)
        self._served: Served | None = None

    async def __aenter__(self) -> LoadedPair:
        served = self._served = self._registry.find(*self._wanted)
        served.leases += 1
        served.is_idle.clear()
        return served.pair

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        served = self._served
        assert served is not None, "a lease is entered before it is left"
        served.leases -= 1
        if not served.leases:
            served.is_idle.set()


class Registry:
    """Every pair of a models folder."""

    def __init__(
        self, models_dir: Path, settings: EngineSettings | None = None, *, reload_interval_s: float = 1.0
    ) -> None:
        self._models_dir = models_dir
        self._settings = settings or EngineSettings()
        self._reload_interval_s = reload_interval_s
        self._served: dict[Path, Served] = {}
        self._problems: dict[Path, Problem] = {}
        self._handled: dict[Path, Fingerprint] = {}  # what each folder looked like when it was last loaded or refused
        self._seen: dict[Path, Fingerprint] = {}  # what the last look found
        self._watching: asyncio.Task[None] | None = None
        self._retiring: set[asyncio.Task[None]] = set()
        self._has_scanned = False

    @property
    def is_ready(self) -> bool:
        """Whether the first scan is over and something can be translated."""
        return self._has_scanned and bool(self._served)

    async def start(self) -> None:
        """Load what is there, then watch the folder (unless the interval is 0)."""
        self._seen = await asyncio.to_thread(self._scan)
        await self.refresh()
        self._has_scanned = True
        if self._reload_interval_s > 0:
            self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Stop watching, let running leases end, drain and close every engine."""
        if self._watching is not None:
            self._watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watching
        for folder in list(self._served):
            self._retire(folder)
        await asyncio.gather(*self._retiring)

    def pairs(self) -> tuple[LoadedPair, ...]:
        """Return what is served now, by language codes.  To translate with one of them, take a lease by `get`."""
        return tuple(sorted((served.pair for served in self._served.values()), key=lambda loaded: loaded.pair))

    def problems(self) -> tuple[Problem, ...]:
        """Return the refused bundles."""
        return tuple(self._problems[folder] for folder in sorted(self._problems))

    def get(self, source: str, target: str) -> Lease:
        """Return a lease on a pair: `async with registry.get("de", "en") as pair`."""
        return Lease(self, source, target)

    def find(self, source: str, target: str) -> Served:
        """Return what serves a pair, or raise `PairNotServed`."""
        for served in self._served.values():
            if served.pair.pair == (source, target):
                return served
        raise PairNotServed(source, target, tuple(loaded.pair for loaded in self.pairs()))

    async def refresh(self) -> None:
        """Look at the folder once and act on what has changed and come to rest.

        A folder must look the same twice in a row: one that is being copied is not touched, and one that is missing for
        the moment of a rename is not given up.
        """
        found = await asyncio.to_thread(self._scan)
        settled = {folder: mark for folder, mark in found.items() if self._seen.get(folder) == mark}
        changed = [folder for folder, mark in settled.items() if self._handled.get(folder) != mark]
        gone = [folder for folder in {*self._handled} if folder not in found and folder not in self._seen]
        self._seen = found
        for folder in gone:
            self._forget(folder)
        await asyncio.gather(*(self._load(folder, settled[folder]) for folder in changed))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._reload_interval_s)
            try:
                await self.refresh()
            except Exception:
                logger.exception("looking for changed bundles failed; trying again")

    def _scan(self) -> dict[Path, Fingerprint]:
        return scan(self._models_dir)

    async def _load(self, folder: Path, fingerprint: Fingerprint) -> None:
        try:
            pair = await asyncio.to_thread(load_bundle, folder, self._settings)
        except BundleRefused as refused:
            self._handled[folder] = fingerprint
            self._problems[folder] = Problem(folder, refused.reason)
            logger.error("bundle refused: %s", refused)
            return
        except Exception as error:  # a bug of ours must not take the other pairs down
            self._handled[folder] = fingerprint
            self._problems[folder] = Problem(folder, f"loading it failed: {error}")
            logger.exception("bundle %s could not be loaded", folder.name)
            return
        if (await asyncio.to_thread(self._scan)).get(folder) != fingerprint:
            # Replaced while it was being read: what was loaded may be a mixture.
            await pair.engine.close(drain=False)
            return
        self._handled[folder] = fingerprint
        self._problems.pop(folder, None)
        self._retire(folder)
        self._served[folder] = Served(pair)
        logger.info("bundle %s %s is served", folder.name, pair.manifest.version)

    def _forget(self, folder: Path) -> None:
        del self._handled[folder]
        self._problems.pop(folder, None)
        if folder in self._served:
            logger.info("bundle %s was removed", folder.name)
            self._retire(folder)

    def _retire(self, folder: Path) -> None:
        served = self._served.pop(folder, None)
        if served is not None:
            task = asyncio.create_task(served.retire())
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)
