"""A short run of `make load` on the toy bundle, and services with a fault that it must find."""

import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from soak_verdict import Memory, Verdict

SCRIPT = Path(__file__).parent / "soak.py"
# Two seconds are too short to judge the memory of a service that has just started.
SHORT = ["--minutes", "0.05", "--warm-up", "0.5", "--callers", "6", "--sentences", "4", "--max-growth", "0.5"]


def run_soak(out: Path, *options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, "--out", out, *SHORT, *options]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, check=False)


def test_a_sound_service_passes(toy_models, tmp_path):
    run = run_soak(tmp_path, "--models", toy_models)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "good: every answer was as if given alone" in run.stdout
    results = json.loads((tmp_path / "load.json").read_text())
    assert results["answers"] > 0
    assert results["errors"] == results["mismatches"] == []


ANSWER = {
    "translatedText": "Guten Tag",
    "score": -0.1,
    "confidence": 0.9,
    "truncated": False,
    "repetitive": False,
    "objective": "none",
    "source": "de",
    "model": "de-en 1.0.0",
}
OBJECTIVES = {
    "pairs": [
        {
            "source": "de",
            "target": "en",
            "model": {"name": "de-en", "version": "1.0.0"},
            "objectives": [{"name": "none"}],
        }
    ]
}
ALONE = 12  # four sentences in three ways, before the callers come


@contextmanager
def faulty_service(
    answer: Callable[[int], tuple[int, dict]], megabytes: Callable[[int], float] = lambda _: 100
) -> Iterator[str]:
    """A service that answers the n-th translation and tells its memory for the n-th time as it likes."""
    translations, looks = itertools.count(1), itertools.count(1)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path == "/metrics":
                self._say(200, f"process_resident_memory_bytes {1e6 * megabytes(next(looks))}\n".encode())
            else:
                self._say(200, json.dumps(OBJECTIVES).encode())

        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["q"]
            status, body = answer(next(translations))
            if isinstance(texts, list):
                body = {name: [value] * len(texts) for name, value in body.items()}
            self._say(status, json.dumps(body).encode())

        def _say(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # callers hang up on purpose
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_one_answer_that_differs_from_the_one_given_alone_fails_the_run(tmp_path):
    def answer(number: int) -> tuple[int, dict]:
        return 200, ANSWER | ({"translatedText": "Gute Nacht"} if number == ALONE + 9 else {})

    with faulty_service(answer) as url:
        run = run_soak(tmp_path, "--url", url)
    assert run.returncode == 1
    assert "translatedText is 'Gute Nacht', alone it was 'Guten Tag'" in run.stdout
    assert "answers differ from those given alone" in run.stdout


def test_one_error_fails_the_run(tmp_path):
    def answer(number: int) -> tuple[int, dict]:
        return (503, {"error": "full"}) if number == ALONE + 9 else (200, ANSWER)

    with faulty_service(answer) as url:
        run = run_soak(tmp_path, "--url", url)
    assert run.returncode == 1
    assert "FAILED: 1 errors" in run.stdout
    assert "503" in run.stdout


def test_memory_that_grows_fails_the_run(tmp_path):
    with faulty_service(lambda _: (200, ANSWER), megabytes=lambda look: 100 + 5 * look) as url:
        run = run_soak(tmp_path, "--url", url, "--max-growth", "0.05")
    assert run.returncode == 1
    assert "FAILED: memory grew by" in run.stdout


def test_growth_is_between_the_first_and_the_last_fifth():
    memory = Memory([100.0, 100.0, 900.0, 50.0, 50.0, 50.0, 50.0, 50.0, 104.0, 104.0])
    assert memory.ends == (100.0, 104.0)
    assert memory.growth == pytest.approx(0.04)
    assert Memory([100.0] * 4).growth is None


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"answers": 0}, "no answer at all"),
        ({"left_over": 2.0}, "2 sentences were still in the service"),
        ({"memory": Memory()}, "could not be watched"),
        ({"memory": Memory([100.0] * 5 + [106.0] * 5)}, r"grew by 6.0%, more than 5%"),
    ],
)
def test_each_fault_alone_fails_a_run(change, fault):
    good = {"answers": 10, "memory": Memory([100.0] * 5 + [104.0] * 5)}
    assert Verdict(**good).is_good
    (found,) = Verdict(**good | change).faults
    assert fault in found
