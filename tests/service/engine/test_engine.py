"""Admission, deadlines, cancellation, fairness, streaming and the end of an engine."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from service.engine.engine import Engine
from service.engine.errors import (
    BadJob,
    Cancelled,
    DeadlineExceeded,
    EngineClosed,
    EngineFailed,
    Overloaded,
    SourceTooLong,
)
from service.engine.types import Beam, EngineSettings, Greedy, Job, Npad

EOS = 3
NO_ACTOR = (0.0, 0.0)
LONG = Job((*range(4, 54), EOS), NO_ACTOR, has_guard=False)  # on the endless model: 40 · 51 + 20 steps
SHORT = Job((5, EOS), NO_ACTOR, has_guard=False)  # 40 · 2 + 20 steps


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never came to that")


def run_with(engine: Engine, test: Callable[[Engine], Awaitable[None]]) -> None:
    async def scenario() -> None:
        engine.start()
        try:
            await test(engine)
        finally:
            await engine.close(drain=False)

    asyncio.run(scenario())


def test_the_length_bound_depends_on_the_source_and_is_flagged(endless_engine) -> None:
    output = asyncio.run(endless_engine.submit(SHORT))
    assert len(output.best.ids) == 40 * 2 + 20
    assert output.best.is_truncated
    assert len(output.best.token_log_probabilities) == len(output.best.ids)


def test_a_cancelled_job_leaves_the_batch(endless_model) -> None:
    async def test(engine: Engine) -> None:
        tasks = [asyncio.create_task(engine.submit(replace(LONG, decoder=decoder))) for decoder in (Npad(5), Greedy())]
        await until(lambda: engine.stats().active_rows == 9 + 1)
        tasks[0].cancel()
        await until(lambda: engine.stats().active_rows == 1)
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        assert len((await tasks[1]).best.ids) == 40 * 51 + 20
        assert engine.stats().cancelled == 1

    run_with(endless_model.engine(EngineSettings(max_rows=32)), test)


def test_a_cancelled_job_leaves_the_queue_at_once(endless_model) -> None:
    async def test(engine: Engine) -> None:
        running = asyncio.create_task(engine.submit(LONG))
        await until(lambda: engine.stats().active_jobs == 1)
        waiting = asyncio.create_task(engine.submit(LONG))
        await until(lambda: engine.stats().queued_jobs == 1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert engine.stats().queued_tokens == 0
        await running

    run_with(endless_model.engine(EngineSettings(max_rows=1)), test)


def test_a_deadline_in_the_past_is_never_computed(endless_engine) -> None:
    with pytest.raises(DeadlineExceeded):
        asyncio.run(endless_engine.submit(replace(LONG, deadline=time.monotonic())))
    assert endless_engine.stats().encoded == 0
    assert endless_engine.stats().expired == 1


def test_a_deadline_ends_a_job_that_is_being_decoded(endless_model) -> None:
    now = 0.0

    async def test(engine: Engine) -> None:
        nonlocal now
        late = asyncio.create_task(engine.submit(replace(LONG, decoder=Npad(samples=5), deadline=10.0)))
        await until(lambda: engine.stats().active_rows == 9)
        now = 10.0
        with pytest.raises(DeadlineExceeded) as error:
            await late
        assert error.value.waited_s == 10.0
        assert engine.stats().active_rows == 0

    run_with(endless_model.engine(clock=lambda: now), test)


def test_a_deadline_ends_a_job_that_is_still_waiting(endless_model) -> None:
    now = 0.0

    async def test(engine: Engine) -> None:
        nonlocal now
        running = asyncio.create_task(engine.submit(LONG))
        await until(lambda: engine.stats().active_jobs == 1)
        late = asyncio.create_task(engine.submit(replace(LONG, deadline=10.0)))
        await until(lambda: engine.stats().queued_jobs == 1)
        now = 10.0
        with pytest.raises(DeadlineExceeded):
            await late
        assert not running.done()
        assert engine.stats().encoded == 1
        await running

    run_with(endless_model.engine(EngineSettings(max_rows=1), clock=lambda: now), test)


def test_a_full_queue_refuses_with_an_estimate_and_takes_jobs_again_later(endless_model) -> None:
    async def test(engine: Engine) -> None:
        running = asyncio.create_task(engine.submit(LONG))
        await until(lambda: engine.stats().active_jobs == 1)
        waiting = asyncio.create_task(engine.submit_all([LONG, LONG]))  # 102 tokens
        await until(lambda: engine.stats().queued_tokens == 102)
        with pytest.raises(Overloaded) as refused:
            await engine.submit(LONG)
        assert (refused.value.queued_tokens, refused.value.limit_tokens) == (102, 150)
        assert 0 < refused.value.retry_after_s <= 120
        await running
        await waiting
        await engine.submit(LONG)
        assert engine.stats().overloaded == 1

    run_with(endless_model.engine(EngineSettings(max_rows=1, queue_tokens=150)), test)


def test_a_list_is_admitted_as_a_whole_or_not_at_all(endless_model) -> None:
    async def test(engine: Engine) -> None:
        running = asyncio.create_task(engine.submit_all([LONG, LONG]))
        await until(lambda: engine.stats().queued_jobs == 1)
        with pytest.raises(Overloaded):
            await engine.submit_all([SHORT] * 60)
        assert engine.stats().queued_jobs == 1
        await running

    run_with(endless_model.engine(EngineSettings(max_rows=1, queue_tokens=150)), test)


def test_a_list_larger_than_the_queue_is_taken_when_nothing_waits(endless_model) -> None:
    async def test(engine: Engine) -> None:
        outputs = await engine.submit_all([SHORT] * 30)  # 60 tokens
        assert len(outputs) == 30

    run_with(endless_model.engine(EngineSettings(queue_tokens=10)), test)


def test_callers_take_turns(endless_model) -> None:
    """A caller with one sentence does not wait for another one's list of twenty."""

    async def test(engine: Engine) -> None:
        finished: list[str] = []

        async def call(caller: str, count: int) -> None:
            await engine.submit_all([replace(SHORT, caller=caller)] * count)
            finished.append(caller)

        big = asyncio.create_task(call("big", 20))
        await until(lambda: engine.stats().queued_jobs > 10)
        await call("small", 1)
        assert finished == ["small"]
        await big

    run_with(endless_model.engine(EngineSettings(max_rows=1)), test)


