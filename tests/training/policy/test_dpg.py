"""Algorithm 1 on a problem small enough to know the answer of."""

import numpy as np
import pytest
import torch

from training.config import PolicyGradient
from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.policy.actor import build_actor
from training.policy.critic import Critic
from training.policy.dpg import PolicyGradientLearner, correlation, critic_aware_weights, unbiased_rate
from training.policy.objectives import Objective, Translations
from training.policy.returns import Minibatch, TrueReturns

LIMITS = LengthLimits(ratio=0.0, extra=6, maximum=200)


class ShareOfSevens(Objective):
    """What part of the output is the token 7; its best is an output of nothing else."""

    name, optimises = "sevens", "the share of sevens"

    def score(self, translations):
        return [text.split().count("7") / max(1, len(text.split())) for text in translations.hypotheses]


def spell(outputs):
    return [" ".join(map(str, ids)) for ids in outputs]


def sentences():
    random = np.random.default_rng(0)
    sources = [[*random.integers(4, 11, random.integers(2, 5)).tolist(), 3] for _ in range(24)]
    references = [[7, 7, 7] for _ in sources]
    return Minibatch(sources, references, spell(sources), spell(references))


def learner(model, **options):
    torch.manual_seed(0)
    actor = build_actor(model.sizes, "plain", 8, sees_previous_word=False, seed=0)
    critic = Critic(vocabulary=9, state=8, units=16, is_bounded=True)
    config = PolicyGradient(
        **{"actor_learning_rate": 3e-3, "critic_learning_rate": 1e-3, "sigma": 0.5, "tau": 0.05, "critic_samples": 4}
        | options
    )
    return PolicyGradientLearner(model, actor, critic, TrueReturns(ShareOfSevens(), model, spell), LIMITS, config)


def objective(model, actor, batch):
    outputs = [one.ids for one in greedy(model, batch.sources, limits=LIMITS, actor=actor)]
    scores = ShareOfSevens().score(Translations(batch.source_texts, spell(outputs), batch.reference_texts))
    return sum(scores) / len(scores)


@pytest.mark.parametrize("vanilla", [False, True])
def test_it_finds_the_action_that_the_objective_wants(tiny_model, vanilla):
    model, batch = tiny_model(seed=2, scale=2.0), sentences()
    theta_before = [parameter.clone() for parameter in model.parameters()]
    learning, noise = learner(model, vanilla=vanilla), torch.Generator().manual_seed(0)
    assert objective(model, learning.actor, batch) < 0.05
    for _ in range(100):
        learning.update_critic(batch, noise)
    for _ in range(25):
        for _ in range(5):
            learning.update_critic(batch, noise)
        learning.update_actor(batch, noise)
    assert objective(model, learning.actor, batch) > 0.6
    assert all(map(torch.equal, theta_before, model.parameters()))


def test_a_critic_update_leaves_the_actor_alone_and_the_other_way_round(tiny_model):
    model, batch = tiny_model(seed=2, scale=2.0), sentences()
    learning, noise = learner(model), torch.Generator().manual_seed(0)

    def weights(module):
        return torch.cat([parameter.detach().flatten() for parameter in module.parameters()])

    actor, critic = weights(learning.actor), weights(learning.critic)
    measures = learning.update_critic(batch, noise)
    assert torch.equal(weights(learning.actor), actor)
    assert not torch.equal(weights(learning.critic), critic)
    assert measures["critic_error"] > 0
    critic = weights(learning.critic)
    learning.update_actor(batch, noise)
    assert torch.equal(weights(learning.critic), critic)
    assert not torch.equal(weights(learning.actor), actor)


def test_decode_returns_samples_and_for_the_critic_the_reference_too(tiny_model):
    model, batch = tiny_model(seed=2, scale=2.0), sentences()
    learning = learner(model)
    for_actor = learning.decode(3, batch, torch.Generator().manual_seed(0), with_reference=False)
    for_critic = learning.decode(3, batch, torch.Generator().manual_seed(0), with_reference=True)
    assert for_actor.r.shape == for_actor.rc.shape == (24, 3)
    assert for_critic.r.shape == for_critic.rc.shape == (24, 4)
    # The reference is all sevens; the samples are the same with the same noise, and so are their predictions.
    assert for_critic.r[:, 3].tolist() == [1.0] * 24
    torch.testing.assert_close(for_critic.r[:, :3], for_actor.r)
    torch.testing.assert_close(for_critic.rc[:, :3], for_actor.rc)


def test_a_critic_learns_from_lists_what_it_would_learn_from_decoding_them(tiny_model):
    model, batch = tiny_model(seed=2, scale=2.0), sentences()
    outputs = [[7], [8, 7]] * 24  # returns 1 and 1/2 for each sentence
    returns = torch.tensor([[1.0, 0.5]] * 24)
    learning = learner(model, critic_learning_rate=3e-3, sigma=0.02)
    noise = torch.Generator().manual_seed(0)
    errors = [learning.update_critic_on_lists(batch, outputs, returns, noise)["critic_error"] for _ in range(200)]
    # The same prediction for everything would be wrong by the standard deviation of 1, 1/2 and the reference's 1.
    assert errors[-1] < 0.5 * np.std([1.0, 0.5, 1.0])


def test_samples_weigh_as_much_as_the_critic_knows_them():
    # First sentence: errors 0, .4, -.2 and tau .04 give e^0, e^-4, e^-1.  Second: all equally wrong.
    predicted, true = torch.tensor([[0.5, 0.9, 0.3], [9.0, 9.0, 9.0]]), torch.tensor([[0.5, 0.5, 0.5], [0.0, 0.0, 0.0]])
    weights = critic_aware_weights(predicted, true, tau=0.04)
    expected = np.exp([0.0, -4.0, -1.0])
    assert weights[0].tolist() == pytest.approx((expected / expected.sum()).tolist())
    assert weights[1].tolist() == pytest.approx([1 / 3] * 3)


def test_vanilla_weighs_all_samples_alike(tiny_model):
    batch = sentences()
    aware, vanilla = (learner(tiny_model(seed=2, scale=2.0), vanilla=flag, tau=1e-3) for flag in (False, True))
    with torch.no_grad():
        for learning in (aware, vanilla):
            torch.nn.init.normal_(learning.critic.output.weight)  # so that it is wrong by different amounts
    noise = torch.Generator().manual_seed(0)
    assert vanilla.update_actor(batch, noise)["effective_samples"] == pytest.approx(4.0)
    assert aware.update_actor(batch, noise)["effective_samples"] < 3.9


def test_the_first_updates_of_rmsprop_are_as_large_as_the_later_ones():
    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.RMSprop([weight], lr=1.0)
    for update in range(5):
        (group,) = optimizer.param_groups
        group["lr"] = unbiased_rate(0.1, group["alpha"], update)
        weight.grad = torch.tensor([-3.0])
        optimizer.step()
        assert weight.item() == pytest.approx(0.1 * (update + 1), rel=1e-4)


def test_correlation_of_a_line_is_one_and_of_a_constant_zero():
    rising = torch.tensor([1.0, 2.0, 3.0])
    assert correlation(rising, 2 * rising + 1) == pytest.approx(1.0)
    assert correlation(rising, -rising) == pytest.approx(-1.0)
    assert correlation(rising, torch.ones(3)) == 0.0
