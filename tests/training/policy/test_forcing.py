import pytest
import torch

from training.policy.actor import build_actor, model_for
from training.policy.forcing import force_nudged, force_stepwise

SOURCES = torch.tensor([[4, 5, 6, 3], [7, 3, 0, 0], [8, 9, 3, 0]])
MASK = (SOURCES != 0).double()
INPUTS = torch.tensor([[2, 4, 5, 6, 7], [2, 8, 4, 4, 5], [2, 5, 5, 6, 8]])


def acting(model, variant, sees_previous_word=False, place="before"):
    """An actor whose output layer is no longer zero."""
    actor = build_actor(model.sizes, variant, 5, sees_previous_word, seed=3, place=place)
    actor = actor.to(next(model.parameters()).dtype)
    torch.manual_seed(4)
    torch.nn.init.normal_(actor.output.weight, std=0.7)
    return actor


def gradients(force, model, actor, encoded):
    actor.zero_grad()
    forced = force(model, actor, encoded, INPUTS)
    torch.manual_seed(5)
    loss = sum((torch.randn(tensor.shape, dtype=tensor.dtype) * tensor).sum() for tensor in forced[:3])
    loss.backward()
    return forced, {name: parameter.grad for name, parameter in actor.named_parameters()}


@pytest.mark.parametrize("variant", ["plain", "constant"])
@pytest.mark.parametrize("sees_previous_word", [False, True])
@pytest.mark.parametrize("place", ["before", "after"])
def test_the_handwritten_pass_equals_autograd_forwards_and_backwards(tiny_model, variant, sees_previous_word, place):
    model = tiny_model(scale=1.5).double()
    actor = acting(model, variant, sees_previous_word, place)
    encoded = model.encode(SOURCES, MASK)
    fast, fast_gradients = gradients(force_nudged, model, actor, encoded)
    slow, slow_gradients = gradients(force_stepwise, model, actor, encoded)
    for name, one, other in zip(fast._fields, fast, slow, strict=True):
        torch.testing.assert_close(one, other, msg=name)
    assert fast_gradients["output.weight"].abs().max() > 1e-3
    for name, gradient in fast_gradients.items():
        torch.testing.assert_close(gradient, slow_gradients[name], msg=name)


@pytest.mark.parametrize("variant", ["plain", "constant", "gated", "recurrent"])
def test_an_untrained_actor_leaves_teacher_forcing_as_it_was(tiny_model, variant):
    model = tiny_model()
    actor = build_actor(model.sizes, variant, 5, sees_previous_word=True, seed=0)
    acted_on = model_for(model, actor)
    forced = force_nudged(acted_on, actor, acted_on.encode(SOURCES, MASK.float()), INPUTS)
    expected = model.force(model.encode(SOURCES, MASK.float()), INPUTS)
    torch.testing.assert_close(forced.readouts, expected)
    assert forced.actions.abs().max() == 0


def test_the_frozen_model_gets_no_gradient(tiny_model):
    model = tiny_model()
    actor = acting(model, "plain")
    force_nudged(model, actor, model.encode(SOURCES, MASK.float()), INPUTS).readouts.sum().backward()
    assert all(parameter.grad is None for parameter in model.parameters())
