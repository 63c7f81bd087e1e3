"""Objectives by the name a config gives them."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from training.errors import ObjectiveError
from training.policy.objectives.chrf import Chrf
from training.policy.objectives.concise import Concise
from training.policy.objectives.contract import Objective
from training.policy.objectives.own import OwnObjective
from training.policy.objectives.perplexity import NegativePerplexity
from training.policy.objectives.sentence_bleu import SentenceBleu

OBJECTIVES: dict[str, Callable[..., Objective]] = {
    "bleu": SentenceBleu,
    "perplexity": NegativePerplexity,
    "chrf": Chrf,
    "concise": Concise,
}


def load_objective(name: str, options: Mapping[str, Any] | None = None) -> Objective:
    """The named objective, or the user's own `module:function`; raise `ObjectiveError` when it cannot be used."""
    options = options or {}
    if ":" in name:
        return OwnObjective(name, options)
    if name not in OBJECTIVES:
        raise ObjectiveError(
            f"no objective {name!r}: there are {', '.join(OBJECTIVES)}, and module:function of your own"
        )
    build = OBJECTIVES[name]
    try:
        signature(build).bind(**options)
    except TypeError:
        known = ", ".join(signature(build).parameters) or "none"
        raise ObjectiveError(f"the objective {name} has no options {', '.join(options)}; it has: {known}") from None
    return build(**options)
