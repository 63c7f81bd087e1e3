"""A service of our own to put under load: `nudge serve` in a process of its own, on a free port of this machine."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]
SHIPPED_MODELS = ROOT / "models"
TOY_MODELS = ROOT / "tests" / "fixtures" / "models"
START_S = 120.0
STOP_S = 60.0


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A service that is ready."""

    url: str
    pid: int

    def cpu_seconds(self) -> float:
        """CPU time of all its threads so far: unlike the clock, hardly disturbed by what else the machine does."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def default_models() -> Path:
    """The shipped bundles; the toy bundle of the tests where none is shipped."""
    return SHIPPED_MODELS if any(SHIPPED_MODELS.glob("*/manifest.json")) else TOY_MODELS


@contextlib.contextmanager
def local_server(models: Path, log_path: Path) -> Iterator[LocalServer]:
    """A service of these bundles.  Settings in the environment (NUDGE_…) hold, so they can be compared."""
    # Beside this interpreter, for it may not be on the path.
    command = [str(Path(sys.executable).parent / "nudge"), "serve", "--host", "127.0.0.1", "--port", "0"]
    environment = os.environ | {"NUDGE_MODELS": str(models), "NUDGE_LOG_FORMAT": "json", "NUDGE_LOG_LEVEL": "info"}
    log_path.parent.mkdir(parents=True, exist_ok=True)
    with log_path.open("wb") as log:
        process = subprocess.Popen([*command, "--models", str(models)], stdout=log, stderr=log, env=environment)
    try:
        yield LocalServer(_wait_until_ready(process, log_path), process.pid)
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], log_path: Path) -> str:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"the service ended before it was ready:\n{log_path.read_text()[-2000:]}")
        url = _address(log_path)
        if url and _is_ready(url):
            return url
        time.sleep(0.05)
    raise SystemExit(f"the service was not ready after {START_S:g} s:\n{log_path.read_text()[-2000:]}")


def _address(log_path: Path) -> str | None:
    for line in log_path.read_text(encoding="utf-8", errors="replace").splitlines():
        if '"listening"' in line:
            return str(json.loads(line)["address"])
    return None


def _is_ready(url: str) -> bool:
    try:
        with urlopen(f"{url}/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
