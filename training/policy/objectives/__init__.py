"""What a decoder can be trained for: sentence BLEU, perplexity, chrF, conciseness, or a function of the user's own."""

from training.policy.objectives.contract import Objective, Translations
from training.policy.objectives.registry import OBJECTIVES, load_objective

__all__ = ["OBJECTIVES", "Objective", "Translations", "load_objective"]
