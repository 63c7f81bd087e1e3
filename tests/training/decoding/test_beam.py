import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from training.decoding.beam import BeamSettings, beam
from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits

# Vocabulary 0 1 2 3 4 5.  bos: 4 with .6, 5 with .4.   4: eos .5, 4 .3, 5 .2.   5: eos .9, 4 .1.
# Greedy: 4 eos with .30.   Better: 5 eos with .36.
GARDEN_PATH = torch.tensor(
    [[[[0, 0, 0, 1, 0, 0]] * 2 + [[0, 0, 0, 0, 0.6, 0.4]] + [[0, 0, 0, 1, 0, 0]]
      + [[0, 0, 0, 0.5, 0.3, 0.2]] + [[0, 0, 0, 0.9, 0.1, 0]]]]
)  # fmt: skip


def search(model, sources, limits, actor=None, **choices):
    return beam(model, sources, limits=limits, settings=BeamSettings(**choices), actor=actor)


def normalised(hypothesis, alpha):
    return hypothesis.log_probability / len(hypothesis.token_log_probabilities) ** alpha


def test_a_beam_of_two_leaves_the_garden_path(tabular, short):
    [[best, second]] = search(tabular(GARDEN_PATH), [[0, 3]], short, beam_size=2, n_best=2, length_alpha=0.0)
    assert (best.ids, second.ids) == ((5,), (4,))
    assert best.log_probability == pytest.approx(math.log(0.36))
    assert best.token_log_probabilities == pytest.approx((math.log(0.4), math.log(0.9)))
    assert second.log_probability == pytest.approx(math.log(0.30))


def test_length_normalisation_prefers_the_longer_of_two_equal_totals(tabular, short):
    # eos at once with .25; or 4, then eos, with .5 * .5 = .25; or 0, which never ends.
    table = torch.tensor([[[[1, 0, 0, 0, 0]] * 2 + [[0.25, 0, 0, 0.25, 0.5], [0, 0, 0, 1, 0], [0.5, 0, 0, 0.5, 0]]]])
    [[best, second]] = search(tabular(table), [[0, 3]], short, beam_size=4, n_best=2, length_alpha=1.0)
    assert (best.ids, second.ids) == ((4,), ())
    assert best.score == pytest.approx(math.log(0.5))
    assert second.score == pytest.approx(math.log(0.25))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(8))
def test_a_beam_of_one_equals_greedy(tiny_model, seed, alpha):
    model, limits = tiny_model(seed), LengthLimits(1.0, 6, 200)
    sources = [[4 + i % 7, 4 + (i * i) % 5, *[5] * (i % 4), 3] for i in range(20)]
    found = search(model, sources, limits, beam_size=1, length_alpha=alpha)
    for [best], expected in zip(found, greedy(model, sources, limits=limits), strict=True):
        assert (best.ids, best.is_truncated) == (expected.ids, expected.is_truncated)
        assert best.token_log_probabilities == pytest.approx(expected.token_log_probabilities, abs=1e-5)


def assert_equals_exhaustive(found, everything, n_best, alpha):
    assert len(found) == min(n_best, len(everything))
    for hypothesis, (ids, score) in zip(found, everything, strict=False):
        assert not hypothesis.is_truncated
        assert normalised(hypothesis, alpha) == pytest.approx(score, abs=1e-5)
        same = [other for other, value in everything if abs(value - score) < 1e-5]  # a tie may come in any order
        assert ids in same
        assert hypothesis.ids in same


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    limit=st.integers(1, 4),
    n_best=st.integers(1, 12),
    alpha=st.sampled_from([0.0, 0.6, 1.0, 2.0]),
)
def test_a_beam_as_wide_as_the_space_equals_exhaustive_search(random_table, exhaustive, seed, limit, n_best, alpha):
    model, limits = random_table(seed), LengthLimits(0.0, limit, 200)
    width = 4**limit + 4**limit  # every prefix of the longest length, finished ones included, has a place
    sources = [[0, 3], [1, 3], [2, 3], [3]]
    found = search(model, sources, limits, beam_size=max(width, n_best), n_best=n_best, length_alpha=alpha)
    for source, best in zip(sources, found, strict=True):
        everything = exhaustive(model, source, limit, alpha)
        assert_equals_exhaustive([one for one in best if not one.is_truncated], everything, n_best, alpha)


