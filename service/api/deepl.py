"""/v2: enough of DeepL's API for its official clients to work unchanged, with our options as extra fields."""

import time
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from service.api.body import read_parameters
from service.api.context import authenticate, charged, context_of, while_connected
from service.api.parameters import Reader, read_blend, read_search
from service.api.translate import Ask, run
from service.errors import InvalidParameter
from service.text.languages import base_code, name_of
from service.translation.options import Options
from service.translation.plan import Translation
from service.translation.routing import served_pairs

router = APIRouter(prefix="/v2")

# DeepL has no plain EN or PT as a target, and its Python client refuses to send them.
REGIONS = {
    "en": {"EN-US": "English (American)", "EN-GB": "English (British)"},
    "pt": {"PT-PT": "Portuguese (European)", "PT-BR": "Portuguese (Brazilian)"},
}
# DeepL's own number for "no limit".
UNLIMITED = 1_000_000_000_000


@router.post("/translate")
async def translate_route(request: Request) -> Response:
    """Translate texts."""
    ask = await _read(request)
    async with charged(request, ask.caller, ask.characters):
        translations = await while_connected(request, run(request, ask))
    return JSONResponse(
        {
            "translations": [
                _answer(text, translation) for text, translation in zip(ask.texts, translations, strict=True)
            ]
        }
    )


@router.api_route("/languages", methods=["GET", "POST"])
async def languages(request: Request) -> Response:
    """Source or target languages."""
    parameters = await read_parameters(request)
    authenticate(request, parameters)
    wants_targets = Reader(parameters).choice("type", ("source", "target"), "source") == "target"
    pairs = served_pairs(context_of(request).registry)
    if not wants_targets:
        return JSONResponse(
            [{"language": code.upper(), "name": name_of(code)} for code in sorted({a for a, _ in pairs})]
        )
    named: dict[str, str] = {}
    for code in sorted({b for _, b in pairs}):
        named |= REGIONS.get(code, {code.upper(): name_of(code)})
    return JSONResponse([{"language": code, "name": name, "supports_formality": False} for code, name in named.items()])


@router.api_route("/usage", methods=["GET", "POST"])
async def usage(request: Request) -> Response:
    """Characters of this month, and how many there may be."""
    parameters = await read_parameters(request)
    caller = authenticate(request, parameters)
    limit = caller.key.characters_per_month if caller.key else 0
    return JSONResponse(
        {"character_count": context_of(request).gate.used(caller), "character_limit": limit or UNLIMITED}
    )


async def _read(request: Request) -> Ask:
    started = time.perf_counter()
    settings = context_of(request).settings
    parameters = await read_parameters(request)
    caller = authenticate(request, parameters)
    reader = Reader(parameters)
    texts, is_list = reader.texts("text", settings)
    if reader.text("formality", "default").lower() in ("more", "less"):
        raise InvalidParameter(
            "formality", reader.text("formality"), "no model here knows it; use prefer_more or omit it"
        )
    for name in ("glossary_id", "glossary_ids", "style_id", "translation_memory_id"):
        if reader.has(name):
            raise InvalidParameter(name, parameters[name], "this service has none; leave it out")
    if reader.has("ignore_tags"):
        raise InvalidParameter(
            "ignore_tags", parameters["ignore_tags"], 'mark what is not to be translated with translate="no" instead'
        )
    source = reader.text("source_lang", "")
    options = Options(
        source=base_code(source) if source else None,
        target=base_code(reader.text("target_lang")),
        blend=read_blend(reader),
        is_html=reader.choice("tag_handling", ("html", "xml", "text"), "text") != "text",
        **read_search(reader, settings),
    )
    return Ask(texts, is_list, options, caller, wants_stream=False, started=started)


def _answer(text: str, translation: Translation) -> dict[str, Any]:
    return {
        "detected_source_language": translation.route.source.upper(),
        "text": translation.text,
        "billed_characters": len(text),
    }
