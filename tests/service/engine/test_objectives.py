"""Actors by weight: strength, blends, and how much they changed."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from service.engine.engine import Engine
from service.engine.sessions import open_session
from service.engine.types import Beam, Greedy, Job, Npad, Output

DECODERS = (Greedy(), Beam(size=3), Npad(samples=3))


def decode(engine: Engine, jobs: list[Job]) -> list[Output]:
    return asyncio.run(engine.submit_all(jobs))


def test_actors_change_what_is_said(engine, model) -> None:
    sources = model.sources(20)
    plain, one, two = (
        decode(engine, [Job(s, gains) for s in sources]) for gains in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    )
    for first, second in ((plain, one), (plain, two), (one, two)):
        assert sum(a.best.ids != b.best.ids for a, b in zip(first, second, strict=True)) > 10


def test_the_action_is_the_weighted_sum_of_the_actors_actions(model) -> None:
    """One step of the graph, by the gain the worker makes of a blend."""
    engine = model.engine()
    gain = engine._worker._gain((0.7, 0.3))
    assert gain.tolist() == pytest.approx([0.7] * 8 + [0.3] * 8)
    assert engine._worker._gain((0.0, 0.0)).tolist() == [0.0] * 16


@pytest.mark.parametrize("decoder", DECODERS)
def test_influence_of_no_actor_is_zero(engine, model, decoder) -> None:
    [output] = decode(engine, [Job(model.sources(1)[0], (0.0, 0.0), decoder, explain=True)])
    assert output.best.influence == (0.0,) * len(output.best.token_log_probabilities)


@pytest.mark.parametrize("decoder", DECODERS)
def test_explaining_changes_no_answer(engine, model, decoder) -> None:
    jobs = [Job(source, (0.5, 0.0), decoder) for source in model.sources(20)]
    plain = decode(engine, jobs)
    explained = decode(engine, [replace(job, explain=True) for job in jobs])
    for without, with_influence in zip(plain, explained, strict=True):
        assert without.best == replace(with_influence.best, influence=None)
        assert len(with_influence.best.influence) == len(without.best.token_log_probabilities)
        assert max(with_influence.best.influence) > 0


def test_influence_is_the_divergence_from_the_step_without_the_actor(engine, model) -> None:
    """Replays the output step by step through the graph itself, nudged and not, from the same state and word."""
    source = model.sources(1, seed=5)[0]
    [output] = decode(engine, [Job(source, (1.0, 0.0), explain=True, has_guard=False)])
    encoder, step = open_session(model.encoder, 1), open_session(model.step, 1)
    padding = len(source) % 2
    ids = np.array([[*source, *([0] * padding)]], np.int64)
    mask = np.array([[1.0] * len(source) + [0.0] * padding], np.float32)
    bias = np.where(mask > 0, 0.0, -1e9).astype(np.float32)
    keys, values, state = encoder.run(None, {"source_ids": ids, "source_mask": mask})
    said = [*output.best.ids, *([] if output.best.is_truncated else [3])]
    previous = 2
    for token, influence in zip(said, output.best.influence, strict=True):
        log_p, log_q, next_state = None, None, None
        for has_actor in (False, True):
            gain = np.zeros((1, 16), np.float32)
            gain[0, :8] = float(has_actor)
            inputs = {"previous_ids": np.array([previous]), "state": state, "keys": keys, "values": values}
            [found], next_state = step.run(None, {**inputs, "source_bias": bias, "actor_gain": gain})
            log_p, log_q = log_q, found
        assert influence == pytest.approx(float(np.exp(log_p) @ (log_p - log_q)), abs=1e-4)
        assert int(log_q.argmax()) == token
        previous, state = token, next_state
