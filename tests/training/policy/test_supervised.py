import numpy as np
import pytest
import torch

from training.config import Supervised
from training.corpus.cache import EOS, TokenCorpus
from training.decoding.beam import BeamSettings, beam
from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.policy.actor import build_actor
from training.policy.dev import DevScores
from training.policy.supervised import Lessons, start, train

LIMITS = LengthLimits(ratio=0.0, extra=8, maximum=200)
SOURCES = [[4 + i % 7, 4 + (i * i) % 5, *[5] * (i % 4), 3] for i in range(30)]


class Notes:
    """An observer that remembers."""

    def __init__(self):
        self.looks, self.rates, self.checkpoints = [], [], 0

    def updated(self, state, measures):
        self.rates.append(state.rate_factor)

    def looked(self, state, look):
        self.looks.append(look)

    def checkpoint(self, state):
        self.checkpoints += 1


def corpus_of(sources, targets):
    sides = []
    for side in (sources, targets):
        lengths = np.array([len(ids) for ids in side], np.int32)
        flat = np.array([token for ids in side for token in ids], np.int32)
        sides.append((flat, lengths, np.cumsum(lengths, dtype=np.int64) - lengths))
    (one, one_lengths, one_starts), (other, other_lengths, other_starts) = sides
    return TokenCorpus(one, other, one_lengths, other_lengths, one_starts, other_starts)


def scores(objective):
    return DevScores(objective, bleu=0.0, chrf=0.0, log_probability=-1.0, length_ratio=1.0)


@pytest.fixture
def second_best(tiny_model):
    """A model that ends its sentences, and the second hypothesis of each source as its target."""
    model = tiny_model(seed=3, scale=2.0)
    model.output.bias[EOS] += 1.0
    lists = beam(model, SOURCES, limits=LIMITS, settings=BeamSettings(beam_size=4, n_best=2))
    kept = [
        (source, [*second.ids, EOS])
        for source, (_, second) in zip(SOURCES, lists, strict=True)
        if not second.is_truncated
    ]
    assert len(kept) > 20
    return model, [source for source, _ in kept], [target for _, target in kept]


@pytest.mark.parametrize("loss", ["margin", "cross-entropy"])
@pytest.mark.parametrize("variant", ["plain", "gated"])
def test_the_actor_learns_to_say_the_second_best(second_best, loss, variant):
    model, sources, targets = second_best
    actor = build_actor(model.sizes, variant, 16, sees_previous_word=True, seed=0)

    def share(candidate):
        outputs = greedy(model, sources, limits=LIMITS, actor=candidate)
        return sum([*one.ids, EOS] == target for one, target in zip(outputs, targets, strict=True)) / len(targets)

    config = Supervised(loss=loss, learning_rate=0.03, batch_tokens=400, max_steps=150, average=0.9, evaluate_every=50)
    notes = Notes()
    state = start(actor, config)
    corpus = corpus_of(sources, targets)
    train(state, model, lambda number, now: Lessons(corpus), config, 12, 1, lambda one: scores(share(one)), notes)
    assert notes.looks[0].dev.objective < 0.3
    assert share(state.best_actor()) == state.best_look.dev.objective > 0.5
    assert [look.update for look in notes.looks] == [0, 50, 100, 150]


def train_with_script(tiny_model, script, **options):
    """Train while the dev set gives the scripted objectives, whatever the actor does."""
    model = tiny_model()
    config = Supervised(**{"max_steps": 40, "evaluate_every": 4, "batch_tokens": 60, "average": 0.0} | options)
    given = iter(script)
    notes = Notes()
    state = start(build_actor(model.sizes, "plain", 4, False, 0), config)
    corpus = corpus_of(SOURCES, [[5, 6, EOS]] * len(SOURCES))
    train(state, model, lambda number, now: Lessons(corpus), config, 12, 1, lambda one: scores(next(given)), notes)
    return state, notes


def test_training_stops_when_the_dev_objective_no_longer_rises(tiny_model):
    state, notes = train_with_script(tiny_model, [0.30, 0.31, 0.32, 0.31, 0.31, 0.9], patience=2)
    assert [look.update for look in notes.looks] == [0, 4, 8, 12, 16]
    assert state.best_look.update == 8


def test_a_collapse_halves_the_rate_and_training_goes_on_from_the_best(tiny_model):
    state, notes = train_with_script(tiny_model, [0.30, 0.32, 0.10, 0.33, 0.34], max_steps=16)
    assert [look.is_collapse for look in notes.looks] == [False, False, True, False, False]
    assert notes.rates == [1.0] * 8 + [0.5] * 8
    assert state.best_look.update == 16


def test_training_gives_up_after_the_fourth_collapse_and_keeps_the_best(tiny_model):
    state, notes = train_with_script(tiny_model, [0.30, 0.32, *[0.10] * 20])
    assert sum(look.is_collapse for look in notes.looks) == 4
    assert state.best_look.dev.objective == 0.32
    assert state.update == 20


def test_an_interrupted_round_goes_on_with_the_batches_it_would_have_seen(tiny_model, tmp_path):
    whole, _ = train_with_script(tiny_model, [0.3] * 4, max_steps=12)
    # The same, resumed from what was saved at the look after update 8.
    model = tiny_model()
    config = Supervised(max_steps=12, evaluate_every=4, batch_tokens=60, average=0.0)
    corpus = corpus_of(SOURCES, [[5, 6, EOS]] * len(SOURCES))

    class Interrupting(Notes):
        def checkpoint(self, state):
            if state.update == 8:
                torch.save(state.as_dict(), tmp_path / "state.pt")
                raise InterruptedError

    first = start(build_actor(model.sizes, "plain", 4, False, 0), config)
    with pytest.raises(InterruptedError):
        train(first, model, lambda number, now: Lessons(corpus), config, 12, 1, lambda one: scores(0.3), Interrupting())
    second = start(build_actor(model.sizes, "plain", 4, False, 0), config)
    second.load_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    train(second, model, lambda number, now: Lessons(corpus), config, 12, 1, lambda one: scores(0.3), Notes())
    assert second.update == whole.update == 12
    for name, tensor in whole.optimizer.state_dict()["state"][0].items():
        torch.testing.assert_close(tensor, second.optimizer.state_dict()["state"][0][name], rtol=0, atol=0)


def test_dropout_is_in_the_model_while_the_actor_learns_and_gone_afterwards(second_best):
    model, sources, targets = second_best
    corpus, outputs = corpus_of(sources, targets), []

    def growth(actor):
        return scores(actor.output.weight.abs().sum().item())  # the last look is the best

    for dropout in (0.0, 0.4, 0.4):
        state = start(build_actor(model.sizes, "plain", 4, sees_previous_word=True, seed=0), Supervised())
        config = Supervised(dropout=dropout, batch_tokens=400, max_steps=5, evaluate_every=5)
        train(state, model, lambda number, now: Lessons(corpus), config, 12, 1, growth, Notes())
        assert not model.training
        assert model.dropout == 0.0
        outputs.append(state.actor.output.weight)
    # What is dropped is drawn from the seed and the update alone.
    assert torch.equal(outputs[1], outputs[2])
    assert not torch.allclose(outputs[0], outputs[1])
