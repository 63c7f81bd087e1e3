import pytest
import torch
from torch import nn

from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.decoding.rollout import force, rollout
from training.policy.actor import build_actor

SOURCES = [[4 + i % 7, 4 + (i * i) % 5, *[5] * (i % 4), 3] for i in range(12)]


class LinearActor(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.output = nn.Linear(8, 8)

    def forward(self, state, context, word):
        return 0.3 * self.output(state)


def test_without_noise_it_says_what_greedy_says(tiny_model, short):
    model, actor = tiny_model(seed=1), LinearActor()
    for chosen in (None, actor):
        found = rollout(model, SOURCES, limits=short, actor=chosen)
        expected = greedy(model, SOURCES, limits=short, actor=chosen)
        assert found.outputs() == [one.ids for one in expected]
        assert found.is_truncated().tolist() == [one.is_truncated for one in expected]
        assert found.mask.sum(dim=1).tolist() == [len(one.token_log_probabilities) for one in expected]


def test_states_are_those_of_the_models_own_step_and_zero_after_the_end(tiny_model, short):
    model, actor = tiny_model(seed=1), LinearActor()
    found = rollout(model, SOURCES, limits=short, actor=actor)
    assert found.mask.min() == 0
    assert found.states[found.mask == 0].abs().max() == 0
    for row, source in enumerate(SOURCES):
        encoded = model.encode(torch.tensor([source]), torch.ones(1, len(source)))
        state, previous = encoded.first_state, torch.tensor([2])
        for step in range(int(found.mask[row].sum())):
            output = model.step(previous, state, encoded, actor)
            state, previous = output.state, output.logits.argmax(dim=1)
            torch.testing.assert_close(found.states[row, step], state[0], atol=1e-5, rtol=1e-4)
            torch.testing.assert_close(found.contexts[row, step], output.context[0], atol=1e-5, rtol=1e-4)
            torch.testing.assert_close(found.action_norms[row, step], output.action[0].norm(), atol=1e-5, rtol=1e-4)
            assert found.ids[row, step] == previous


def test_the_gradient_reaches_the_actor_and_nothing_else(tiny_model, short):
    model, actor = tiny_model(seed=1), LinearActor()
    rollout(model, SOURCES, limits=short, actor=actor, samples=3, sigma=0.1).states.pow(2).sum().backward()
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in actor.parameters())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_the_gradient_is_that_of_finite_differences(tiny_model):
    model, actor = tiny_model(seed=1, scale=1.0).double(), LinearActor().double()
    limits = LengthLimits(0.0, 5, 200)

    def total() -> torch.Tensor:
        found = rollout(model, SOURCES[:3], limits=limits, actor=actor)
        return (found.states * torch.linspace(-1, 1, 8, dtype=torch.float64)).sum()

    total().backward()
    weight = actor.output.weight
    for place in [(0, 0), (3, 5), (7, 2)]:
        with torch.no_grad():
            weight[place] += 1e-6
            above = total()
            weight[place] -= 2e-6
            below = total()
            weight[place] += 1e-6
        assert weight.grad[place].item() == pytest.approx(((above - below) / 2e-6).item(), rel=1e-5)


def test_dropping_ended_rows_changes_neither_states_nor_gradient(tiny_model, short, monkeypatch):
    model = tiny_model(seed=1)
    results = []
    for share in (0.0, 2.0):
        monkeypatch.setattr("training.decoding.rollout.COMPACT_SHARE", share)
        actor = LinearActor()
        found = rollout(model, SOURCES, limits=short, actor=actor)
        found.states.pow(2).sum().backward()
        results.append((found.states.detach(), actor.output.weight.grad))
    torch.testing.assert_close(results[0], results[1], atol=1e-5, rtol=1e-3)


def test_noise_makes_samples_differ_and_a_seed_repeats_them(tiny_model, short):
    model = tiny_model(seed=1, scale=1.0)
    choices = {"limits": short, "actor": None, "samples": 6, "sigma": 1.0}
    first, again, other = (
        rollout(model, SOURCES, generator=torch.Generator().manual_seed(seed), **choices) for seed in (0, 0, 1)
    )
    assert torch.equal(first.states, again.states)
    assert first.states.shape != other.states.shape or not torch.equal(first.states, other.states)
    assert first.ids.shape[0] == 6 * len(SOURCES)
    assert len(set(first.outputs()[:6])) > 1


def test_rows_of_a_source_stand_together(tiny_model, short):
    model = tiny_model(seed=1)
    found = rollout(model, SOURCES, limits=short, actor=None, samples=2)
    expected = [one.ids for one in greedy(model, SOURCES, limits=short) for _ in range(2)]
    assert found.outputs() == expected


