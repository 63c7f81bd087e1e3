"""The short way to what is asked most.

FastAPI looks a route up, resolves its dependencies, and passes a request through five layers that catch exceptions.
Our translating routes have no dependencies, and their exceptions end in `RequestScope`, so that can call them itself.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class BusyRoute:
    """A path without parameters, and who answers it.  Metrics and log lines name requests by their route."""

    method: str
    path: str
    endpoint: Endpoint


class AppWithShortWay(FastAPI):
    """FastAPI, but for busy routes."""

    _busy: Mapping[tuple[str, str], BusyRoute] = MappingProxyType({})
    _answer: ASGIApp

    def shorten(self, routes: list[BusyRoute], around: Callable[[ASGIApp], ASGIApp]) -> None:
        """Answer these routes, which the app has too, without the app; `around` adds what surrounds a request."""
        self._busy = {(route.method, route.path): route for route in routes}
        self._answer = around(_answer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._busy.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if route is None:
            await super().__call__(scope, receive, send)
            return
        scope["app"], scope["route"], scope["endpoint"] = self, route, route.endpoint
        await self._answer(scope, receive, send)


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    response = await scope["endpoint"](Request(scope, receive, send))
    await response(scope, receive, send)
