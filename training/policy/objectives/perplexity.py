"""Negative perplexity: the mean token log-probability under the frozen model, eos included.

The paper minimises perplexity, "or equivalently the negative log-probability normalised by the length".  It is the
frozen, un-nudged model that judges: an actor cannot win by making itself look probable.
"""

from training.errors import ObjectiveError
from training.policy.objectives.contract import Objective, Translations


class NegativePerplexity(Objective):
    name = "perplexity"
    optimises = "mean token log-probability under the frozen model (low perplexity)"
    is_bounded = False
    needs_log_probabilities = True

    def score(self, translations: Translations) -> list[float]:
        if translations.mean_log_probabilities is None:
            raise ObjectiveError("perplexity needs the log-probabilities of the frozen model, and none were given")
        return list(translations.mean_log_probabilities)

    def corpus_score(self, translations: Translations) -> float:
        """Over all tokens of the set, as perplexity is reported; over sentences where nobody counted tokens."""
        scores, counts = self.score(translations), translations.token_counts
        if counts is None:
            return super().corpus_score(translations)
        return sum(score * count for score, count in zip(scores, counts, strict=True)) / max(1, sum(counts))
