"""What happens around every request: an id, a limit on the body, headers, a log line, metrics.

Plain ASGI, so that nothing is buffered and a caller who hangs up is noticed.
"""

import asyncio
import random
import re
import time

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.failures import describe, failure_response, to_nudge_error
from service.errors import BodyTooLarge, BodyTooSlow, CallerGone
from service.log import request_id as log_request_id
from service.metrics import Metrics

log = structlog.get_logger("nudge.http")

# Nothing of ours is ever framed or loads from elsewhere.  Pages that need a script or a style say so themselves.
DEFAULT_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_REQUEST_ID = re.compile(r"^[A-Za-z0-9._-]{1,64}$")
_METHODS = frozenset({"GET", "POST", "HEAD", "OPTIONS"})
_QUIET_ROUTES = frozenset({"/health", "/ready", "/metrics"})


class RequestScope:
    """Wraps the whole app; every exception ends here, so every answer has the same shape and headers."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        metrics: Metrics,
        max_body_bytes: int,
        body_timeout_s: float,
        allows_other_origins: bool = False,
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._max_body_bytes = max_body_bytes
        self._body_timeout_s = body_timeout_s
        headers = {**SECURITY_HEADERS, "Content-Security-Policy": DEFAULT_POLICY}
        if allows_other_origins:
            headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        headers = Headers(scope=scope)
        given_id = headers.get("x-request-id", "")
        request_id = given_id if _REQUEST_ID.match(given_id) else f"{random.getrandbits(64):016x}"
        scope.setdefault("state", {})["request_id"] = request_id
        status = 499  # until an answer begins

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = message.setdefault("headers", [])
                names = {name for name, _ in given}
                extra = [header for header in self._headers if header[0] not in names]
                message["headers"] = [*given, *extra, (b"x-request-id", request_id.encode())]
            await send(message)

        log_request_id.set(request_id)  # in the context of the request's own task
        try:
            await self._app(scope, self._bounded(scope, headers, receive), send_with_headers)
        except CallerGone:
            status = 499
        except Exception as error:
            if status != 499:
                log.error("answer_broken_off", **describe(error))
            else:
                self._metrics.refused.labels(to_nudge_error(error).code).inc()
                await failure_response(error, scope["path"], request_id)(scope, receive, send_with_headers)
        self._record(scope, status, time.perf_counter() - started)

    def _bounded(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """Refuse a body that says it is too large before any of it is read; one that turns out to be; a slow one."""
        limit, limit_s = self._max_body_bytes, self._body_timeout_s
        length = headers.get("content-length", "")
        says_its_length = length.isdecimal()
        says_too_much = says_its_length and int(length[:20]) > limit
        if says_its_length and not says_too_much and scope["state"].get("has_whole_body"):
            return receive  # nearly always: it came with the head
        deadline = asyncio.get_running_loop().time() + limit_s
        received = 0
        is_complete = False

        async def bounded_receive() -> Message:
            nonlocal received, is_complete
            if says_too_much:
                raise BodyTooLarge(limit)
            if is_complete:  # only a hang-up can come now, and that may take as long as it likes
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise BodyTooSlow(limit_s) from None
            is_complete = not message.get("more_body", False)
            received += len(message.get("body", b""))
            if received > limit:
                raise BodyTooLarge(limit)
            return message

        return bounded_receive

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        """One log line and the metrics; the route's template stands for the path, which callers can invent."""
        route = getattr(scope.get("route"), "path", None) or ("page" if scope.get("endpoint") else "unmatched")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.count_request(route, method, status, seconds)
        state = scope["state"]
        level = log.debug if route in _QUIET_ROUTES else log.info
        level(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(1000 * seconds, 1),
            **state.get("log_facts", {}),
        )
