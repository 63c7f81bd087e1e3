"""Controls: cheap decoders that an actor has to beat before its input can be credited with anything.

The constant action is an actor (`training.policy.actor.ConstantActor`), trained like any other.  Greedy decoding with
a length bonus adds b to every token but eos, which is the same as taking b from eos: positive b makes longer outputs,
negative b shorter ones.  The bonus is tuned on the dev set for the objective that the actor serves.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from training.corpus.cache import EOS
from training.decoding.greedy import greedy
from training.nmt.model import TranslationModel
from training.policy.dev import DevSet
from training.policy.objectives import Objective

BONUSES = (-3.0, -2.0, -1.5, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


@dataclass(frozen=True)
class TunedBonus:
    """The length bonus that is best on the dev set, and what it achieves there."""

    bonus: float
    objective: float


def with_length_bonus(model: TranslationModel, bonus: float) -> TranslationModel:
    """The same model, its weights shared, whose eos has `bonus` less of a logit."""
    biased = copy.copy(model)
    biased._modules = dict(model._modules)  # a shallow copy would share the table of its parts
    output = copy.copy(model.output)
    output._parameters = dict(model.output._parameters)
    with torch.no_grad():
        bias = model.output.bias.clone()
        bias[EOS] -= bonus
    output.bias = nn.Parameter(bias, requires_grad=False)
    biased.output = output
    return biased


def tune_length_bonuses(
    model: TranslationModel, dev: DevSet, objectives: Mapping[str, Objective], bonuses: Sequence[float] = BONUSES
) -> dict[str, TunedBonus]:
    """For each objective the bonus that serves it best on the dev set; of equals the one closest to none wins.

    The outputs of a bonus are the same for every objective, so each is decoded once.
    """
    tried: dict[str, list[TunedBonus]] = {name: [] for name in objectives}
    for bonus in bonuses:
        outputs = greedy(with_length_bonus(model, bonus), dev.source_ids, limits=dev.limits)
        translations, _ = dev.translations(model, outputs)
        for name, objective in objectives.items():
            tried[name].append(TunedBonus(bonus, objective.corpus_score(translations)))
    return {name: max(found, key=lambda one: (one.objective, -abs(one.bonus))) for name, found in tried.items()}
