import asyncio
from dataclasses import replace

from service.engine.engine import Engine
from service.engine.types import Job, Npad, Output

NO_ACTOR = (0.0, 0.0)


def decode(engine: Engine, jobs: list[Job]) -> list[Output]:
    return asyncio.run(engine.submit_all(jobs))


def test_one_sample_is_greedy(engine, model) -> None:
    jobs = [Job(source, NO_ACTOR) for source in model.sources(20)]
    greedy = decode(engine, jobs)
    npad = decode(engine, [replace(job, decoder=Npad(samples=1)) for job in jobs])
    assert [output.hypotheses for output in npad] == [output.hypotheses for output in greedy]


def test_no_noise_is_greedy(engine, model) -> None:
    jobs = [Job(source, NO_ACTOR) for source in model.sources(20)]
    greedy = decode(engine, jobs)
    npad = decode(engine, [replace(job, decoder=Npad(samples=4, sigma=0.0)) for job in jobs])
    assert [output.hypotheses for output in npad] == [output.hypotheses for output in greedy]


def test_the_answer_is_never_less_likely_than_greedys(engine, model) -> None:
    jobs = [Job(source, NO_ACTOR, has_guard=False) for source in model.sources(60)]
    greedy = [output.best for output in decode(engine, jobs)]
    npad = [output.best for output in decode(engine, [replace(job, decoder=Npad(samples=8)) for job in jobs])]
    for plain, noisy in zip(greedy, npad, strict=True):
        if plain.is_truncated == noisy.is_truncated:
            assert noisy.log_probability >= plain.log_probability - 1e-4
    assert (
        sum(noisy.log_probability > plain.log_probability + 0.01 for plain, noisy in zip(greedy, npad, strict=True)) > 5
    )


def test_equal_texts_and_seeds_give_equal_answers_and_other_seeds_others(engine, model) -> None:
    job = Job(model.sources(1, seed=4)[0], NO_ACTOR, Npad(samples=8, sigma=1.0, alternatives=8))
    first, again = decode(engine, [job, job])
    assert first.hypotheses == again.hypotheses
    [other] = decode(engine, [replace(job, decoder=replace(job.decoder, seed=1))])
    assert {hypothesis.ids for hypothesis in other.hypotheses} != {hypothesis.ids for hypothesis in first.hypotheses}


def test_alternatives_are_distinct_and_finished_ones_come_first_by_likelihood(engine, model) -> None:
    jobs = [Job(s, NO_ACTOR, Npad(samples=10, sigma=1.0, alternatives=10), has_guard=False) for s in model.sources(20)]
    for output in decode(engine, jobs):
        found = output.hypotheses
        assert len({hypothesis.ids for hypothesis in found}) == len(found)
        order = [(hypothesis.is_truncated, -hypothesis.log_probability) for hypothesis in found]
        assert order == sorted(order)


def test_with_an_actor_log_probabilities_are_those_of_the_frozen_model(engine, model) -> None:
    """Where actor and noise change no word, the answer must score as plain greedy scores it."""
    jobs = [Job(source, (0.001, 0.0), Npad(samples=2, sigma=0.0)) for source in model.sources(30)]
    greedy = decode(engine, [Job(job.source_ids, NO_ACTOR) for job in jobs])
    same = 0
    for plain, npad in zip(greedy, decode(engine, jobs), strict=True):
        if npad.best.ids == plain.best.ids:
            same += 1
            assert npad.best == plain.best
    assert same > 10
