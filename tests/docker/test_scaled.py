"""Several replicas behind the proxy: all of them work, and a change of their number loses no request."""

import threading
import time

import pytest
from docker_engine import BUILD_S, has_image

pytestmark = [pytest.mark.docker, pytest.mark.timeout(BUILD_S)]

PROXY_IMAGE = "haproxy:3.2-alpine"
FILES = ("docker-compose.yml", "docker/scaled.yml")


@pytest.fixture(scope="module")
def project(engine, start_project):
    if not has_image(PROXY_IMAGE):
        pytest.skip(f"the engine has no image {PROXY_IMAGE}, and tests never pull one")
    return start_project("--scale", "service=3", files=FILES)


def served_by_each(project) -> list[int]:
    """How many translations each replica has made."""
    script = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:8000/metrics').read().decode())"
    counts = []
    for index in (1, 2, 3):
        run = project.compose("exec", "-T", "--index", index, "service", "python", "-c", script)
        lines = [line for line in run.stdout.splitlines() if line.startswith("nudge_finished_sentences_total")]
        counts.append(int(sum(float(line.rsplit(" ", 1)[1]) for line in lines)))
    return counts


def test_every_replica_gets_its_share(project):
    for _ in range(30):
        assert project.translate("Ta netu.").status_code == 200
    # By turns, as long as all are equally free; each also replayed the bundle's examples when it loaded.
    counts = served_by_each(project)
    assert min(counts) >= 5


def test_no_request_is_lost_when_replicas_come_and_go(project):
    failures: list[str] = []
    answers: list[int] = []
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.is_set():
            try:
                answer = project.translate("Ta netu.", decoder="beam")
                answers.append(answer.status_code)
                if answer.status_code != 200:
                    failures.append(answer.text)
            except Exception as error:
                failures.append(repr(error))

    callers = [threading.Thread(target=ask) for _ in range(3)]
    for caller in callers:
        caller.start()
    try:
        for replicas in (1, 2):
            project.up("--no-recreate", "--scale", f"service={replicas}")
            time.sleep(2)
    finally:
        is_over.set()
        for caller in callers:
            caller.join()
    assert failures == [], project.compose("logs", "--timestamps", "proxy").stdout[-6000:]
    assert len(answers) > 10


def test_a_replica_is_told_who_calls(project):
    """The proxy passes the caller's address on, so that limits by address are not spent by all callers together."""
    project.up("--scale", "service=1", NUDGE_REQUESTS_PER_MINUTE="1")
    assert [project.translate("Ta netu.").status_code for _ in range(2)] == [200, 429]