def test_a_wide_search_is_not_starved_by_narrow_ones(endless_model) -> None:
    async def test(engine: Engine) -> None:
        async def keep_busy() -> None:
            while True:
                await engine.submit(replace(SHORT, caller="narrow"))

        narrow = [asyncio.create_task(keep_busy()) for _ in range(6)]
        await until(lambda: engine.stats().active_rows == 4)
        wide = replace(SHORT, decoder=Beam(size=4), caller="wide")
        await asyncio.wait_for(engine.submit(wide), timeout=10)
        for task in narrow:
            task.cancel()
        await asyncio.gather(*narrow, return_exceptions=True)

    run_with(endless_model.engine(EngineSettings(max_rows=4)), test)


def test_short_sentences_overtake_long_ones(endless_model) -> None:
    async def test(engine: Engine) -> None:
        long = asyncio.create_task(engine.submit(LONG))
        await until(lambda: engine.stats().active_jobs == 1)
        for _ in range(3):
            await engine.submit(SHORT)
        assert not long.done()
        await long

    run_with(endless_model.engine(), test)


def test_tokens_are_reported_as_they_are_decided(endless_engine) -> None:
    heard: list[tuple[int, float, float | None]] = []
    output = asyncio.run(endless_engine.submit(replace(SHORT, on_token=lambda *token: heard.append(token))))
    assert [token for token, _, _ in heard] == list(output.best.ids)
    assert [log_probability for _, log_probability, _ in heard] == list(output.best.token_log_probabilities)


def test_draining_finishes_what_was_admitted(endless_model) -> None:
    async def scenario() -> None:
        engine = endless_model.engine(EngineSettings(max_rows=2))
        engine.start()
        admitted = asyncio.create_task(engine.submit_all([SHORT] * 10))
        await until(lambda: engine.stats().active_jobs > 0)
        await engine.close(drain=True)
        assert len(await admitted) == 10
        with pytest.raises(EngineClosed):
            await engine.submit(SHORT)

    asyncio.run(scenario())


def test_closing_without_draining_drops_what_was_admitted(endless_model) -> None:
    async def scenario() -> None:
        engine = endless_model.engine(EngineSettings(max_rows=1))
        engine.start()
        admitted = [asyncio.create_task(engine.submit(LONG)) for _ in range(4)]
        await until(lambda: engine.stats().active_jobs > 0)
        await engine.close(drain=False)
        for result in await asyncio.gather(*admitted, return_exceptions=True):
            assert isinstance(result, Cancelled)

    asyncio.run(scenario())


def failing_once(function: Callable[..., Any]) -> Callable[..., Any]:
    failures = iter([RuntimeError("out of luck")])

    def wrapper(*arguments: Any) -> Any:
        for failure in failures:
            raise failure
        return function(*arguments)

    return wrapper


def test_a_failing_step_fails_the_jobs_of_its_lane_and_not_the_engine(endless_model) -> None:
    async def test(engine: Engine) -> None:
        bystander = asyncio.create_task(engine.submit(LONG))
        await until(lambda: engine.stats().active_jobs == 1)
        short_lane = engine._worker._lanes[0]
        short_lane.step = failing_once(short_lane.step)
        with pytest.raises(EngineFailed, match="out of luck"):
            await engine.submit(SHORT)
        assert (await engine.submit(SHORT)).best.token_log_probabilities
        assert (await bystander).best.token_log_probabilities
        assert engine.stats().active_rows == 0

    run_with(endless_model.engine(), test)


def test_a_failing_encoder_fails_its_group_and_not_the_engine(endless_model) -> None:
    async def test(engine: Engine) -> None:
        encoder = engine._worker._encoder
        encoder.encode = failing_once(encoder.encode)
        with pytest.raises(EngineFailed, match="out of luck"):
            await engine.submit_all([SHORT, SHORT])
        assert len(await engine.submit_all([SHORT, SHORT])) == 2

    run_with(endless_model.engine(), test)


@pytest.mark.parametrize(
    ("job", "error", "message"),
    [
        (Job((), NO_ACTOR), BadJob, "end with eos"),
        (Job((5, 6), NO_ACTOR), BadJob, "end with eos"),
        (Job((60, EOS), NO_ACTOR), BadJob, r"0 … 59"),
        (Job((-1, EOS), NO_ACTOR), BadJob, r"0 … 59"),
        (Job((5, EOS), (1.0,)), BadJob, "1 gains for 2 actors"),
        (Job((5,) * 60 + (EOS,), NO_ACTOR), SourceTooLong, "61 tokens; at most 60"),
        (replace(SHORT, decoder=Beam(size=11)), BadJob, "1 to 10"),
        (replace(SHORT, decoder=Beam(size=3, alternatives=4)), BadJob, "finds 1 to 3"),
        (replace(SHORT, decoder=Npad(samples=0)), BadJob, "samples is 0"),
        (replace(SHORT, decoder=Npad(samples=2, alternatives=3)), BadJob, "finds 1 to 2"),
    ],
)
def test_a_job_that_does_not_fit_is_refused(engine, job: Job, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        asyncio.run(engine.submit(job))
    assert engine.stats().queued_jobs == 0
