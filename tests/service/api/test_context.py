"""Work for a caller who may hang up at any moment."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import pytest
from starlette.requests import Request

from service.api.context import while_connected
from service.errors import CallerGone


def connected(hang_up: asyncio.Event) -> Request:
    """A request whose body has been read; it hears of nothing but the hang-up."""

    async def receive() -> dict:
        await hang_up.wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http", "headers": []}, receive)


def run(story: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    async def told() -> None:
        await story(asyncio.Event())

    asyncio.run(told())


def test_the_result_comes_back_and_nobody_watches_any_more() -> None:
    async def story(hang_up: asyncio.Event) -> None:
        assert await while_connected(connected(hang_up), asyncio.sleep(0, "done")) == "done"
        hang_up.set()
        await asyncio.sleep(0.01)  # a late hang-up reaches nobody
        assert len(asyncio.all_tasks()) == 1

    run(story)


def test_a_hang_up_cancels_the_work() -> None:
    async def story(hang_up: asyncio.Event) -> None:
        was_cancelled = False

        async def work() -> None:
            nonlocal was_cancelled
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                was_cancelled = True
                raise

        asyncio.get_running_loop().call_later(0.01, hang_up.set)
        with pytest.raises(CallerGone):
            await while_connected(connected(hang_up), work())
        assert was_cancelled
        await asyncio.sleep(0)  # and what comes after is not

    run(story)


def test_a_hang_up_in_the_moment_of_the_result_leaves_the_rest_alone() -> None:
    async def story(hang_up: asyncio.Event) -> None:
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def work() -> str:
            return await answer

        def at_once() -> None:
            hang_up.set()
            answer.set_result("done")

        asyncio.get_running_loop().call_later(0.01, at_once)
        with contextlib.suppress(CallerGone):  # either is right, as long as nothing is cancelled later
            assert await while_connected(connected(hang_up), work()) == "done"
        for _ in range(3):
            await asyncio.sleep(0)

    run(story)


def test_a_cancellation_from_elsewhere_is_passed_on() -> None:
    async def story(hang_up: asyncio.Event) -> None:
        task = asyncio.ensure_future(while_connected(connected(hang_up), asyncio.sleep(60)))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(story)


def test_an_error_of_the_work_is_its_own() -> None:
    async def story(hang_up: asyncio.Event) -> None:
        async def work() -> None:
            raise ValueError("bad")

        with pytest.raises(ValueError, match="bad"):
            await while_connected(connected(hang_up), work())

    run(story)
