import torch

from training.policy.actor import build_actor
from training.policy.dev import DevScores
from training.policy.watch import Tally, record_look, start_state


def state(tiny_model):
    actor = build_actor(tiny_model().sizes, "plain", 4, False, 0)
    return start_state(actor, torch.optim.Adam(actor.parameters(), lr=0.1))


def look(state, objective, update, length_ratio=1.0, **measures):
    state.update = update
    with torch.no_grad():
        state.actor.output.weight.fill_(float(update))
    state.move_average(0.0)
    scores = DevScores(objective, bleu=0.0, chrf=0.0, log_probability=-1.0, length_ratio=length_ratio)
    return record_look(state, scores, measures)


def kept(state):
    return state.best["output.weight"][0, 0].item()


def test_the_best_weights_are_kept_and_the_earliest_of_equals(tiny_model):
    watched = state(tiny_model)
    for update, objective in enumerate([0.30, 0.32, 0.31, 0.32]):
        look(watched, objective, update)
    assert kept(watched) == 1.0
    assert watched.best_look.update == 1


def test_it_has_stalled_after_that_many_looks_without_a_better_one(tiny_model):
    watched = state(tiny_model)
    for update, objective in enumerate([0.30, 0.32, 0.31, 0.30]):
        look(watched, objective, update)
    assert watched.has_stalled(patience=2)
    assert not watched.has_stalled(patience=3)
    assert not watched.has_stalled(patience=2, since=2)


def test_a_collapse_is_recorded_and_the_best_weights_come_back_with_half_the_rate(tiny_model):
    watched = state(tiny_model)
    look(watched, 0.30, 0)
    look(watched, 0.32, 1)
    fallen = look(watched, 0.20, 2)
    assert fallen.is_collapse
    assert watched.collapses == 1
    assert watched.rate_factor == 0.5
    assert watched.actor.output.weight[0, 0].item() == watched.averaged["output.weight"][0, 0].item() == 1.0
    assert kept(watched) == 1.0


def test_absurd_lengths_and_numbers_that_are_not_finite_are_collapses_too(tiny_model):
    watched = state(tiny_model)
    assert not look(watched, 0.30, 0).is_collapse
    assert look(watched, 0.30, 1, length_ratio=1.5).is_collapse
    assert look(watched, 0.30, 2, length_ratio=0.6).is_collapse
    assert look(watched, 0.30, 3, loss=float("nan")).is_collapse
    assert not look(watched, 0.26, 4).is_collapse


def test_an_unbounded_objective_collapses_by_the_same_share(tiny_model):
    watched = state(tiny_model)
    look(watched, -0.80, 0)
    assert not look(watched, -0.91, 1).is_collapse
    assert look(watched, -0.93, 2).is_collapse


def test_a_state_comes_back_from_its_dictionary(tiny_model):
    first, second = state(tiny_model), state(tiny_model)
    look(first, 0.30, 0)
    look(first, 0.32, 7, loss=0.5)
    second.load_dict(first.as_dict())
    assert second.looks == first.looks
    assert second.update == 7
    assert kept(second) == 7.0
    assert second.actor.output.weight[0, 0].item() == 7.0


def test_a_tally_gives_means_and_starts_anew():
    tally = Tally()
    tally.add({"loss": 1.0, "norm": 4.0})
    tally.add({"loss": 3.0})
    assert tally.take() == {"loss": 2.0, "norm": 4.0}
    assert tally.take() == {}


def test_the_moving_average_forgets_its_start_first_and_then_moves_slowly(tiny_model):
    watched = state(tiny_model)
    with torch.no_grad():
        watched.actor.output.weight.fill_(1.0)
    watched.update = 1  # decay (1 + 1) / (10 + 1)
    watched.move_average(0.99)
    torch.testing.assert_close(watched.averaged["output.weight"][0, 0], torch.tensor(1 - 2 / 11))
