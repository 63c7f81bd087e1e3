import pytest
import torch

from training.decoding.beam import BeamSettings, beam
from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.errors import TrainingError
from training.nmt.model import ModelSizes
from training.policy.actor import build_actor, model_for
from training.policy.actor_file import load_actor, load_facts, save_actor

SOURCES = [[4 + i % 7, 4 + (i * i) % 5, *[5] * (i % 4), 3] for i in range(12)]
LIMITS = LengthLimits(ratio=0.0, extra=12, maximum=200)
VARIANTS = ["plain", "constant", "gated", "recurrent"]


def acting(sizes, variant, sees_previous_word=True, scale=0.5, place="before"):
    actor = build_actor(sizes, variant, 5, sees_previous_word, seed=1, place=place)
    torch.manual_seed(2)
    torch.nn.init.normal_(actor.output.weight, std=scale)
    return actor


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("sees_previous_word", [False, True])
def test_an_untrained_actor_is_exactly_plain_greedy(tiny_model, variant, sees_previous_word):
    model = tiny_model()
    actor = build_actor(model.sizes, variant, 5, sees_previous_word, seed=0)
    assert greedy(model_for(model, actor), SOURCES, limits=LIMITS, actor=actor) == greedy(model, SOURCES, limits=LIMITS)


@pytest.mark.parametrize("variant", ["plain", "constant", "gated"])
def test_an_actor_after_the_recurrence_adds_its_action_to_what_that_returns(tiny_model, variant):
    model = tiny_model()
    actor = acting(model.sizes, variant, place="after")
    encoded = model.encode(torch.tensor([[4, 5, 3], [6, 7, 3]]), torch.ones(2, 3))
    previous = torch.tensor([4, 5])
    plain = model.step(previous, encoded.first_state, encoded)
    nudged = model.step(previous, encoded.first_state, encoded, actor)
    action = actor(encoded.first_state, plain.context, model.target_embedding(previous))
    assert action.abs().max() > 1e-3
    torch.testing.assert_close(nudged.state, plain.state + action)
    torch.testing.assert_close(nudged.logits, model.read(plain.state + action, previous, plain.context))


@pytest.mark.parametrize("variant", ["plain", "constant", "gated"])
def test_an_untrained_actor_after_the_recurrence_is_exactly_plain_greedy(tiny_model, variant):
    model = tiny_model()
    actor = build_actor(model.sizes, variant, 5, True, seed=0, place="after")
    assert greedy(model, SOURCES, limits=LIMITS, actor=actor) == greedy(model, SOURCES, limits=LIMITS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_trained_actor_changes_outputs_and_does_not_depend_on_batch_mates(tiny_model, variant):
    model = tiny_model()
    actor = acting(model.sizes, variant)
    acted_on = model_for(model, actor)
    together = [one.ids for one in greedy(acted_on, SOURCES, limits=LIMITS, actor=actor)]
    alone = [greedy(acted_on, [source], limits=LIMITS, actor=actor)[0].ids for source in SOURCES]
    assert together == alone
    assert together != [one.ids for one in greedy(model, SOURCES, limits=LIMITS)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_beam_of_one_with_an_actor_is_greedy_with_it(tiny_model, variant):
    model = tiny_model()
    actor = acting(model.sizes, variant)
    acted_on = model_for(model, actor)
    lists = beam(acted_on, SOURCES, limits=LIMITS, settings=BeamSettings(beam_size=1), actor=actor)
    assert [best.ids for best, *_ in lists] == [
        one.ids for one in greedy(acted_on, SOURCES, limits=LIMITS, actor=actor)
    ]


def test_a_constant_actor_adds_the_same_vector_whatever_it_sees(tiny_model):
    model = tiny_model()
    actor = acting(model.sizes, "constant")
    seen = [torch.randn(3, size) for size in (8, 10, 6)]
    action = actor(*seen)
    torch.testing.assert_close(action, (actor.output.weight[:, 0] * torch.tanh(torch.tensor(1.0))).expand(3, -1))
    assert [name for name, parameter in actor.named_parameters() if parameter.requires_grad] == ["output.weight"]


def test_a_recurrent_actor_remembers(tiny_model):
    model = tiny_model()
    actor = acting(model.sizes, "recurrent")
    state, context, word = torch.randn(1, 8), torch.randn(1, 10), torch.randn(1, 6)
    blank, filled = torch.zeros(1, 5), torch.ones(1, 5)
    first = actor(torch.cat([state, blank], 1), context, word)
    second = actor(torch.cat([state, filled], 1), context, word)
    assert first.shape == (1, 13)
    assert not torch.allclose(first[:, :8], second[:, :8])


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_actor_on_disk_acts_as_it_did(tiny_model, tmp_path, variant):
    model = tiny_model()
    actor = acting(model.sizes, variant)
    facts = {"variant": variant, "hidden": 5, "sees_previous_word": actor.sees_previous_word, "objective": "bleu"}
    save_actor(tmp_path / "a.safetensors", actor, facts)
    loaded = load_actor(tmp_path / "a.safetensors", model.sizes)
    acted_on = model_for(model, actor)
    expected = greedy(acted_on, SOURCES, limits=LIMITS, actor=actor)
    assert greedy(acted_on, SOURCES, limits=LIMITS, actor=loaded) == expected
    assert load_facts(tmp_path / "a.safetensors") == facts


def test_an_actor_on_disk_acts_where_it_did(tiny_model, tmp_path):
    sizes = tiny_model().sizes
    facts = {"variant": "plain", "hidden": 5, "sees_previous_word": True}
    for place in ("before", "after"):
        save_actor(tmp_path / "a.safetensors", acting(sizes, "plain"), {**facts, "place": place})
        assert load_actor(tmp_path / "a.safetensors", sizes).acts_after == (place == "after")
    save_actor(tmp_path / "old.safetensors", acting(sizes, "plain"), facts)
    assert not load_actor(tmp_path / "old.safetensors", sizes).acts_after


def test_an_actor_of_another_model_is_refused(tiny_model, tmp_path):
    sizes = tiny_model().sizes
    facts = {"variant": "plain", "hidden": 5, "sees_previous_word": False}
    save_actor(tmp_path / "a.safetensors", build_actor(sizes, "plain", 5, False, 0), facts)
    with pytest.raises(TrainingError, match="states of 8 and sees 18 numbers, but this model has states of 16"):
        load_actor(tmp_path / "a.safetensors", ModelSizes(11, 9, 6, 5, 16, 4, 7))
    with pytest.raises(TrainingError, match=r"there is: a"):
        load_actor(tmp_path / "b.safetensors")
