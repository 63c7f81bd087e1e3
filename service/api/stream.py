"""Server-sent events whose producer is stopped as soon as the caller hangs up."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from service.api.context import context_of
from service.api.failures import describe, failure_body, to_nudge_error
from service.errors import CallerGone

log = structlog.get_logger("nudge.http")


@dataclass(frozen=True, slots=True)
class Event:
    """One event: a name and JSON."""

    name: str
    data: dict[str, Any]

    def encode(self) -> bytes:
        return f"event: {self.name}\ndata: {json.dumps(self.data, ensure_ascii=False)}\n\n".encode()


class EventStream(Response):
    """Sends events as they come; an error after the first one becomes the last event, `error`."""

    media_type = "text/event-stream"

    def __init__(self, request: Request, events: AsyncGenerator[Event], first: Event) -> None:
        self._request_id = request.state.request_id
        self._metrics = context_of(request).metrics
        self._events = events
        self._first = first
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]

    @classmethod
    async def open(cls, request: Request, events: AsyncGenerator[Event]) -> "EventStream":
        """Wait for the first event, so that a request that is refused gets a status and not a stream."""
        return cls(request, events, await anext(events))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        hang_up = asyncio.ensure_future(_hang_up(receive))
        try:
            event: Event | None = self._first
            while event is not None:
                await send({"type": "http.response.body", "body": event.encode(), "more_body": True})
                event = await self._next_before(hang_up)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            hang_up.cancel()
            await self._events.aclose()

    async def _next_before(self, hang_up: "asyncio.Future[None]") -> Event | None:
        """The next event, None after the last; CallerGone if nobody listens any more."""
        waiting = asyncio.ensure_future(self._next())
        try:
            await asyncio.wait((waiting, hang_up), return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                raise CallerGone
            return waiting.result()
        finally:
            if not waiting.done():
                waiting.cancel()
                await asyncio.wait((waiting,))

    async def _next(self) -> Event | None:
        try:
            return await anext(self._events, None)
        except Exception as error:
            failure = to_nudge_error(error)
            if failure.status >= 500:  # the status of the answer is out already, so the log must say it
                log.error("stream_broken_off", **describe(error))
            self._metrics.refused.labels(failure.code).inc()
            return Event("error", dict(failure_body(failure, self._request_id, is_deepl=False)))


async def _hang_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
