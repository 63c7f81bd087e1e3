"""Looking ahead on a small model, against continuations that are decoded one by one."""

import numpy as np
import pytest
import torch

from training.config import Supervised
from training.corpus.cache import BOS, EOS, TokenCorpus
from training.decoding.greedy import decode_rows, greedy
from training.decoding.hypothesis import LengthLimits
from training.decoding.scoring import score_under_model
from training.policy.actor import build_actor
from training.policy.dev import DevScores
from training.policy.lookahead import Crossroads, look_ahead
from training.policy.losses import regret_loss
from training.policy.supervised import Lessons, start, train

LIMITS = LengthLimits(ratio=0.0, extra=8, maximum=200)
SOURCES = [[4 + i % 7, 4 + (i * i) % 5, *[5] * (i % 4), 3] for i in range(30)]


@pytest.fixture
def model(tiny_model):
    model = tiny_model(seed=3, scale=2.0)
    model.output.bias[EOS] += 1.0
    return model


def mean_log_probability(model, sources):
    def judge(numbers, outputs, is_cut):
        scores = score_under_model(model, [sources[number] for number in numbers], outputs, truncated=is_cut)
        return [sum(row) / max(1, len(row)) for row in scores]

    return judge


def an_actor(model, seed=1):
    """One that acts."""
    actor = build_actor(model.sizes, "plain", 4, True, seed)
    torch.nn.init.normal_(actor.output.weight, std=0.5, generator=torch.Generator().manual_seed(seed))
    return actor.requires_grad_(False)


def said_after(model, source, prefix, actor):
    """What greedy decoding says when it is made to begin with `prefix`: one sentence, one step at a time."""
    encoded = model.encode(torch.tensor([source]), torch.ones(1, len(source)))
    state, previous, output = encoded.first_state, torch.tensor([BOS]), []
    for step in range(LIMITS.limit(len(source))):
        moved = model.step(previous, state, encoded, actor)
        word = prefix[step] if step < len(prefix) else int(moved.logits.argmax())
        if word == EOS:
            return tuple(output), False
        output.append(word)
        state, previous = moved.state, torch.tensor([word])
    return tuple(output), True


@pytest.mark.parametrize("acts", [False, True])
def test_every_return_is_that_of_the_output_the_word_leads_to(model, acts):
    actor = an_actor(model) if acts else None
    judge = mean_log_probability(model, SOURCES)
    found = look_ahead(model, SOURCES, judge, limits=LIMITS, actor=actor, candidates=3, nearness=2.0)
    outputs = greedy(model, SOURCES, limits=LIMITS, actor=actor)
    assert (found.lengths > 0).tolist() == [not one.is_truncated for one in outputs]
    starts, tried = np.cumsum(found.lengths) - found.lengths, 0
    for number, output in enumerate(outputs):
        words = [*output.ids, EOS]
        for step in range(found.lengths[number]):
            row = starts[number] + step
            assert found.candidates[row, 0] == words[step]
            for word, value in zip(found.candidates[row], found.returns[row], strict=True):
                if np.isfinite(value):
                    ids, is_cut = said_after(model, SOURCES[number], [*words[:step], int(word)], actor)
                    assert value == pytest.approx(judge([number], [ids], [is_cut])[0], abs=1e-5)
                    tried += 1
    assert tried > 1.5 * len(found.candidates)


def test_only_words_that_were_nearly_said_are_tried(model):
    judge = mean_log_probability(model, SOURCES)
    none, some, all_of_them = (
        look_ahead(model, SOURCES, judge, limits=LIMITS, actor=None, candidates=4, nearness=nearness)
        for nearness in (1e-6, 1.0, 1e6)
    )
    assert not np.isfinite(none.returns[:, 1:]).any()
    assert none.stakes == 1.0
    near = np.isfinite(some.returns[:, 1:])
    assert 0 < near.sum() < near.size
    assert (some.candidates[:, 1:][~near] == 0).all()
    # At the last step there is, only eos may be said.
    assert np.isfinite(all_of_them.returns[:, 1:]).mean() > 0.9
    best = np.where(np.isfinite(some.returns), some.returns, -np.inf).max(axis=1)
    assert (best >= some.returns[:, 0]).all()
    assert (best > some.returns[:, 0]).any()


def test_decoding_goes_on_from_the_middle_of_an_output(model):
    limits = torch.full((1,), 8)
    for source in SOURCES[:6]:
        encoded = model.encode(torch.tensor([source]), torch.ones(1, len(source)))
        (whole,) = decode_rows(model, encoded, limits)
        if len(whole.ids) < 2:
            continue
        first = model.step(torch.tensor([BOS]), encoded.first_state, encoded)
        behind = encoded._replace(first_state=first.state)
        (rest,) = decode_rows(model, behind, limits - 1, previous=torch.tensor(whole.ids[:1]))
        assert rest.ids == whole.ids[1:]
        assert rest.is_truncated == whole.is_truncated


