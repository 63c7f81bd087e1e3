"""The request path, in one function that can be read top to bottom."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

from service.bundle.loader import LoadedPair
from service.bundle.registry import Registry
from service.engine.types import Output
from service.translation.options import Options
from service.translation.plan import Plan, Translation, make_plan
from service.translation.routing import find_route, served_pairs

# Work on more text than this is done off the event loop, so that other callers do not wait for it.
_MUCH_TEXT_CHARACTERS = 5_000

Result = TypeVar("Result")


async def translate(
    texts: Sequence[str], options: Options, registry: Registry, caller: str = "", deadline: float | None = None
) -> list[Translation]:
    """Translate texts as one batch; raises what `service.errors` and `service.engine.errors` hold."""
    async with planned(texts, options, registry, caller, deadline) as plans:
        outputs = await _decode(plans)
        return await work_on(texts, lambda: [plan.finish(outputs[index]) for index, plan in enumerate(plans)])


@asynccontextmanager
async def planned(
    texts: Sequence[str], options: Options, registry: Registry, caller: str, deadline: float | None
) -> AsyncIterator[list[Plan]]:
    """Route the texts, hold the pairs they need, and make their plans: segmented and tokenised."""
    served = served_pairs(registry)
    routes = await work_on(texts, lambda: [find_route(text, options.source, options.target, served) for text in texts])
    async with AsyncExitStack() as leases:
        pairs: dict[tuple[str, str], LoadedPair | None] = {}
        for route in routes:
            if route.languages not in pairs:
                lease = None if route.is_identity else registry.get(*route.languages)
                pairs[route.languages] = await leases.enter_async_context(lease) if lease else None
        yield await work_on(
            texts,
            lambda: [
                make_plan(text, route, pairs[route.languages], options, caller, deadline)
                for text, route in zip(texts, routes, strict=True)
            ],
        )


async def work_on(texts: Sequence[str], work: Callable[[], Result]) -> Result:
    """Do what takes time in proportion to the texts, in a thread if they are long."""
    is_much = sum(map(len, texts)) > _MUCH_TEXT_CHARACTERS
    return await asyncio.to_thread(work) if is_much else work()


async def _decode(plans: Sequence[Plan]) -> list[list[Output]]:
    """The outputs of each plan, by one submission to each engine: all its sentences are admitted, or none."""
    by_engine: dict[int, list[Plan]] = {}
    for plan in plans:
        if plan.jobs:
            by_engine.setdefault(id(plan.pair), []).append(plan)
    outputs = {id(plan): result for results in await _submit_all(list(by_engine.values())) for plan, result in results}
    return [outputs.get(id(plan), []) for plan in plans]


async def _submit_all(groups: Sequence[Sequence[Plan]]) -> list[list[tuple[Plan, list[Output]]]]:
    if len(groups) == 1:  # nearly always: no need for tasks
        return [await _submit(groups[0])]
    tasks = [asyncio.ensure_future(_submit(group)) for group in groups]
    try:
        return await asyncio.gather(*tasks)
    finally:  # one engine's failure, or a caller who is gone, ends the work of the others
        for task in tasks:
            task.cancel()


async def _submit(plans: Sequence[Plan]) -> list[tuple[Plan, list[Output]]]:
    """Decode the plans of one pair together."""
    pair = plans[0].pair
    assert pair is not None, "a plan with jobs has a pair"
    outputs = iter(await pair.engine.submit_all([job for plan in plans for job in plan.jobs]))
    return [(plan, [next(outputs) for _ in plan.jobs]) for plan in plans]
