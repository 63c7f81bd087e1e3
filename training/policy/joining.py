"""Several plain actors side by side are one plain actor, whose action is the mean of theirs.

Actors that were trained with different seeds agree on what can be learnt and differ in what is noise; their mean keeps
the first.  With the noise gone, a larger action than any of them took may be better: that is what `gain` is for.

Shapes:  U hidden units of an actor · H decoder state
"""

from collections.abc import Sequence

import torch

from training.errors import TrainingError
from training.policy.actor import ConstantActor, PlainActor


def join(actors: Sequence[PlainActor], gain: float = 1.0) -> PlainActor:
    """One plain actor with the units of all, whose action is `gain` times the mean of their actions."""
    if not actors:
        raise TrainingError("joining actors takes at least one")
    first = actors[0]
    for actor in actors:
        if type(actor) not in (PlainActor, ConstantActor) or actor.hidden.in_features != first.hidden.in_features:
            raise TrainingError("only plain actors that see the same can be joined: give all the same inputs")
        if actor.acts_after != first.acts_after:
            raise TrainingError("only actors that act in the same place can be joined: give all the same `place`")
    joined = PlainActor(
        state=first.output.out_features,
        annotation=first.hidden.in_features - first.output.out_features,  # with the word behind it, where it is seen
        embedding=0,
        hidden=sum(actor.output.in_features for actor in actors),
        sees_previous_word=first.sees_previous_word,
    )
    joined.acts_after = first.acts_after
    with torch.no_grad():
        joined.hidden.weight.copy_(torch.cat([actor.hidden.weight for actor in actors]))
        joined.hidden.bias.copy_(torch.cat([actor.hidden.bias for actor in actors]))
        joined.output.weight.copy_(gain / len(actors) * torch.cat([actor.output.weight for actor in actors], dim=1))
    return joined