def test_shards_that_are_there_are_not_looked_for_again(model, tmp_path, monkeypatch):
    monkeypatch.setattr("training.policy.shards.SHARD_SENTENCES", 12)
    judge, asked = mean_log_probability(model, SOURCES), []

    def look(first, part):
        asked.append(first)
        return look_ahead(
            model,
            part,
            lambda numbers, outputs, is_cut: judge([first + number for number in numbers], outputs, is_cut),
            limits=LIMITS, actor=None, candidates=3, nearness=1.0,
        )  # fmt: skip

    whole = Crossroads.stored(tmp_path, SOURCES, look)
    (tmp_path / "00001.npz").unlink()
    again = Crossroads.stored(tmp_path, SOURCES, look)
    assert asked == [0, 12, 24, 12]
    for name in ("lengths", "candidates", "returns"):
        assert np.array_equal(getattr(whole, name), getattr(again, name))
    at_once = look_ahead(model, SOURCES, judge, limits=LIMITS, actor=None, candidates=3, nearness=1.0)
    assert np.array_equal(whole.candidates, at_once.candidates)


# -- the loss ----------------------------------------------------------------------------------------------------------


def regret(model, readouts, candidates, returns, stakes=0.5):
    return regret_loss(model, readouts, torch.tensor(candidates), torch.tensor(returns), margin=1.0, stakes=stakes)


def test_the_loss_is_the_costliest_rivals_hinge_times_its_regret(model):
    torch.manual_seed(0)
    readouts = torch.randn(3, model.sizes.readout)
    logits = readouts @ model.output_weight().t() + model.output.bias
    candidates = [[5, 6, 7], [4, 8, 0], [7, 0, 0]]
    returns = [[-0.9, -0.5, -0.6], [-0.4, -0.45, -torch.inf], [-0.7, -torch.inf, -torch.inf]]
    targets, costs = [6, 4, 7], []
    prices = [{5: 0.8, 7: 0.2}, {8: 0.1}, {}]  # regret in units of the stakes; any other word is 0.2 bad
    for row, (target, known) in enumerate(zip(targets, prices, strict=True)):
        costs.append(
            max(
                known.get(word, 0.2) * max(0.0, 1.0 - float(logits[row, target] - logits[row, word]))
                for word in range(model.sizes.target_vocabulary)
                if word != target
            )
        )
    loss, on_top = regret(model, readouts, candidates, returns)
    assert float(loss) == pytest.approx(sum(costs) / 3, rel=1e-4)
    tops = logits.argmax(dim=1).tolist()
    assert float(on_top) == pytest.approx(sum(a == b for a, b in zip(tops, targets, strict=True)) / 3)


def test_a_choice_that_does_not_matter_costs_nothing_and_none_costs_too_much(model):
    readouts = torch.zeros(1, model.sizes.readout)
    every = list(range(model.sizes.target_vocabulary))
    same, _ = regret(model, readouts, [every], [[-0.5] * len(every)])
    assert float(same) == 0.0
    disaster, _ = regret(model, readouts, [[4, 5]], [[-0.5, -900.0]])
    worse, _ = regret(model, readouts, [[4, 5]], [[-0.5, -9000.0]])
    assert float(disaster) == float(worse) > 0.0


def test_an_actor_that_is_taught_by_looking_ahead_finds_likelier_outputs(tiny_model):
    model = tiny_model(seed=1, scale=2.0)
    model.output.bias[EOS] += 1.0
    judge = mean_log_probability(model, SOURCES)
    found = look_ahead(model, SOURCES, judge, limits=LIMITS, actor=None, candidates=4, nearness=3.0)
    corpus, ended = found.as_corpus(_sources_alone(), np.arange(len(SOURCES))), np.flatnonzero(found.lengths)
    assert len(corpus) == len(ended) > 20

    def value(actor):
        outputs = greedy(model, [SOURCES[number] for number in ended], limits=LIMITS, actor=actor)
        return float(np.mean(judge(ended, [one.ids for one in outputs], [one.is_truncated for one in outputs])))

    how = Supervised(learning_rate=1e-3, max_steps=100, evaluate_every=50, batch_tokens=200, average=0.9)
    state = start(build_actor(model.sizes, "plain", 16, True, 1), how)
    train(
        state, model, lambda number, state: Lessons(corpus, found), how, max_tokens=40, seed=1,
        measure=lambda actor: DevScores(value(actor), 0.0, 0.0, -1.0, 1.0), observer=Silent(),
    )  # fmt: skip
    possible = float(np.mean([rows.max() for rows in _by_sentence(found)])) - value(None)  # by one other word
    assert state.best_look.dev.objective - value(None) > 0.3 * possible > 0.01


class Silent:
    def updated(self, state, measures): ...
    def looked(self, state, look): ...
    def checkpoint(self, state): ...


def _sources_alone():
    lengths = np.array([len(source) for source in SOURCES], np.int32)
    flat = np.array([token for source in SOURCES for token in source], np.int32)
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    return TokenCorpus(flat, flat, lengths, lengths, starts, starts)


def _by_sentence(found: Crossroads):
    return [part for part in np.split(found.returns, np.cumsum(found.lengths)[:-1]) if len(part)]
