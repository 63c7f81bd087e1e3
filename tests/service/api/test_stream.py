"""Server-sent events: sentence by sentence, token by token."""

import asyncio
import json
from types import SimpleNamespace

import httpx
import structlog
from starlette.requests import Request

from service.api.stream import Event, EventStream
from service.metrics import Metrics


def events(server, **parameters):
    body = {"source": "xa", "target": "xb", "stream": True, **parameters}
    with httpx.stream("POST", server.url + "/translate", json=body, timeout=60) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        found = []
        name = None
        for line in response.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
        return found


def test_the_stream_ends_with_the_answer_of_a_plain_request(server, toy_sentences):
    text = " ".join(toy_sentences(3, seed=20))
    stream = events(server, q=text, objective="bleu")
    assert stream[0] == ("start", {"sentences": [3]})
    assert stream[-1][0] == "done"
    plain = server.translate(text, objective="bleu")
    done = stream[-1][1]
    assert {**done, "timing": None} == {**plain, "timing": None}


def test_tokens_of_a_sentence_join_to_its_translation(server, toy_sentences):
    stream = events(server, q=toy_sentences(3, seed=21))
    for name, sentence in stream:
        if name == "sentence":
            tokens = [d["token"] for n, d in stream if n == "token" and d["text"] == sentence["text"]]
            assert "".join(tokens).strip() == sentence["translatedText"]
    assert [name for name, _ in stream].count("sentence") == 3


def test_a_beam_has_no_tokens_but_its_sentences(server, toy_sentences):
    names = [name for name, _ in events(server, q=" ".join(toy_sentences(2, seed=22)), decoder="beam")]
    assert names == ["start", "sentence", "sentence", "done"]


def test_a_refused_request_is_an_error_and_not_a_stream(server):
    response = server.post("/translate", json={"q": "a", "target": "zz", "stream": True})
    assert response.status_code == 400
    assert response.json()["code"] == "unsupported_language"


def test_nothing_to_translate_still_ends_with_done(server):
    assert [name for name, _ in events(server, q="42")] == ["start", "done"]


def test_get_streams_too_for_browsers(server, toy_sentences):
    response = server.get(
        "/translate", params={"q": toy_sentences(1)[0], "source": "xa", "target": "xb", "stream": "true"}
    )
    assert response.text.startswith("event: start\n")
    assert "event: done\n" in response.text


def test_an_error_in_mid_stream_is_told_logged_and_counted():
    metrics = Metrics(list)
    app = SimpleNamespace(state=SimpleNamespace(context=SimpleNamespace(metrics=metrics)))
    scope = {"type": "http", "app": app, "state": {"request_id": "abc"}, "headers": []}
    sent = []

    async def breaking():
        yield Event("start", {})
        raise ValueError("the user said secretword")

    async def send(message):
        sent.append(message.get("body", b""))

    async def receive():
        await asyncio.Event().wait()

    async def run():
        stream = await EventStream.open(Request(scope), breaking())
        await stream(scope, receive, send)

    with structlog.testing.capture_logs() as logs:
        asyncio.run(run())
    assert b"event: error" in sent[-2]
    assert b"abc" in sent[-2]
    assert [(line["event"], line["error"]) for line in logs] == [("stream_broken_off", "ValueError")]
    assert "secretword" not in str(logs) + str(sent)
    assert metrics.registry.get_sample_value("nudge_refused_total", {"code": "internal_error"}) == 1
