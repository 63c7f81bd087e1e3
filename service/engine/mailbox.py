"""Messages from an engine's thread to event loops: collected during a turn, handed over with one call per loop."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

Message = tuple[Callable[..., None], tuple[Any, ...]]


class Mailbox:
    """Waking an event loop costs several microseconds, a message in the same envelope next to none."""

    def __init__(self) -> None:
        self._envelopes: dict[asyncio.AbstractEventLoop, list[Message]] = {}

    def post(self, loop: asyncio.AbstractEventLoop, receive: Callable[..., None], *arguments: Any) -> None:
        """Have `receive` called with `arguments` on `loop` after the next `flush`."""
        self._envelopes.setdefault(loop, []).append((receive, arguments))

    def flush(self) -> None:
        """Send what was posted."""
        if not self._envelopes:
            return
        for loop, messages in self._envelopes.items():
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is waiting any more
                loop.call_soon_threadsafe(_receive_all, messages)
        self._envelopes = {}


def _receive_all(messages: list[Message]) -> None:
    for receive, arguments in messages:
        receive(*arguments)
