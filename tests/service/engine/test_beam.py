import asyncio
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from service.engine.beam import BeamSearch
from service.engine.engine import Engine
from service.engine.lane import Lane, Tenant
from service.engine.sessions import Encoder, open_session
from service.engine.stepper import Stepper
from service.engine.types import Beam, Hypothesis, Job, Output

NO_ACTOR = (0.0, 0.0)
TINY_VOCABULARY = 6
TINY_STEPS = 4


def decode(engine: Engine, jobs: list[Job]) -> list[Output]:
    return asyncio.run(engine.submit_all(jobs))


def test_a_beam_of_one_is_greedy(engine, model) -> None:
    jobs = [Job(source, gains) for source in model.sources(20) for gains in (NO_ACTOR, (1.0, 0.0))]
    greedy = decode(engine, [replace(job, has_guard=False) for job in jobs])
    beam = decode(engine, [replace(job, decoder=Beam(size=1), has_guard=False) for job in jobs])
    for plain, wide in zip(greedy, beam, strict=True):
        assert wide.best.ids == plain.best.ids
        assert wide.best.token_log_probabilities == plain.best.token_log_probabilities


def test_a_wider_beam_usually_finds_likelier_outputs(engine, model) -> None:
    jobs = [Job(source, NO_ACTOR, Beam(size=size), has_guard=False) for size in (1, 10) for source in model.sources(40)]
    outputs = decode(engine, jobs)
    narrow, wide = outputs[:40], outputs[40:]
    finished = [(a.best, b.best) for a, b in zip(narrow, wide, strict=True) if not a.best.is_truncated]
    gains = [b.score - a.score for a, b in finished]
    # Usually, not always: a path that a narrow beam keeps can fall out of a wide one when better prefixes crowd it out.
    assert np.median(gains) > 0
    assert not any(b.is_truncated for _, b in finished)


def test_alternatives_come_best_first_and_are_distinct(engine, model) -> None:
    for output in decode(engine, [Job(s, NO_ACTOR, Beam(size=6, alternatives=6)) for s in model.sources(20)]):
        ids = [hypothesis.ids for hypothesis in output.hypotheses]
        assert len(ids) == 6
        finished = [h.score for h in output.hypotheses if not (h.is_truncated or h.is_repetitive)]
        assert finished == sorted(finished, reverse=True)


class TinyModel:
    """A vocabulary so small that every output can be listed; drives a lane directly, past the API's beam limit."""

    def __init__(self, random_model: type, capacity: int) -> None:
        self.model = random_model(TINY_VOCABULARY, scale=1.0, eos_bias=0.5)
        self.step = open_session(self.model.step, 1)
        shape = self.model.shape
        self.encoder = Encoder(open_session(self.model.encoder, 1), shape, 8)
        self.lane = Lane(Stepper(self.step, shape, capacity, True), shape, 16, capacity)

    def search(self, source: tuple[int, ...], search: BeamSearch) -> tuple[Hypothesis, ...]:
        encoded = self.encoder.encode([source])
        gain = np.ones(16, np.float32)
        self.lane.place(Tenant(search, len(source)), encoded.keys[0], encoded.values[0], encoded.states[0], gain)
        while not self.lane.step():
            pass
        return search.hypotheses()

    def all_outputs(self, source: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], list[float]]]:
        """Every output of at most TINY_STEPS tokens, eos included, with its log-probabilities."""
        encoded = self.encoder.encode([source])
        width = encoded.keys.shape[1]
        fixed = {
            "keys": encoded.keys.copy(),
            "values": encoded.values.copy(),
            "source_bias": np.array([[0.0] * len(source) + [-1e9] * (width - len(source))], np.float32),
            "actor_gain": np.ones((1, 16), np.float32),
        }

        def extend(ids: tuple[int, ...], scores: list[float], state: np.ndarray) -> Iterator[tuple]:
            previous = np.array([ids[-1] if ids else 2])
            [log_probabilities], next_state = self.step.run(None, {**fixed, "previous_ids": previous, "state": state})
            for token in range(TINY_VOCABULARY):
                longer, longer_scores = (*ids, token), [*scores, float(log_probabilities[token])]
                if token == 3 or len(longer) == TINY_STEPS:
                    yield longer, longer_scores
                else:
                    yield from extend(longer, longer_scores, next_state)

        return extend((), [], encoded.states[:1].copy())


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 2.0])
def test_a_beam_wide_enough_is_an_exhaustive_search(model, alpha: float) -> None:
    every_prefix = 2000
    tiny = TinyModel(type(model), capacity=every_prefix)
    for source in ((4, 5, 3), (5, 5, 4, 1, 4, 3), (1, 3)):
        ranked = sorted(
            tiny.all_outputs(source),
            key=lambda output: (output[0][-1] != 3, -sum(output[1]) / len(output[1]) ** alpha),
        )
        search = BeamSearch(
            size=every_prefix,
            alternatives=12,
            length_alpha=alpha,
            eos_id=3,
            max_steps=TINY_STEPS,
            source_ids=source,
            has_guard=False,
        )
        found = tiny.search(source, search)
        expected = [ids[:-1] if ids[-1] == 3 else ids for ids, _ in ranked[:12]]
        assert [hypothesis.ids for hypothesis in found] == expected
        for hypothesis, (_, scores) in zip(found, ranked, strict=False):
            assert hypothesis.token_log_probabilities == pytest.approx(scores, abs=1e-5)


def test_the_search_ends_as_soon_as_nothing_better_can_come(model) -> None:
    """With alpha 0 a longer output is never likelier, so the first finished top hypothesis ends the search."""
    tiny = TinyModel(type(model), capacity=10)
    source = (4, 5, 3)
    search = BeamSearch(
        size=10, alternatives=1, length_alpha=0.0, eos_id=3, max_steps=50, source_ids=source, has_guard=False
    )
    steps = 0
    step = tiny.lane.step

    def count() -> list[Tenant]:
        nonlocal steps
        steps += 1
        return step()

    tiny.lane.step = count
    [best] = tiny.search(source, search)
    assert not best.is_truncated
    assert steps < 50
