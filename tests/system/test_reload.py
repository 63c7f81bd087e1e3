"""A bundle is added, replaced, broken and removed while requests are running; none is dropped."""

import json
import shutil
import threading

import httpx
import pytest


@pytest.fixture
def models(toy_models, tmp_path):
    folder = tmp_path / "models"
    shutil.copytree(toy_models / "xa-xb", folder / "xa-xb")
    return folder


def put(models, source, version):
    """Install a bundle as an operator should: beside its place, then renamed into it."""
    fresh = models / f".fresh-{version}"
    shutil.copytree(source / "xa-xb", fresh)
    manifest = json.loads((fresh / "manifest.json").read_text())
    (fresh / "manifest.json").write_text(json.dumps(manifest | {"version": version}))
    old = models / ".old"
    (models / "xa-xb").rename(old)
    fresh.rename(models / "xa-xb")
    shutil.rmtree(old)


class Traffic:
    """Callers who never stop asking."""

    def __init__(self, server, callers=4):
        self.failures = []
        self.models = set()
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(server.url,)) for _ in range(callers)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, url):
        with httpx.Client(timeout=60) as client:
            while not self._is_over.is_set():
                response = client.post(
                    url + "/translate", json={"q": "Ta netu.", "source": "xa", "target": "xb", "decoder": "beam"}
                )
                if response.status_code != 200:
                    self.failures.append(response.text)
                else:
                    self.models.add(response.json()["model"])


def test_a_replaced_bundle_is_picked_up_without_a_dropped_request(start_server, models, toy_models):
    server = start_server(models, reload_interval_s=0.2)
    with Traffic(server) as traffic:
        put(models, toy_models, "9.9.9")
        server.wait_until(lambda: "xa-xb 9.9.9" in traffic.models, 30)
        put(models, toy_models, "9.9.10")
        server.wait_until(lambda: "xa-xb 9.9.10" in traffic.models, 30)
    assert traffic.failures == []
    assert server.translate("Ta netu.")["model"] == "xa-xb 9.9.10"


def test_a_broken_bundle_is_refused_with_its_reason_and_the_old_one_goes_on(start_server, models, toy_models):
    server = start_server(models, reload_interval_s=0.2)
    before = server.translate("Ta netu.")
    with Traffic(server) as traffic:
        step = models / "xa-xb" / "step.onnx"
        step.write_bytes(step.read_bytes()[:-100])
        server.wait_until(lambda: bool(server.get("/ready").json()["refused"]), 30)
        (refused,) = server.get("/ready").json()["refused"]
        assert refused["bundle"] == "xa-xb"
        assert "step.onnx" in refused["reason"]
        put(models, toy_models, "9.9.9")
        server.wait_until(lambda: "xa-xb 9.9.9" in traffic.models, 30)
    assert traffic.failures == []
    assert server.get("/ready").json()["refused"] == []
    assert server.translate("Ta netu.")["translatedText"] == before["translatedText"]


def test_a_removed_bundle_is_no_longer_served_and_comes_back(start_server, models, toy_models):
    server = start_server(models, reload_interval_s=0.2)
    shutil.rmtree(models / "xa-xb")
    server.wait_until(lambda: server.get("/ready").status_code == 503, 30)
    response = server.post("/translate", json={"q": "a", "target": "xb"})
    assert (response.status_code, response.json()["code"]) == (503, "not_ready")
    assert "retry-after" in response.headers
    assert server.get("/health").status_code == 200
    shutil.copytree(toy_models / "xa-xb", models / "xa-xb")
    server.wait_until(lambda: server.get("/ready").status_code == 200, 30)
    assert server.translate("Ta netu.")["translatedText"]


def test_a_service_whose_only_bundle_is_bad_is_alive_but_not_ready(start_server, models):
    (models / "xa-xb" / "golden.jsonl").write_text("{}")
    server = start_server(models, wait=False)
    server.wait_until(lambda: "golden.jsonl" in server.get("/ready").text, 30)
    assert server.get("/ready").status_code == 503
    assert server.get("/health").status_code == 200


def test_stopping_finishes_what_is_running(start_server, toy_sentences):
    server = start_server()
    text = " ".join(toy_sentences(120, seed=90))
    answers = []

    def ask():
        body = {"q": text, "source": "xa", "target": "xb", "decoder": "beam"}
        answers.append(httpx.post(server.url + "/translate", json=body, timeout=60).status_code)

    caller = threading.Thread(target=ask)
    caller.start()
    server.wait_until(lambda: server.metric("nudge_active_rows") > 0)
    assert server.stop() == 0
    caller.join()
    assert answers == [200]
