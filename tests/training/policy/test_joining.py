import pytest
import torch

from training.errors import TrainingError
from training.policy.actor import build_actor
from training.policy.joining import join


def trained(model, seed, variant="plain", hidden=3, sees_previous_word=True, place="before"):
    """An actor that acts."""
    actor = build_actor(model.sizes, variant, hidden, sees_previous_word, seed, place)
    torch.nn.init.normal_(actor.output.weight, generator=torch.Generator().manual_seed(seed))
    return actor


@pytest.mark.parametrize("sees_previous_word", [True, False])
def test_the_joined_actor_takes_the_mean_action_times_the_gain(tiny_model, sees_previous_word):
    model = tiny_model()
    actors = [trained(model, seed, hidden=2 + seed, sees_previous_word=sees_previous_word) for seed in range(3)]
    sizes, random = model.sizes, torch.Generator().manual_seed(9)
    seen = [torch.randn(5, size, generator=random) for size in (sizes.decoder, 2 * sizes.encoder, sizes.embedding)]
    expected = sum(actor(*seen) for actor in actors) / 3
    joined = join(actors)
    assert joined.output.in_features == 2 + 3 + 4
    torch.testing.assert_close(joined(*seen), expected)
    torch.testing.assert_close(join(actors, gain=1.5)(*seen), 1.5 * expected)
    assert not join(actors, gain=0.0)(*seen).any()


def test_only_plain_actors_that_see_the_same_are_joined(tiny_model):
    model = tiny_model()
    for other in (trained(model, 1, variant="gated"), trained(model, 1, sees_previous_word=False)):
        with pytest.raises(TrainingError, match="only plain actors that see the same"):
            join([trained(model, 0), other])
    with pytest.raises(TrainingError, match="at least one"):
        join([])


def test_joined_actors_act_where_their_parts_do(tiny_model):
    model = tiny_model()
    assert join([trained(model, seed, place="after") for seed in range(2)]).acts_after
    assert not join([trained(model, seed) for seed in range(2)]).acts_after
    with pytest.raises(TrainingError, match="in the same place"):
        join([trained(model, 0), trained(model, 1, place="after")])
