"""A translation never depends on its batch mates: the claim of the whole engine, checked bit for bit."""

import asyncio
import itertools

import pytest

from service.engine.engine import Engine
from service.engine.types import Beam, EngineSettings, Greedy, Job, Npad, Output

CALLERS = 32
GAINS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.7, 0.3), (0.0, 0.5))
DECODERS = (Greedy(), Greedy(), Greedy(), Beam(size=3, alternatives=2), Npad(samples=3, alternatives=2), Beam(size=10))


def mixed_jobs(sources: list[tuple[int, ...]]) -> list[Job]:
    """Every combination of objective, decoder and explain, spread over sentences of all lengths."""
    choices = itertools.cycle(itertools.product(GAINS, DECODERS, (False, False, True)))
    return [
        Job(source, gains, decoder, explain=explain)
        for source, (gains, decoder, explain) in zip(sources, choices, strict=False)
    ]


async def decode_alone(engine: Engine, jobs: list[Job]) -> list[Output]:
    return [await engine.submit(job) for job in jobs]


async def decode_under_load(engine: Engine, jobs: list[Job]) -> list[Output]:
    """CALLERS callers at once, each with every CALLERS-th job, one after the other."""
    outputs: dict[int, Output] = {}

    async def call(first: int) -> None:
        for index in range(first, len(jobs), CALLERS):
            outputs[index] = await engine.submit(jobs[index])

    await asyncio.gather(*(call(first) for first in range(CALLERS)))
    return [outputs[index] for index in range(len(jobs))]


def test_1000_sentences_get_the_same_answer_alone_and_under_load(engine, model) -> None:
    jobs = mixed_jobs(model.sources(1000))

    async def both() -> tuple[list[Output], list[Output]]:
        return await decode_alone(engine, jobs), await decode_under_load(engine, jobs)

    alone, loaded = asyncio.run(both())
    assert [output.hypotheses for output in loaded] == [output.hypotheses for output in alone]
    sizes = engine.stats().batch_sizes
    assert max(sizes) > 10, "the load must have shared batches, or nothing was tested"


def test_a_list_gets_the_same_answers_as_its_sentences(engine, model) -> None:
    jobs = mixed_jobs(model.sources(100, seed=1))

    async def both() -> tuple[list[Output], list[Output]]:
        return await engine.submit_all(jobs), await decode_alone(engine, jobs)

    together, alone = asyncio.run(both())
    assert [output.hypotheses for output in together] == [output.hypotheses for output in alone]


def test_rows_one_by_one_give_the_same_answers_as_rows_together(engine, model) -> None:
    jobs = mixed_jobs(model.sources(60, seed=2))
    careful = model.engine(EngineSettings(rows_together=False))
    careful.start()

    async def both() -> tuple[list[Output], list[Output]]:
        try:
            return await engine.submit_all(jobs), await careful.submit_all(jobs)
        finally:
            await careful.close()

    together, one_by_one = asyncio.run(both())
    assert [output.hypotheses for output in one_by_one] == [output.hypotheses for output in together]


@pytest.mark.parametrize("max_rows", [1, 3, 100])
def test_the_size_of_the_batch_changes_no_answer(engine, model, max_rows: int) -> None:
    jobs = mixed_jobs(model.sources(60, seed=3))
    other = model.engine(EngineSettings(max_rows=max_rows, encode_group=3))
    other.start()

    async def both() -> tuple[list[Output], list[Output]]:
        try:
            return await engine.submit_all(jobs), await other.submit_all(jobs)
        finally:
            await other.close()

    expected, given = asyncio.run(both())
    assert [output.hypotheses for output in given] == [output.hypotheses for output in expected]
