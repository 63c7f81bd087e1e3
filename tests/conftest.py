"""Real parts for every test that needs them: the toy bundle, and server processes that serve it over HTTP."""

import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

TOY_MODELS = Path(__file__).parent / "fixtures" / "models"
NUDGE = Path(sys.executable).parent / "nudge"


@dataclass
class Server:
    """A running `nudge serve`."""

    url: str
    process: subprocess.Popen[bytes]
    log_path: Path

    def get(self, path: str, **arguments) -> httpx.Response:
        return httpx.get(self.url + path, timeout=60, **arguments)

    def post(self, path: str, **arguments) -> httpx.Response:
        return httpx.post(self.url + path, timeout=60, **arguments)

    def translate(self, q, **parameters) -> dict:
        """The answer to a JSON request from xa to xb, which must succeed."""
        response = self.post("/translate", json={"q": q, "source": "xa", "target": "xb", **parameters})
        assert response.status_code == 200, response.text
        return response.json()

    def metric(self, name: str, **labels: str) -> float:
        """The value of a metric, 0 if it is not there; labels that are not named are summed over."""
        total = 0.0
        for line in self.get("/metrics").text.splitlines():
            if line.startswith((name + "{", name + " ")) and all(f'{k}="{v}"' in line for k, v in labels.items()):
                total += float(line.rsplit(" ", 1)[1])
        return total

    def wait_until(self, claim: Callable[[], bool], seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while not claim():
            assert time.monotonic() < deadline, f"not true after {seconds} s; log:\n{self.log()[-2000:]}"
            time.sleep(0.05)

    def log(self) -> str:
        return self.log_path.read_text()

    def log_lines(self) -> list[dict]:
        return [json.loads(line) for line in self.log().splitlines()]

    def stop(self) -> int:
        """Ask it to stop, as an orchestrator would; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser's tests come last: playwright leaves an event loop running, in which `asyncio.run` would refuse."""
    items.sort(key=lambda item: item.path.parent.name == "browser")


@pytest.fixture(scope="session")
def toy_models() -> Path:
    """The folder with the toy bundle xa-xb."""
    assert (TOY_MODELS / "xa-xb" / "manifest.json").is_file(), f"no toy bundle in {TOY_MODELS}"
    return TOY_MODELS


@pytest.fixture(scope="session")
def start_server(toy_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Starts servers with settings of the test's own; all are stopped at the end."""
    servers: list[Server] = []

    def start(models: Path = toy_models, *, wait: bool = True, **settings: object) -> Server:
        log_path = tmp_path_factory.mktemp("server") / "log.jsonl"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NUDGE_")}
        environment |= {f"NUDGE_{name.upper()}": str(value) for name, value in settings.items()}
        environment |= {"NUDGE_MODELS": str(models), "OMP_NUM_THREADS": "1"}
        with log_path.open("wb") as log:
            process = subprocess.Popen(
                [NUDGE, "serve", "--port", "0"], stderr=log, stdout=log, env=environment, preexec_fn=_end_with_parent
            )
        server = Server("", process, log_path)
        servers.append(server)

        def is_listening() -> bool:
            assert process.poll() is None, f"the server ended: {server.log()}"
            found = [line for line in server.log().splitlines() if '"listening"' in line]
            if found and not server.url:
                server.url = json.loads(found[0])["address"]
            return bool(found)

        server.wait_until(is_listening, 60)
        server.wait_until(lambda: _answers(server, "/ready" if wait else "/health"), 60)
        return server

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait(timeout=60)


@pytest.fixture(scope="session")
def server(start_server: Callable[..., Server]) -> Server:
    """One server with the default settings, for every test that does not change it."""
    return start_server()


@pytest.fixture(scope="session")
def toy_sentences(toy_models: Path) -> Callable[..., list[str]]:
    """Makes sentences of the toy language, the same ones for the same seed."""
    golden = (toy_models / "xa-xb" / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    words = {word.strip(".!?").lower() for line in golden for word in json.loads(line)["text"].split()}
    words = sorted(word for word in words if word.isalpha())

    def make(count: int, seed: int = 0, longest: int = 12) -> list[str]:
        dice = random.Random(seed)
        return [" ".join(dice.choices(words, k=dice.randint(1, longest))).capitalize() + "." for _ in range(count)]

    return make


def _end_with_parent() -> None:
    """Runs in the server's process: should the tests be killed, their servers end too (where the system can do it)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _answers(server: Server, path: str) -> bool:
    assert server.process.poll() is None, f"the server ended: {server.log()}"
    try:
        return httpx.get(server.url + path, timeout=60).status_code == 200
    except httpx.TransportError:
        return False
