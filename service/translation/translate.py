"""The request path, in one function that can be read top to bottom, and its streaming sister."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from service.bundle.loader import LoadedPair
from service.bundle.registry import Registry
from service.engine.types import Output
from service.translation.options import Options
from service.translation.plan import Plan, Translation, make_plan
from service.translation.routing import Route, find_route

# Longer texts are segmented off the event loop, so that other callers do not wait for it.
_LONG_TEXT_CHARACTERS = 5_000


@dataclass(frozen=True, slots=True)
class Started:
    """The engine has taken the work on; `sentences` tells how many there are in each text."""

    sentences: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a sentence that is being decoded."""

    text_index: int
    sentence_index: int
    text: str


@dataclass(frozen=True, slots=True)
class FinishedSentence:
    """A sentence that is done, and its place in the request."""

    text_index: int
    sentence_index: int
    source: str
    text: str
    score: float
    is_truncated: bool


async def translate(
    texts: Sequence[str], options: Options, registry: Registry, caller: str = "", deadline: float | None = None
) -> list[Translation]:
    """Translate texts as one batch; raises what `service.errors` and `service.engine.errors` hold."""
    async with _planned(texts, options, registry, caller, deadline) as plans:
        outputs = await _decode(plans)
        return [plan.finish(outputs_of_plan) for plan, outputs_of_plan in zip(plans, outputs, strict=True)]


async def translate_stream(
    texts: Sequence[str], options: Options, registry: Registry, caller: str = "", deadline: float | None = None
) -> AsyncGenerator[Started | Token | FinishedSentence | list[Translation]]:
    """The same, telling of every token and every sentence as it comes; the last item is the whole answer."""
    async with _planned(texts, options, registry, caller, deadline) as plans:
        news: asyncio.Queue[Token | FinishedSentence | BaseException] = asyncio.Queue()
        tasks = [
            [asyncio.create_task(_decode_aloud(plan, t, s, news)) for s in range(len(plan.jobs))]
            for t, plan in enumerate(plans)
        ]
        remaining = sum(map(len, tasks))
        try:
            await asyncio.sleep(0)  # now every sentence has been submitted: all are admitted, or it ends here
            for task in (task for tasks_of_plan in tasks for task in tasks_of_plan if task.done()):
                task.result()
            yield Started(tuple(map(len, tasks)))
            while remaining:
                item = await news.get()
                if isinstance(item, BaseException):
                    raise item
                remaining -= isinstance(item, FinishedSentence)
                yield item
            yield [
                plan.finish([task.result() for task in tasks_of_plan])
                for plan, tasks_of_plan in zip(plans, tasks, strict=True)
            ]
        finally:
            unfinished = [task for tasks_of_plan in tasks for task in tasks_of_plan]
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)


@asynccontextmanager
async def _planned(
    texts: Sequence[str], options: Options, registry: Registry, caller: str, deadline: float | None
) -> AsyncIterator[list[Plan]]:
    """Route the texts, hold the pairs they need, and make their plans."""
    routes = [find_route(text, options.source, options.target, registry) for text in texts]
    async with AsyncExitStack() as leases:
        pairs: dict[tuple[str, str], LoadedPair] = {}
        for route in routes:
            key = (route.source, route.target)
            if key not in pairs and not route.is_identity:
                pairs[key] = await leases.enter_async_context(registry.get(*key))
        yield [
            await _plan(text, route, pairs.get((route.source, route.target)), options, caller, deadline)
            for text, route in zip(texts, routes, strict=True)
        ]


async def _plan(
    text: str, route: Route, pair: LoadedPair | None, options: Options, caller: str, deadline: float | None
) -> Plan:
    if len(text) > _LONG_TEXT_CHARACTERS:
        return await asyncio.to_thread(make_plan, text, route, pair, options, caller, deadline)
    return make_plan(text, route, pair, options, caller, deadline)


async def _decode(plans: Sequence[Plan]) -> list[list[Output]]:
    """One submission for each engine: all its sentences are admitted, or none."""
    by_engine: dict[int, list[Plan]] = {}
    for plan in plans:
        if plan.jobs:
            by_engine.setdefault(id(plan.pair), []).append(plan)
    tasks = [asyncio.ensure_future(_submit(group)) for group in by_engine.values()]
    try:
        answered = await asyncio.gather(*tasks)
    finally:  # one engine's failure, or a caller who is gone, ends the work of the others
        for task in tasks:
            task.cancel()
    outputs = {id(plan): result for results in answered for plan, result in results}
    return [outputs.get(id(plan), []) for plan in plans]


async def _submit(plans: Sequence[Plan]) -> list[tuple[Plan, list[Output]]]:
    """Decode the plans of one pair together."""
    pair = plans[0].pair
    assert pair is not None, "a plan with jobs has a pair"
    outputs = iter(await pair.engine.submit_all([job for plan in plans for job in plan.jobs]))
    return [(plan, [next(outputs) for _ in plan.jobs]) for plan in plans]


async def _decode_aloud(
    plan: Plan, text_index: int, sentence_index: int, news: "asyncio.Queue[Token | FinishedSentence | BaseException]"
) -> Output:
    """Decode one sentence and tell of its tokens; a failure is news, too."""
    pair = plan.pair
    assert pair is not None, "a plan with jobs has a pair"
    ids: list[int] = []
    told = ""

    def tell(token: int, log_probability: float, influence: float | None) -> None:
        nonlocal told
        ids.append(token)
        text = pair.tokeniser.decode(ids)
        # A character may be spelled by several byte tokens: wait for the last of them.
        if text.startswith(told) and len(text) > len(told):
            news.put_nowait(Token(text_index, sentence_index, text[len(told) :]))
            told = text

    try:
        output = await pair.engine.submit(replace(plan.jobs[sentence_index], on_token=tell))
    except Exception as error:
        news.put_nowait(error)
        raise
    source = plan.document.sentences[sentence_index].text
    best = output.best
    text = plan.sentence(sentence_index, best)
    news.put_nowait(FinishedSentence(text_index, sentence_index, source, text, best.score, best.is_truncated))
    return output
