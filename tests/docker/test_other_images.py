"""The images of the load test and of the offline half, on a real engine."""

import os

import pytest
from docker_engine import BUILD_S, docker, has_image

pytestmark = [pytest.mark.docker, pytest.mark.timeout(BUILD_S)]


@pytest.mark.parametrize("files", [[], ["--file", "docker-compose.yml", "--file", "docker/scaled.yml"]])
def test_compose_accepts_every_profile(engine, files):
    docker("compose", *files, "--profile", "*", "config", "--quiet")


def test_the_load_test_runs_against_the_service_and_leaves_a_report(start_project, tmp_path):
    project = start_project(LOAD_USERS="3", LOAD_TIME="6s")
    project.compose("--profile", "load", "build", "load", timeout=BUILD_S)
    project.compose("up", "--no-build", "--pull", "never", "load", timeout=300)
    container = project.compose("ps", "--all", "--quiet", "load").stdout.strip()
    exit_code = docker("inspect", "--format", "{{.State.ExitCode}}", container).stdout.strip()
    assert exit_code == "0", docker("logs", container).stdout[-3000:]
    project.compose("cp", "load:/reports/report.html", tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "xa-xb sentence, greedy" in report


def test_the_offline_half_prepares_a_corpus(engine, tmp_path):
    if not has_image("nudge-training:latest"):
        pytest.skip("nudge-training is not built: docker compose build training (it holds PyTorch, and takes a while)")
    (tmp_path / "runs").mkdir()
    docker(
        *("run", "--rm", "--read-only", "--tmpfs", "/tmp", "--user", f"{os.getuid()}:{os.getgid()}"),
        *("--volume", f"{tmp_path / 'runs'}:/nudge/runs", "nudge-training:latest"),
        *("prepare", "--config", "training/configs/toy.toml"),
        timeout=300,
    )
    assert (tmp_path / "runs" / "toy").is_dir()
