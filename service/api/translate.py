"""GET and POST /translate: ours and LibreTranslate's at once."""

import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service.api.answers import JSONAnswer, native_answer, stream_event
from service.api.body import read_parameters
from service.api.context import authenticate, charged, context_of, note, while_connected
from service.api.parameters import Reader, read_options
from service.api.stream import Event, EventStream
from service.keys.gate import Caller
from service.translation.options import Options
from service.translation.plan import Translation
from service.translation.stream import FinishedSentence, translate_stream
from service.translation.translate import translate

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for a translation, checked."""

    texts: list[str]
    is_list: bool
    options: Options
    caller: Caller
    wants_stream: bool
    started: float

    @property
    def characters(self) -> int:
        return sum(map(len, self.texts))


@router.api_route("/translate", methods=["GET", "POST"])
async def translate_route(request: Request) -> Response:
    """Translate one text or a list."""
    ask = await _read(request)
    if ask.wants_stream:
        return await EventStream.open(request, _events(request, ask))
    async with charged(request, ask.caller, ask.characters):
        translations = await while_connected(request, run(request, ask))
    return JSONAnswer(native_answer(ask.options, translations, ask.is_list, time.perf_counter() - ask.started))


async def run(request: Request, ask: Ask) -> list[Translation]:
    """Translate within the deadline, and count what was done."""
    context = context_of(request)
    deadline = time.monotonic() + context.settings.deadline_s
    translations = await translate(ask.texts, ask.options, context.registry, ask.caller.name, deadline)
    count(request, ask, translations)
    return translations


def count(request: Request, ask: Ask, translations: list[Translation]) -> None:
    """Metrics and facts for the log line: how much, of what kind; never what."""
    metrics = context_of(request).metrics
    seconds = time.perf_counter() - ask.started
    decoder = ask.options.decoder
    for text, translation in zip(ask.texts, translations, strict=True):
        if translation.model is None:
            continue
        pair = f"{translation.route.source}-{translation.route.target}"
        label = translation.objective.label
        metrics.count_translation(
            pair,
            label,
            decoder,
            characters=len(text),
            tokens=translation.tokens,
            decode_s=translation.work_s,
            seconds=seconds,
        )
    note(
        request,
        texts=len(ask.texts),
        characters=ask.characters,
        tokens=sum(translation.tokens for translation in translations),
        decoder=decoder,
        objective=translations[0].objective.label if translations else "none",
    )


async def _read(request: Request) -> Ask:
    started = time.perf_counter()
    settings = context_of(request).settings
    parameters = await read_parameters(request)
    caller = authenticate(request, parameters)
    reader = Reader(parameters)
    texts, is_list = reader.texts("q", settings)
    return Ask(texts, is_list, read_options(reader, settings), caller, reader.boolean("stream"), started)


async def _events(request: Request, ask: Ask) -> AsyncGenerator[Event]:
    """Server-sent events: `start`, `token` and `sentence` as they come, then `done` with the whole answer."""
    context = context_of(request)
    deadline = time.monotonic() + context.settings.deadline_s
    async with charged(request, ask.caller, ask.characters) as charge:
        async for item in translate_stream(ask.texts, ask.options, context.registry, ask.caller.name, deadline):
            if not isinstance(item, list):
                charge.is_due = charge.is_due or isinstance(item, FinishedSentence)
                yield stream_event(item)
                continue
            count(request, ask, item)
            yield Event("done", native_answer(ask.options, item, ask.is_list, time.perf_counter() - ask.started))