@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("with_actor", [False, True])
def test_a_wide_beam_equals_exhaustive_search_on_the_real_model(tiny_model, exhaustive, seed, alpha, with_actor):
    model, limits = tiny_model(seed, vocabulary=5), LengthLimits(0.0, 4, 200)
    push = torch.randn(8, generator=torch.Generator().manual_seed(seed))
    actor = (lambda state, context, word: 0.5 * push.expand_as(state)) if with_actor else None
    sources = [[4, 5, 3], [6, 3], [7, 8, 9, 10, 3]]
    found = search(model, sources, limits, actor, beam_size=600, n_best=20, length_alpha=alpha)
    for source, best in zip(sources, found, strict=True):
        assert_equals_exhaustive(best, exhaustive(model, source, 4, alpha, actor), 20, alpha)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_stopping_early_never_changes_the_list(random_table, monkeypatch, alpha):
    sources, limits = [[i, 3] for i in range(4)], LengthLimits(0.0, 9, 200)
    choices = {"beam_size": 5, "n_best": 3, "length_alpha": alpha}
    early = [search(random_table(seed), sources, limits, **choices) for seed in range(25)]
    monkeypatch.setattr("training.decoding.beam._is_settled", lambda rows, *_: torch.zeros_like(rows.sentence) > 0)
    assert [search(random_table(seed), sources, limits, **choices) for seed in range(25)] == early


def test_the_search_stops_once_nothing_can_enter_the_list(tabular):
    # eos has .9 everywhere: after one step nothing beats it without normalisation, whatever the limit.
    model = tabular(torch.tensor([[[[0, 0, 0, 0.9, 0.1]] * 5]]))
    steps = []
    real_step = model.step
    model.step = lambda *arguments: steps.append(1) or real_step(*arguments)
    [[best]] = search(model, [[0, 3]], LengthLimits(0.0, 50, 200), beam_size=5, length_alpha=0.0)
    assert best.ids == ()
    assert len(steps) == 1


def test_a_sentence_does_not_depend_on_its_batch_mates(tiny_model):
    model, limits = tiny_model(seed=3), LengthLimits(2.0, 3, 200)
    sources = [[4 + i % 7, 4 + (i * i) % 5, *[5] * (i % 4), 3] for i in range(20)]
    together = search(model, sources, limits, beam_size=4, n_best=4)
    for source, expected in zip(sources, together, strict=True):
        [alone] = search(model, [source], limits, beam_size=4, n_best=4)
        assert [one.ids for one in alone] == [one.ids for one in expected]


def test_what_is_cut_at_the_limit_is_flagged_and_ranks_last(tabular):
    # 4 goes on with .8; eos has .1 and 5, which ends at once, .1.
    row = [0, 0, 0, 0.1, 0.8, 0.1]
    table = torch.tensor([[[row] * 5 + [[0, 0, 0, 1.0, 0, 0]]]])
    [found] = search(tabular(table), [[0, 3]], LengthLimits(0.0, 2, 200), beam_size=9, n_best=9, length_alpha=0.0)
    # Two tokens are allowed, eos included: () .1, (5) .1 and (4) .08 end, (4 4) .64 and (4 5) .08 do not.
    finished = [one for one in found if not one.is_truncated]
    assert {one.ids for one in finished[:2]} == {(), (5,)}
    assert finished[2].ids == (4,)
    assert [one.ids for one in found[3:]] == [(4, 4), (4, 5)]
    assert all(one.is_truncated for one in found[3:])
    assert found[3].log_probability == pytest.approx(math.log(0.64))


def test_a_prefix_score_steers_the_search(tabular, short):
    # The state's second entry is t; its first is untouched, so score the parents by nothing but their length.
    seen = []

    def prefer_long(states, contexts, lengths):
        seen.append(lengths.tolist())
        return lengths.double()

    model = tabular(GARDEN_PATH)
    [[plain]] = search(model, [[0, 3]], short, beam_size=6, length_alpha=0.0)
    [[steered]] = search(
        model, [[0, 3]], short, beam_size=6, length_alpha=0.0, prefix_score=prefer_long, prefix_weight=100.0
    )
    assert plain.ids == (5,)
    assert len(steered.ids) > len(plain.ids)
    assert seen[0] == [0]
    assert set(seen[1]) == {1}


def test_a_prefix_score_of_weight_zero_changes_nothing(tiny_model):
    model, limits = tiny_model(seed=2), LengthLimits(1.0, 6, 200)
    sources = [[4, 5, 3], [6, 3], [7, 8, 9, 10, 3]]
    scored = search(
        model, sources, limits, beam_size=4, n_best=3, prefix_score=lambda s, c, n: s.sum(dim=1), prefix_weight=0.0
    )
    assert scored == search(model, sources, limits, beam_size=4, n_best=3)


@pytest.mark.parametrize("choices", [{"n_best": 6}, {"n_best": 0}, {"beam_size": 0}, {"length_alpha": -0.1}])
def test_settings_that_make_no_sense_are_refused(choices):
    with pytest.raises(ValueError, match=r"n_best|length_alpha"):
        BeamSettings(**choices)
