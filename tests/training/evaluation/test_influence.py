import math

import pytest
import torch

from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.evaluation.influence import divergence, influence
from training.nmt.model import ModelSizes, TranslationModel
from training.policy.actor import build_actor

SOURCES = [[4, 5, 3], [6, 3], [7, 8, 9, 3]]
LIMITS = LengthLimits(ratio=0.0, extra=6, maximum=200)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    model = TranslationModel(ModelSizes(11, 9, 6, 5, 8, 4, 7))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return model.eval().requires_grad_(False)


def acting(model, scale):
    actor = build_actor(model.sizes, "plain", 4, sees_previous_word=False, seed=1)
    torch.manual_seed(1)
    torch.nn.init.normal_(actor.output.weight, std=1.0)
    actor.output.weight.data.mul_(scale)
    return actor


def test_divergence_is_zero_for_equal_distributions_and_known_for_coins():
    fair, skewed = torch.tensor([[0.0, 0.0]]), torch.tensor([[math.log(0.9), math.log(0.1)]])
    assert divergence(fair, fair + 3).item() == pytest.approx(0.0, abs=1e-6)
    expected = 0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1)
    assert divergence(fair, skewed).item() == pytest.approx(expected)


def test_an_actor_that_does_not_act_has_no_influence(model):
    actor = build_actor(model.sizes, "plain", 4, sees_previous_word=False, seed=1)
    outputs = greedy(model, SOURCES, limits=LIMITS, actor=actor)
    for found, output in zip(influence(model, actor, SOURCES, outputs), outputs, strict=True):
        assert len(found.tokens) == len(output.token_log_probabilities)
        assert max(found.tokens) == pytest.approx(0.0, abs=1e-6)


def test_influence_is_that_of_one_step_from_the_same_state_and_word(model):
    actor = acting(model, 0.5)
    (output,) = greedy(model, SOURCES[:1], limits=LIMITS, actor=actor)
    (found,) = influence(model, actor, SOURCES[:1], [output])
    # By hand: follow the nudged states, and take one step without the actor from each.
    encoded = model.encode(torch.tensor([[*SOURCES[0], 0]]), torch.tensor([[1.0, 1.0, 1.0, 0.0]]))
    state, previous = encoded.first_state, torch.tensor([2])
    for step, value in enumerate(found.tokens):
        with_actor, without = (model.step(previous, state, encoded, one) for one in (actor, None))
        log_p, log_q = without.logits.log_softmax(1), with_actor.logits.log_softmax(1)
        assert value == pytest.approx((log_p.exp() * (log_p - log_q)).sum().item(), rel=1e-4, abs=1e-7)
        state, previous = with_actor.state, torch.tensor([output.ids[step] if step < len(output.ids) else 3])


def test_a_stronger_action_has_more_influence(model):
    means = []
    for scale in (0.1, 0.5):
        actor = acting(model, scale)
        outputs = greedy(model, SOURCES, limits=LIMITS, actor=actor)
        means.append(sum(one.mean for one in influence(model, actor, SOURCES, outputs)))
    assert 0 < means[0] < means[1]
