"""What there is and how it is: languages, objectives, detection, settings for a front end, health, metrics."""

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from service.api.answers import detection_answer, objectives_answer
from service.api.body import read_parameters
from service.api.context import authenticate, context_of, note
from service.api.parameters import Reader
from service.errors import InvalidParameter, NotReady
from service.text.detection import detect
from service.text.languages import name_of
from service.translation.routing import served_languages, served_pairs

router = APIRouter()


@router.get("/languages")
async def languages(request: Request) -> Response:
    """Every served language and what it can be translated to."""
    registry = context_of(request).registry
    pairs = served_pairs(registry)
    return JSONResponse(
        [
            {"code": code, "name": name_of(code), "targets": sorted(b for a, b in pairs if a == code)}
            for code in served_languages(registry)
        ]
    )


@router.post("/detect")
async def detect_language(request: Request) -> Response:
    """The served languages a text may be in, likeliest first."""
    context = context_of(request)
    parameters = await read_parameters(request)
    authenticate(request, parameters)
    texts, is_list = Reader(parameters).texts("q", context.settings)
    if is_list:
        raise InvalidParameter("q", "a list", "one string is needed")
    note(request, characters=len(texts[0]))
    found = [detection_answer(detection) for detection in detect(texts[0], served_languages(context.registry))]
    return JSONResponse([found[0], *(entry for entry in found[1:] if entry["confidence"] >= 1)])


@router.get("/objectives")
async def objectives(request: Request) -> Response:
    """Each pair's objectives with what they optimise, measured gains and cost."""
    context = context_of(request)
    return JSONResponse(
        {
            "pairs": [
                objectives_answer(loaded.manifest, context.metrics)
                for loaded in sorted(context.registry.pairs(), key=lambda loaded: loaded.pair)
            ]
        }
    )


@router.get("/frontend/settings")
async def frontend_settings(request: Request) -> Response:
    """What LibreTranslate's front ends ask for, and our page."""
    context = context_of(request)
    settings = context.settings
    pairs = sorted(loaded.pair for loaded in context.registry.pairs())
    source, target = pairs[0] if pairs else ("", "")

    def named(code: str) -> dict[str, Any]:
        return {"code": code, "name": name_of(code)}

    return JSONResponse(
        {
            "charLimit": settings.max_characters,
            "frontendTimeout": 500,
            "apiKeys": context.gate.has_keys,
            "keyRequired": context.gate.needs_key,
            "suggestions": False,
            "filesTranslation": False,
            "supportedFilesFormat": [],
            "language": {"source": named(source), "target": named(target)},
            "maxBeamSize": settings.max_beam_size,
            "maxSamples": settings.max_samples,
            "maxAlternatives": settings.max_alternatives,
        }
    )


@router.api_route("/health", methods=["GET", "HEAD"])
async def health() -> Response:
    """The process is alive."""
    return JSONResponse({"status": "ok"})


@router.api_route("/ready", methods=["GET", "HEAD"])
async def ready(request: Request) -> Response:
    """Whether requests would be served now, and which bundles are refused and why."""
    context = context_of(request)
    if not context.is_started:
        raise NotReady("The service is starting or stopping.", retry_after_s=1.0)
    if not context.registry.is_ready:
        refused = "; ".join(f"{problem.folder.name}: {problem.reason}" for problem in context.registry.problems())
        raise NotReady(f"No model is loaded. {refused}".strip(), retry_after_s=2.0)
    return JSONResponse(
        {
            "status": "ready",
            "pairs": ["-".join(loaded.pair) for loaded in context.registry.pairs()],
            "refused": [
                {"bundle": problem.folder.name, "reason": problem.reason} for problem in context.registry.problems()
            ],
        }
    )


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Prometheus' text format."""
    return Response(context_of(request).metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")
