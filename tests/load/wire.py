"""A small HTTP client, an asyncio protocol: one connection, kept alive, one request at a time.

A load test on a small machine takes its own time away from the service it measures, so a request must cost the client
little: run by uvloop, it takes a tenth of the CPU time that httpx takes for it.
"""

import asyncio
import json
import re
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import urlsplit

TIMEOUT_S = 120.0

_CONTENT_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)\r\n", re.IGNORECASE)


class WireError(Exception):
    """The other side hung up, took too long, or said what this client does not understand."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Connection(asyncio.Protocol):
    """`async with Connection(url) as connection: await connection.post("/translate", {...})`."""

    def __init__(self, url: str, timeout_s: float = TIMEOUT_S) -> None:
        parts = urlsplit(url)
        if parts.scheme != "http" or parts.hostname is None:
            raise WireError(f"{url} was given, but an address such as http://127.0.0.1:8000 is needed")
        self._host, self._port = parts.hostname, parts.port or 80
        self._timeout_s = timeout_s
        self._transport: asyncio.Transport
        self._received = b""
        self._answer: asyncio.Future[Answer] | None = None

    async def __aenter__(self) -> Self:
        try:
            await asyncio.get_running_loop().create_connection(lambda: self, self._host, self._port)
        except OSError as error:
            raise WireError(f"{self._host}:{self._port} cannot be reached: {error.strerror or error}") from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    async def get(self, path: str) -> Answer:
        return await self._exchange(f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())

    async def post(self, path: str, body: dict[str, Any]) -> Answer:
        return await self._exchange(self._post_bytes(path, body))

    async def post_and_hang_up(self, path: str, body: dict[str, Any], after_s: float) -> None:
        """Send a request and close the connection soon after; it cannot be used again."""
        self._transport.write(self._post_bytes(path, body))
        await asyncio.sleep(after_s)
        self.close()

    def _post_bytes(self, path: str, body: dict[str, Any]) -> bytes:
        payload = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(payload)}\r\n\r\n"
        )
        return head.encode() + payload

    async def _exchange(self, request: bytes) -> Answer:
        if self._transport.is_closing():
            raise WireError("the connection is closed")
        loop = asyncio.get_running_loop()
        self._answer = loop.create_future()
        too_late = loop.call_later(self._timeout_s, self._fail, f"no answer within {self._timeout_s:g} s")
        try:
            self._transport.write(request)
            return await self._answer
        finally:
            too_late.cancel()

    def _fail(self, reason: str) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(WireError(reason))

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        length = _CONTENT_LENGTH.search(self._received, 0, end)
        if length is None:
            self._fail(f"an answer without Content-Length: {self._received[:end].splitlines()[0]!r}")
            return
        body = self._received[end:]
        if len(body) < int(length[1]):
            return
        status, self._received = int(self._received.split(b" ", 2)[1]), b""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(Answer(status, body))

    def connection_lost(self, error: Exception | None) -> None:
        self._fail(f"the connection broke: {error or 'the other side hung up'}")
