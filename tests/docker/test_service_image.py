"""`docker compose up` on a real engine: the image of the service is built, started, used and stopped."""

import time

import httpx
import pytest
from docker_engine import BUILD_S, docker, running

pytestmark = [pytest.mark.docker, pytest.mark.timeout(BUILD_S)]

MAX_IMAGE_BYTES = 400e6


@pytest.fixture(scope="module")
def project(start_project):
    return start_project()


def container_of(project, service="service"):
    return project.compose("ps", "--all", "--quiet", service).stdout.strip()


def test_it_translates_and_shows_its_page(project):
    answer = project.translate("Ta netu.", objective="bleu")
    assert answer.status_code == 200, answer.text
    assert answer.json()["translatedText"]
    assert answer.json()["objective"] == "bleu"
    page = httpx.get(project.url + "/", timeout=60)
    assert (page.status_code, page.headers["content-type"].split(";")[0]) == (200, "text/html")


def test_it_is_healthy_once_its_models_are_loaded(project):
    health = docker("inspect", "--format", "{{.State.Health.Status}}", container_of(project))
    assert health.stdout.strip() == "healthy"


def test_it_runs_as_nobody_in_particular_and_cannot_write(project):
    assert project.inside("id -u").stdout.strip() == "10001"
    status = project.inside("cat /proc/1/status").stdout
    assert "CapEff:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    for place in ("/venv/x", "/models/x", "/x"):
        refused = project.inside(f"touch {place}", check=False)
        assert refused.returncode != 0
        assert "Read-only file system" in refused.stderr
    project.inside("touch /tmp/x /state/x")


def test_the_image_is_small_and_holds_the_service_alone(project):
    size = int(docker("image", "inspect", "--format", "{{.Size}}", "nudge:test").stdout)
    assert size < MAX_IMAGE_BYTES, f"{size / 1e6:.0f} MB"
    for module in ("torch", "training", "pip"):
        assert "No module named" in project.inside(f"/venv/bin/python -c 'import {module}'", check=False).stderr


def test_keys_are_made_in_the_container_and_kept_in_its_volume(project):
    made = project.compose(
        "run", "--rm", "-T", "service", "nudge", "keys", "add", "alice", "--file", "/state/keys.json"
    )
    key = made.stdout.strip()
    project.up(NUDGE_KEYS_FILE="/state/keys.json")
    assert project.translate("Ta netu.").status_code == 403
    assert project.translate("Ta netu.", api_key=key).status_code == 200


def test_a_setting_from_the_environment_holds(project):
    project.up(NUDGE_MAX_CHARACTERS="5")
    answer = project.translate("Ta netu.")
    assert (answer.status_code, answer.json()["code"]) == (400, "text_too_long")


def test_a_bad_setting_stops_the_container_and_says_so(project):
    run = project.compose("run", "--rm", "-T", "service", check=False, NUDGE_SLOTS="many")
    assert run.returncode == 1
    assert "slots" in run.stderr


def test_it_stops_cleanly_when_told(project):
    project.up()
    container = container_of(project)
    began = time.monotonic()
    project.compose("stop")
    assert time.monotonic() - began < 30
    assert docker("inspect", "--format", "{{.State.ExitCode}}", container).stdout.strip() == "0"


def test_an_image_with_baked_in_bundles_needs_no_mount(engine, toy_models):
    target = ("--file", "docker/service.Dockerfile", "--target", "shipped", "--tag", "nudge-shipped:test")
    docker("build", "--pull=false", *target, "--build-context", f"bundles={toy_models}", ".", timeout=BUILD_S)
    with running("--read-only", "--tmpfs", "/tmp", "--publish", "127.0.0.1::8000", "nudge-shipped:test") as container:
        address = docker("port", container, "8000").stdout.strip()
        deadline = time.monotonic() + 120
        while docker("inspect", "--format", "{{.State.Health.Status}}", container).stdout.strip() != "healthy":
            assert time.monotonic() < deadline, docker("logs", container).stderr
            time.sleep(0.5)
        assert httpx.get(f"http://{address}/ready", timeout=30).json()["pairs"] == ["xa-xb"]
