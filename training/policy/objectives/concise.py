"""Conciseness: quality times a price for missing a target length.

    R = chrF · (min(r, g) / max(r, g)) ^ w        r = characters of the hypothesis / characters of the reference

With g = 0.9 and w = 1, a hypothesis of 0.9 times the reference's length keeps its chrF, one as long as the reference
keeps 90% of it, and so does one of 0.81 times its length.
"""

from training.errors import ObjectiveError
from training.policy.objectives.chrf import sentence_chrf
from training.policy.objectives.contract import Objective, Translations


class Concise(Objective):
    """Options: `length`, the target g as a share of the reference's characters, and `weight`, the exponent w."""

    name = "concise"

    def __init__(self, length: float = 0.9, weight: float = 1.0) -> None:
        if not 0 < length < 10 or weight < 0:
            raise ObjectiveError(
                f"concise: length = {length} and weight = {weight}; length is a share of the reference's characters "
                "above 0 (0.9 is a tenth shorter), weight is 0 or more"
            )
        self.length = length
        self.weight = weight
        self.optimises = f"sentence chrF2 at {length:g} times the reference's length in characters"

    def score(self, translations: Translations) -> list[float]:
        return [
            sentence_chrf(hypothesis, reference) * self.price(hypothesis, reference)
            for hypothesis, reference in zip(translations.hypotheses, translations.references, strict=True)
        ]

    def price(self, hypothesis: str, reference: str) -> float:
        """What is left of the quality at this length: 1 at the target, less on both sides of it."""
        ratio = len(hypothesis) / max(1, len(reference))
        return float((min(ratio, self.length) / max(ratio, self.length)) ** self.weight)
