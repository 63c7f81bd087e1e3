"""A real Docker engine, where one answers, and compose projects that serve the toy bundle on it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from docker_engine import BASE_IMAGE, Project, docker, has_image


@pytest.fixture(scope="session")
def engine() -> None:
    """Skips where no engine answers, or where building would have to pull."""
    try:
        answers = docker("version", timeout=30, check=False).returncode == 0
        has_compose = docker("compose", "version", timeout=30, check=False).returncode == 0
    except (FileNotFoundError, subprocess.TimeoutExpired):
        pytest.skip("no Docker engine answers: the `docker` command is missing or silent")
    if not answers:
        pytest.skip("no Docker engine answers `docker version`")
    if not has_compose:
        pytest.skip("this Docker has no compose plugin")
    if not has_image(BASE_IMAGE):
        pytest.skip(f"the engine has no image {BASE_IMAGE}, and tests never pull one")


@pytest.fixture(scope="module")
def start_project(engine: None, toy_models: Path) -> Iterator[Callable[..., Project]]:
    """Starts compose projects that serve the toy bundle; all are removed at the end, with their volumes."""
    projects: list[Project] = []

    def start(*arguments: object, files: tuple[str, ...] = ("docker-compose.yml",), **variables: str) -> Project:
        name = f"nudge-test-{os.getpid()}-{len(projects)}"
        project = Project(name, {"MODELS": str(toy_models), **variables}, files)
        projects.append(project)
        project.up(*arguments)
        return project

    yield start
    for project in projects:
        project.compose("--profile", "*", "down", "--volumes", "--remove-orphans", check=False)
