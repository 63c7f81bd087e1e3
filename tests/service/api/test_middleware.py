"""What surrounds a request, around a small app that misbehaves."""

import asyncio

import httpx
import pytest
import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from service.api.middleware import RequestScope
from service.metrics import Metrics


async def broken(request: Request) -> PlainTextResponse:
    raise ValueError("the user said secretword")


async def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(await request.body())


@pytest.fixture
def app():
    routes = [Route(path, broken, methods=["GET", "POST"]) for path in ("/broken", "/v2/broken")]
    scope = Middleware(RequestScope, metrics=Metrics(list), max_body_bytes=10, body_timeout_s=0.2)
    return Starlette(routes=[*routes, Route("/echo", echo, methods=["POST"])], middleware=[scope])


def ask(app, method: str, path: str, **arguments) -> httpx.Response:
    async def run() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, **arguments)

    return asyncio.run(run())


def test_a_bug_is_a_500_with_a_request_id_and_nothing_else(app):
    with structlog.testing.capture_logs() as lines:
        response = ask(app, "GET", "/broken")
    assert response.status_code == 500
    body = response.json()
    assert set(body) == {"error", "code", "request_id"}
    assert body["code"] == "internal_error"
    assert "secretword" not in response.text
    (line,) = [line for line in lines if line["event"] == "request_failed"]
    assert line["error"] == "ValueError"
    assert "broken" in line["at"][-1]
    assert "secretword" not in str(lines)


def test_a_bug_under_v2_has_the_shape_of_deepl(app):
    response = ask(app, "POST", "/v2/broken")
    assert (response.status_code, set(response.json())) == (500, {"message"})


def test_a_body_at_the_limit_passes_and_one_byte_more_does_not(app):
    assert ask(app, "POST", "/echo", content=b"x" * 10).text == "x" * 10
    assert ask(app, "POST", "/echo", content=b"x" * 11).status_code == 413


def post(app, receive, headers=(), **state) -> int:
    """The status of a POST to /echo whose body comes from `receive`."""
    sent: list[dict] = []

    async def send(message: dict) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/echo", "query_string": b"", "headers": headers, "state": state}
    asyncio.run(asyncio.wait_for(app(scope, receive, send), 5))
    return sent[0]["status"]


def test_a_body_that_does_not_arrive_is_given_up(app):
    async def receive() -> dict:
        await asyncio.sleep(0.05)
        return {"type": "http.request", "body": b"", "more_body": True}

    assert post(app, receive) == 408


@pytest.mark.parametrize(("length", "status"), [(10, 200), (11, 413)])
@pytest.mark.parametrize("says_its_length", [True, False])
def test_a_body_that_came_with_its_head_is_bounded_too(app, length, status, says_its_length):
    asked = 0

    async def receive() -> dict:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": b"x" * length}

    headers = [(b"content-length", str(length).encode())] if says_its_length else []
    assert post(app, receive, headers, has_whole_body=True) == status
    assert asked == (0 if says_its_length and status == 413 else 1), "what says that it is too long is not read"
