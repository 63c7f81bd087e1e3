"""Put the service together: settings in, an ASGI app out."""

import asyncio
import contextlib
import gc
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from service.api import deepl, documentation, meta, page, translate
from service.api.context import Context
from service.api.failures import handle_failure
from service.api.middleware import RequestScope
from service.api.short_way import AppWithShortWay, BusyRoute
from service.bundle.registry import Registry
from service.engine.types import EngineSettings
from service.keys.gate import Gate
from service.metrics import Metrics
from service.settings import Settings
from service.text import detection

log = structlog.get_logger("nudge.app")

WEB_FOLDER = Path(__file__).resolve().parent / "web"
_SAVE_USAGE_EVERY_S = 10.0
BUSY_ROUTES = [
    BusyRoute("POST", "/translate", translate.translate_route),
    BusyRoute("GET", "/translate", translate.translate_route),
    BusyRoute("POST", "/v2/translate", deepl.translate_route),
]
GC_THRESHOLDS = (20_000, 20, 20)


def create_app(settings: Settings) -> FastAPI:
    """The app; models are loaded when it starts."""
    registry = Registry(settings.models, engine_settings(settings), reload_interval_s=settings.reload_interval_s)
    context = Context(settings, registry, Gate(settings), Metrics(registry.pairs))

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # In the background: /health answers at once, /ready says when the models are there.
        loading = asyncio.create_task(_load(context))
        saving = asyncio.create_task(_save_usage(context.gate))
        yield
        context.is_started = False
        saving.cancel()
        loading.cancel()
        await asyncio.gather(saving, loading, return_exceptions=True)
        await registry.close()
        context.gate.save()

    app = AppWithShortWay(title="Nudge", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.state.context = context
    for router in (translate.router, meta.router, deepl.router, documentation.router(settings)):
        app.include_router(router)
    if settings.page and WEB_FOLDER.is_dir():
        page.mount(app, WEB_FOLDER)
    # FastAPI would answer these two itself, in a shape no client of ours can read; all else ends in RequestScope.
    app.add_exception_handler(HTTPException, handle_failure)
    app.add_exception_handler(RequestValidationError, handle_failure)
    around = partial(
        RequestScope,
        metrics=context.metrics,
        max_body_bytes=settings.max_body_bytes,
        body_timeout_s=settings.body_timeout_s,
        allows_other_origins=bool(settings.cors_origins),
    )
    app.add_middleware(around)
    if not settings.cors_origins:
        app.shorten(BUSY_ROUTES, around)
    else:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors_origins),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "X-Request-ID"],
            expose_headers=["X-Request-ID", "Retry-After"],
        )
    return app


def engine_settings(settings: Settings) -> EngineSettings:
    """The engine's share of the settings."""
    return EngineSettings(threads=settings.threads, max_rows=settings.slots, queue_tokens=settings.queue_tokens)


async def _load(context: Context) -> None:
    """Load every bundle and the language model; then the service is ready."""
    started = time.perf_counter()
    try:
        await asyncio.gather(context.registry.start(), asyncio.to_thread(detection.warm_up))
    except Exception:
        log.exception("loading_failed")
        raise
    _tame_garbage_collection()
    context.is_started = True
    pairs = ["-".join(loaded.pair) for loaded in context.registry.pairs()]
    log.info("ready", pairs=pairs, seconds=round(time.perf_counter() - started, 2))


def _tame_garbage_collection() -> None:
    """What is loaded stays, so it need not be looked through again and again; and a request leaves few cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


async def _save_usage(gate: Gate) -> None:
    while True:
        await asyncio.sleep(_SAVE_USAGE_EVERY_S)
        await asyncio.to_thread(gate.save)
