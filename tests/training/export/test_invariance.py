"""A row's bits do not depend on its batch mates, nor on padding: alone, in any batch, with any even length.

States are compared, not only probabilities or words: a difference in the last bit grows over the steps.
"""

import numpy as np
import pytest

from training.export.graph import build_graphs
from training.export.sessions import PADDING_BIAS, BundleSessions, pad_sources, source_bias
from training.export.weights import Sizes, random_actor, random_weights

STEPS = 6


def trajectory(sessions: BundleSessions, sources, gains, words, extra_padding=0):
    """Return what the encoder and every step give for these rows: a list of arrays with the rows as first axis."""
    ids, mask = pad_sources(sources)
    ids = np.pad(ids, ((0, 0), (0, extra_padding)))
    mask = np.pad(mask, ((0, 0), (0, extra_padding)))
    keys, values, state = sessions.encoder.run(None, {"source_ids": ids, "source_mask": mask})
    feeds = {"keys": keys, "values": values, "source_bias": source_bias(mask), "state": state, "actor_gain": gains}
    results = [state]
    for step in range(STEPS):
        feeds["previous_ids"] = words[:, step]
        log_probabilities, feeds["state"] = sessions.run_step(feeds)
        results += [log_probabilities, feeds["state"]]
    return results


@pytest.fixture(scope="module")
def rows(actors):
    """48 sentences of 1 to 40 words with gains and previous words of their own."""
    generator = np.random.default_rng(11)
    sources = [[*generator.integers(4, 53, generator.integers(0, 40)).tolist(), 3] for _ in range(48)]
    gains = generator.choice([0.0, 0.5, 1.0], (48, sum(actor.units for actor in actors))).astype(np.float32)
    words = generator.integers(1, 53, (48, STEPS))
    return sources, gains, words


@pytest.fixture(scope="module")
def alone(rows, sessions):
    """Each row's trajectory on its own, in either precision."""
    sources, gains, words = rows
    return {
        kind: [trajectory(sessions(kind), [sources[row]], gains[[row]], words[[row]]) for row in range(len(sources))]
        for kind in ("fp32", "int8")
    }


@pytest.mark.parametrize("kind", ["fp32", "int8"])
@pytest.mark.parametrize("size", [2, 3, 5, 8, 16, 31, 32])
def test_row_is_bit_identical_alone_and_among_random_batch_mates(rows, alone, sessions, kind, size):
    sources, gains, words = rows
    generator = np.random.default_rng(size)
    for _ in range(6):
        batch = generator.choice(len(sources), size, replace=False)
        together = trajectory(sessions(kind), [sources[row] for row in batch], gains[batch], words[batch])
        for position, row in enumerate(batch):
            for ours, expected in zip(together, alone[kind][row], strict=True):
                np.testing.assert_array_equal(ours[position], expected[0])


@pytest.mark.parametrize("kind", ["fp32", "int8"])
@pytest.mark.parametrize("extra", [2, 4, 6, 30, 64])
def test_row_is_bit_identical_with_more_even_padding(rows, alone, sessions, kind, extra):
    sources, gains, words = rows
    for row in range(0, len(sources), 3):
        padded = trajectory(sessions(kind), [sources[row]], gains[[row]], words[[row]], extra)
        for ours, expected in zip(padded, alone[kind][row], strict=True):
            np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("kind", ["fp32", "int8"])
def test_keys_and_values_may_be_padded_with_zeros_after_encoding(rows, sessions, kind):
    """What the service does: sentences encoded in one group join rows of a longer one."""
    sources, gains, words = rows
    short = sessions(kind).encode([sources[0]])
    feeds = {**short, "actor_gain": gains[[0]], "previous_ids": words[0, :1]}
    expected = sessions(kind).run_step(feeds)
    for name in ("keys", "values"):
        feeds[name] = np.pad(short[name], ((0, 0), (0, 10), (0, 0)))
    feeds["source_bias"] = np.pad(short["source_bias"], ((0, 0), (0, 10)), constant_values=PADDING_BIAS)
    for ours, theirs in zip(sessions(kind).run_step(feeds), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", ["fp32", "int8"])
def test_fully_padded_row_is_finite_and_harmless(rows, alone, sessions, kind):
    """An empty slot of the service: no source at all."""
    sources, gains, words = rows
    full = sessions(kind).encode([sources[1]])
    feeds = {
        name: np.concatenate([array, np.zeros_like(array)])
        for name, array in {**full, "actor_gain": gains[[1]], "previous_ids": words[1, :1]}.items()
    }
    feeds["source_bias"][1] = PADDING_BIAS
    log_probabilities, state = sessions(kind).run_step(feeds)
    assert np.isfinite(log_probabilities).all()
    np.testing.assert_array_equal(log_probabilities[0], alone[kind][1][1][0])
    np.testing.assert_array_equal(state[0], alone[kind][1][2][0])


@pytest.fixture(scope="module", params=["before", "after"])
def shipped_size(request):
    """Graphs as wide as the shipped models': other kernels and blockings of the products than in a small one."""
    sizes = Sizes(300, 1000, embedding=256, encoder=256, decoder=512, attention=128, readout=256, refinement=2)
    model = random_weights(sizes, seed=3, scale=0.06)
    acts_after = request.param == "after"
    actors = [
        random_actor(f"actor{index}", 32 - acts_after, sizes, index, scale=0.05, acts_after=acts_after)
        for index in range(4)
    ]
    return {kind: BundleSessions(build_graphs(model, actors, kind, state_range=1.5)) for kind in ("fp32", "int8")}


@pytest.mark.parametrize("kind", ["fp32", "int8"])
def test_row_of_a_shipped_size_is_bit_identical_alone_and_in_any_batch(shipped_size, kind):
    generator = np.random.default_rng(7)
    sources = [[*generator.integers(4, 300, generator.integers(0, 60)).tolist(), 3] for _ in range(24)]
    gains = generator.choice([0.0, 1.0], (24, 128)).astype(np.float32)
    words = generator.integers(1, 1000, (24, STEPS))
    rows = range(24)
    alone = [trajectory(shipped_size[kind], [sources[row]], gains[[row]], words[[row]]) for row in rows]
    for size in (2, 7, 12, 24):
        batch = generator.choice(24, size, replace=False)
        together = trajectory(shipped_size[kind], [sources[row] for row in batch], gains[batch], words[batch], 4)
        for position, row in enumerate(batch):
            for ours, expected in zip(together, alone[row], strict=True):
                np.testing.assert_array_equal(ours[position], expected[0])
