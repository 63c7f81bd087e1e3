"""Cost is bounded: a full queue refuses, a deadline ends, a caller who hangs up frees the rows."""

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest


@pytest.fixture(scope="module")
def small(start_server):
    """A server that takes little work at a time."""
    return start_server(queue_tokens=1000, slots=4)


def test_a_full_queue_refuses_with_retry_after_and_serves_the_rest_rightly(small, toy_sentences):
    text = " ".join(toy_sentences(20, seed=70))
    expected = small.translate(text)["translatedText"]

    def ask(_):
        body = {"q": text, "source": "xa", "target": "xb"}
        return httpx.post(small.url + "/translate", json=body, timeout=120)

    with ThreadPoolExecutor(50) as callers:
        responses = list(callers.map(ask, range(100)))
    codes = {response.status_code for response in responses}
    assert codes == {200, 503}
    for response in responses:
        if response.status_code == 200:
            assert response.json()["translatedText"] == expected
        else:
            assert response.json()["code"] == "busy"
            assert int(response.headers["retry-after"]) >= 1
    assert small.translate(text)["translatedText"] == expected


def test_a_stream_that_finds_the_queue_full_is_refused_before_it_starts(small, toy_sentences):
    body = {"source": "xa", "target": "xb"}
    long = body | {"q": " ".join(toy_sentences(500, seed=71))}
    with ThreadPoolExecutor(1) as other, httpx.Client(timeout=60) as client:
        working = other.submit(client.post, small.url + "/translate", json=long)
        small.wait_until(lambda: small.metric("nudge_queued_tokens") > 1000)
        response = small.post("/translate", json=body | {"q": "Ta netu.", "stream": True})
        assert (response.status_code, response.json()["code"]) == (503, "busy")
        assert working.result().status_code == 200


def test_a_stream_longer_than_the_queue_is_fed_as_there_is_room(small, toy_sentences):
    text = "\n".join(toy_sentences(300, seed=75))
    response = small.post("/translate", json={"q": text, "source": "xa", "target": "xb", "stream": True})
    done = json.loads(response.text.split("event: done\ndata: ")[1])
    assert done["translatedText"] == small.translate(text)["translatedText"]


def test_200_requests_at_once_are_all_answered(server, toy_sentences):
    texts = toy_sentences(200, seed=72)
    expected = server.translate(texts)["translatedText"]
    limits = httpx.Limits(max_connections=200)
    with httpx.Client(limits=limits, timeout=120) as client, ThreadPoolExecutor(200) as callers:

        def ask(text):
            body = {"q": text, "source": "xa", "target": "xb"}
            return client.post(server.url + "/translate", json=body).json()["translatedText"]

        assert list(callers.map(ask, texts)) == expected


def test_a_deadline_ends_the_work_with_504(start_server, toy_sentences):
    server = start_server(deadline_s=0.05)
    text = " ".join(toy_sentences(1000, seed=73))
    response = server.post("/translate", json={"q": text, "source": "xa", "target": "xb", "decoder": "beam"})
    assert response.status_code == 504
    assert response.json()["code"] == "deadline_exceeded"
    server.wait_until(lambda: server.metric("nudge_active_rows") == 0)
    assert server.metric("nudge_expired_sentences_total") > 0
    assert server.translate("Ta netu.")["translatedText"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["/translate", "/v2/translate"])
def test_work_for_a_caller_who_hung_up_is_cancelled(server, toy_sentences, stream, path):
    text = " ".join(toy_sentences(1500, seed=74))
    body = {"q": text, "source": "xa", "target": "xb", "text": [text], "source_lang": "XA", "target_lang": "XB"}
    payload = json.dumps(body | {"decoder": "beam", "beam_size": 10, "stream": stream}).encode()
    before = server.metric("nudge_cancelled_sentences_total")
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(payload)}"
        connection.sendall(head.encode() + b"\r\n\r\n" + payload)
        server.wait_until(lambda: server.metric("nudge_active_rows") > 0)
    gone_at = time.monotonic()
    server.wait_until(lambda: server.metric("nudge_active_rows") == 0, 20)
    assert time.monotonic() - gone_at < 20
    assert server.metric("nudge_queued_sentences") == 0
    assert server.metric("nudge_cancelled_sentences_total") > before
    assert "Traceback" not in server.log()
