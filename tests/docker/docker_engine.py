"""Docker as the tests use it.  Nothing is ever pulled: what an image is built from must be there."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]
BASE_IMAGE = "python:3.11-slim"
BUILD_S = 1500
Completed = subprocess.CompletedProcess[str]


def docker(*arguments: object, timeout: float = 120, check: bool = True, **variables: str) -> Completed:
    """Run `docker …` in the repository; a failure shows what docker said."""
    command = ["docker", *map(str, arguments)]
    run = subprocess.run(
        command, cwd=ROOT, env=_environment(variables), capture_output=True, text=True, timeout=timeout, check=False
    )
    if check:
        assert run.returncode == 0, f"{' '.join(command)}:\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}"
    return run


def _environment(variables: dict[str, str]) -> dict[str, str]:
    ours = ("NUDGE_", "COMPOSE_", "LOAD_", "TRAINING_", "LOCUST_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | variables


def has_image(name: str) -> bool:
    return docker("image", "inspect", name, check=False).returncode == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Project:
    """A compose project of a test's own, on a port of its own."""

    name: str
    variables: dict[str, str]
    files: tuple[str, ...] = ("docker-compose.yml",)
    url: str = field(init=False)

    def __post_init__(self) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.variables = {"PUBLISH": f"127.0.0.1:{port}", "TAG": "test", **self.variables}

    def compose(self, *arguments: object, timeout: float = 120, check: bool = True, **variables: str) -> Completed:
        files = [part for name in self.files for part in ("--file", name)]
        everything = self.variables | variables
        return docker(
            "compose", "--project-name", self.name, *files, *arguments, timeout=timeout, check=check, **everything
        )

    def up(self, *arguments: object, **variables: str) -> None:
        """Build what is missing, start it, and wait until it is healthy."""
        options = ("--detach", "--wait", "--build", "--pull", "never")
        run = self.compose("up", *options, *arguments, timeout=BUILD_S, check=False, **variables)
        logs = "" if run.returncode == 0 else self.compose("logs", check=False).stdout
        assert run.returncode == 0, f"{run.stderr[-3000:]}\n{logs[-3000:]}"

    def translate(self, text: str, **parameters: object) -> httpx.Response:
        body = {"q": text, "source": "xa", "target": "xb", **parameters}
        return httpx.post(self.url + "/translate", json=body, timeout=60)

    def inside(self, script: str, service: str = "service", check: bool = True) -> Completed:
        """Run a shell script in a running container."""
        return self.compose("exec", "-T", service, "sh", "-c", script, check=check)


@contextmanager
def running(*arguments: object) -> Iterator[str]:
    """A container started by `docker run`; its name."""
    name = docker("run", "--detach", "--rm", *arguments).stdout.strip()
    try:
        yield name
    finally:
        docker("rm", "--force", name, check=False)
