"""What every route needs, gathered at start: settings, models, keys, metrics."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from starlette.requests import Request

from service.api.body import Parameters
from service.bundle.registry import Registry
from service.errors import CallerGone
from service.keys.gate import Caller, Gate
from service.metrics import Metrics
from service.settings import Settings

Result = TypeVar("Result")

UNWATCHED_S = 0.1  # for so long a caller who hung up is not missed


@dataclass
class Context:
    """One per app."""

    settings: Settings
    registry: Registry
    gate: Gate
    metrics: Metrics
    is_started: bool = False  # the models are loaded, and the service is not stopping


def context_of(request: Request) -> Context:
    return cast(Context, request.app.state.context)


def note(request: Request, **facts: Any) -> None:
    """Add facts to the request's log line: counts and codes, never text."""
    facts_so_far = request.scope["state"].setdefault("log_facts", {})
    facts_so_far.update(facts)


def authenticate(request: Request, parameters: Parameters) -> Caller:
    """The caller, with the request counted; InvalidKey or RateLimited otherwise."""
    gate = context_of(request).gate
    address = request.client.host if request.client else "unknown"
    caller = gate.identify(_token(request, parameters), address)
    if caller.key:
        note(request, key=caller.key.id)
    gate.admit(caller)
    return caller


def _token(request: Request, parameters: Parameters) -> str | None:
    """The key, from LibreTranslate's parameter or DeepL's header."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() in ("deepl-auth-key", "bearer") and token.strip():
        return token.strip()
    given = parameters.get("api_key")
    return given if isinstance(given, str) and given else None


@dataclass(slots=True)
class Charge:
    """Characters that were counted; they are kept from the moment a part of the translation was delivered."""

    is_due: bool = False


@contextlib.asynccontextmanager
async def charged(request: Request, caller: Caller, characters: int) -> AsyncIterator[Charge]:
    """Count characters against the caller's quota, and give them back if the translation fails."""
    give_back = context_of(request).gate.reserve(caller, characters)
    charge = Charge()
    try:
        yield charge
    except BaseException:
        if not charge.is_due:
            give_back()
        raise


async def while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, which is cancelled if the caller hangs up.

    Nobody watches for that at first: most answers are ready before a watch would be worth its task.
    """
    working = asyncio.current_task()
    assert working is not None, "a request is served by a task"
    is_gone = is_done = False

    async def watch() -> None:
        """Cancel the work when the caller is gone.  The body has been read, so nothing else can come."""
        nonlocal is_gone
        while (await request.receive())["type"] != "http.disconnect":
            pass
        if not is_done:  # what comes after the work must not be cancelled
            is_gone = True
            working.cancel()

    watches: list[asyncio.Future[None]] = []
    starting = asyncio.get_running_loop().call_later(
        UNWATCHED_S, lambda: watches.append(asyncio.ensure_future(watch()))
    )
    try:
        result = await work
        is_done = True
        return result
    except asyncio.CancelledError:
        if is_gone and not working.uncancel():
            raise CallerGone from None
        raise  # the server is stopping
    finally:
        starting.cancel()
        for watching in watches:
            watching.cancel()