def test_without_grad_nothing_is_kept(tiny_model, short):
    with torch.no_grad():
        assert not rollout(tiny_model(), SOURCES, limits=short, actor=LinearActor()).states.requires_grad


def test_forced_states_are_greedys_when_forced_with_greedys_output(tiny_model, short):
    model = tiny_model(seed=1)
    own = rollout(model, SOURCES, limits=short, actor=None)
    ended = [row for row, cut in enumerate(own.is_truncated().tolist()) if not cut]
    assert len(ended) > 3
    forced = force(model, [SOURCES[row] for row in ended], [own.outputs()[row] for row in ended])
    width = forced.ids.shape[1]
    torch.testing.assert_close(forced.states, own.states[ended, :width], atol=1e-5, rtol=1e-4)
    assert torch.equal(forced.ids, own.ids[ended, :width])
    assert torch.equal(forced.mask, own.mask[ended, :width])


def test_forced_logits_are_the_teacher_forced_ones(tiny_model):
    model = tiny_model(seed=1)
    found = force(model, [[4, 5, 3], [6, 7, 3]], [[5, 6], [7, 8]])
    inputs = torch.tensor([[2, 5, 6], [2, 7, 8]])
    expected = model(torch.tensor([[4, 5, 3], [6, 7, 3]]), torch.ones(2, 3), inputs)
    for step in range(3):
        logits = model.read(found.states[:, step], inputs[:, step], found.contexts[:, step])
        torch.testing.assert_close(logits, expected[:, step], atol=1e-4, rtol=1e-4)
    assert found.outputs() == [(5, 6), (7, 8)]


def test_a_forced_actor_learns_too(tiny_model):
    actor = LinearActor()
    force(tiny_model(), [[4, 5, 3]], [[5, 6]], actor=actor).states.sum().backward()
    assert actor.output.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("place", ["before", "after"])
def test_noise_without_an_actor_is_where_the_actors_would_be(tiny_model, place):
    model, pairs = tiny_model(seed=1), ([[4, 5, 3], [6, 7, 3]], [[5, 6], [7, 8]])
    idle = build_actor(model.sizes, "plain", 4, sees_previous_word=False, seed=1, place=place)
    drawn = [torch.Generator().manual_seed(3) for _ in range(3)]
    own = force(model, *pairs, actor=idle, sigma=0.2, generator=drawn[0]).states
    here, there = (
        force(model, *pairs, sigma=0.2, noise_after=after, generator=generator).states
        for after, generator in zip((place == "after", place != "after"), drawn[1:], strict=True)
    )
    torch.testing.assert_close(own, here)
    assert (own - there).abs().max() > 0.05


def test_a_source_with_several_targets_is_forced_as_often(tiny_model):
    model, targets = tiny_model(), [[5, 6], [7], [8, 5], [6, 6]]
    together = force(model, [[4, 5, 3], [6, 7, 3]], targets)
    apart = force(model, [[4, 5, 3], [4, 5, 3], [6, 7, 3], [6, 7, 3]], targets)
    for one, other in zip(together, apart, strict=True):
        torch.testing.assert_close(one, other)


def test_uneven_input_is_refused_with_the_counts(tiny_model):
    with pytest.raises(ValueError, match="2 sources and 3 targets"):
        force(tiny_model(), [[4, 3], [5, 3]], [[4], [5], [6]])


def test_what_an_actor_remembers_behind_the_state_is_neither_disturbed_nor_recorded(tiny_model, short):
    """An actor that counts its steps in one more number of the state, and acts by the count."""

    class CountingModel:
        def __init__(self, model):
            self.model, self.sizes, self.target_embedding = model, model.sizes, model.target_embedding
            self.parameters, self.training, self.read = model.parameters, False, lambda s, *r: model.read(s[:, :8], *r)

        def encode(self, ids, mask):
            encoded = self.model.encode(ids, mask)
            return encoded._replace(first_state=nn.functional.pad(encoded.first_state, (0, 1)))

        def attend(self, state, encoded):
            return self.model.attend(state[:, :8], encoded)

        def advance(self, state, previous, context):
            return torch.cat([self.model.advance(state[:, :8], previous, context), state[:, 8:]], dim=1)

    counts = []

    def count(state, context, word):
        counts.append(state[:, 8].unique().tolist())
        return torch.cat([0.1 * state[:, 8:].expand(-1, 8), torch.ones(len(state), 1)], dim=1)

    found = rollout(CountingModel(tiny_model(seed=1)), SOURCES, limits=short, actor=count, samples=2, sigma=0.5)
    assert counts == [[float(step)] for step in range(found.ids.shape[1])]
    assert found.states.shape[2] == 8
    longest = found.action_norms.max(dim=0).values
    torch.testing.assert_close(longest, 0.1 * torch.arange(found.ids.shape[1]) * 8**0.5)
