"""Busy routes are answered beside the app, all others by it, and nobody can tell."""

import asyncio

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from service.api.short_way import AppWithShortWay, BusyRoute


async def busy(request: Request) -> Response:
    return PlainTextResponse(f"{request.scope['route'].path} of {request.app.title}")


@pytest.fixture
def app() -> AppWithShortWay:
    app = AppWithShortWay(title="Test")
    app.add_api_route("/busy", busy, methods=["POST"])
    app.add_api_route("/other", busy)
    app.shorten([BusyRoute("POST", "/busy", busy)], lambda inner: marking(inner))
    return app


def marking(inner):
    async def marked(scope, receive, send):
        async def send_marked(message):
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-short", b"yes")]
            await send(message)

        await inner(scope, receive, send_marked)

    return marked


def ask(app, method: str, path: str) -> httpx.Response:
    async def run() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            return await client.request(method, path)

    return asyncio.run(run())


def test_a_busy_route_takes_the_short_way_with_what_surrounds_it(app):
    answer = ask(app, "POST", "/busy")
    assert (answer.text, answer.headers["x-short"]) == ("/busy of Test", "yes")


def test_other_paths_and_methods_go_through_the_app(app):
    other = ask(app, "GET", "/other")
    assert (other.text, other.headers.get("x-short")) == ("/other of Test", None)
    assert ask(app, "GET", "/busy").status_code == 405
    assert ask(app, "GET", "/nowhere").status_code == 404


def test_an_app_without_busy_routes_is_an_app():
    app = AppWithShortWay(title="Plain")
    app.add_api_route("/other", busy)
    assert ask(app, "GET", "/other").text == "/other of Plain"
