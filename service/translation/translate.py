"""The request path, in one function that can be read top to bottom."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from service.bundle.loader import LoadedPair
from service.bundle.registry import Registry
from service.engine.types import Output
from service.translation.options import Options
from service.translation.plan import Plan, Translation, make_plan
from service.translation.routing import Route, find_route

# Longer texts are segmented off the event loop, so that other callers do not wait for it.
_LONG_TEXT_CHARACTERS = 5_000


async def translate(
    texts: Sequence[str], options: Options, registry: Registry, caller: str = "", deadline: float | None = None
) -> list[Translation]:
    """Translate texts as one batch; raises what `service.errors` and `service.engine.errors` hold."""
    async with planned(texts, options, registry, caller, deadline) as plans:
        outputs = await _decode(plans)
        return [plan.finish(outputs_of_plan) for plan, outputs_of_plan in zip(plans, outputs, strict=True)]


@asynccontextmanager
async def planned(
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
