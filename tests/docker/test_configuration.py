"""What the files of docker/ promise, as far as it can be read off them."""

import re
from pathlib import Path

import pytest
import yaml

from service.settings import Settings

ROOT = Path(__file__).parents[2]
DOCKERFILES = sorted((ROOT / "docker").glob("*.Dockerfile"))
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
OURS = ("service", "load", "training")


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
def test_an_image_is_built_from_one_public_base_and_its_own_stages(path):
    text = path.read_text(encoding="utf-8")
    stages = set(re.findall(r"^FROM \S+ AS (\S+)", text, re.MULTILINE))
    bases = set(re.findall(r"^FROM (\S+)", text, re.MULTILINE))
    assert bases - stages <= {"python:3.11-slim", "scratch"}
    assert "# syntax=" not in text


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
def test_an_image_does_not_run_as_root(path):
    (user,) = re.findall(r"^USER (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert user.split(":")[0] not in ("0", "root")


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_every_container_is_read_only_and_without_privileges(name):
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert any(entry.startswith("/tmp") for entry in service["tmpfs"])


def test_everything_but_the_service_waits_for_its_profile():
    profiles = {name: service.get("profiles") for name, service in COMPOSE["services"].items()}
    assert profiles == {
        "service": None,
        "prometheus": ["monitoring"],
        "grafana": ["monitoring"],
        "load": ["load"],
        "training": ["training"],
    }


def test_every_setting_reaches_the_container():
    passed = {name.removeprefix("NUDGE_").lower() for name in COMPOSE["services"]["service"]["environment"]}
    fixed_in_the_image = {"host", "port", "models"}
    assert passed == set(Settings.model_fields) - fixed_in_the_image


def test_nothing_is_published_beyond_this_host_unless_asked_for():
    published = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]
    assert published
    assert all(port.removeprefix("${PUBLISH:-").startswith("127.0.0.1:") for port in published)


def test_a_container_is_given_longer_to_stop_than_its_requests():
    grace = int(COMPOSE["services"]["service"]["stop_grace_period"].removesuffix("s"))
    assert grace > Settings.model_fields["shutdown_grace_s"].default


def test_the_proxy_waits_longer_than_the_service():
    text = (ROOT / "docker" / "proxy" / "haproxy.cfg").read_text(encoding="utf-8")
    (timeout,) = re.findall(r"^\s*timeout server (\d+)s", text, re.MULTILINE)
    assert int(timeout) > Settings.model_fields["deadline_s"].default
