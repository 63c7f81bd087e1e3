"""Sentence chrF2 (Popović 2015), the same number as sacrebleu's, between 0 and 1.

The F-score, with recall counted twice as much as precision, of character n-grams up to 6 without spaces; orders for
which either side has no n-gram are left out of the mean.
"""

from collections import Counter
from functools import lru_cache

from sacrebleu.metrics.chrf import CHRF

from training.policy.objectives.contract import Objective, Translations

ORDER = 6
BETA_SQUARED = 4.0


class Chrf(Objective):
    name = "chrf"
    optimises = "sentence chrF2"

    def score(self, translations: Translations) -> list[float]:
        return [
            sentence_chrf(hypothesis, reference)
            for hypothesis, reference in zip(translations.hypotheses, translations.references, strict=True)
        ]

    def corpus_score(self, translations: Translations) -> float:
        """Corpus chrF2 as sacrebleu computes it, between 0 and 1."""
        return float(CHRF().corpus_score(list(translations.hypotheses), [list(translations.references)]).score) / 100


def sentence_chrf(hypothesis: str, reference: str) -> float:
    """chrF2 of one sentence, between 0 and 1."""
    own, own_length = _ngrams(hypothesis)
    other, other_length = _ngrams(reference)
    matches = [0] * (ORDER + 1)  # by the length of the n-gram
    for gram in own.keys() & other.keys():
        count, limit = own[gram], other[gram]
        matches[len(gram)] += count if count < limit else limit
    precision = recall = 0.0
    orders = min(ORDER, own_length, other_length)  # longer n-grams do not occur on both sides
    for n in range(1, orders + 1):
        precision += matches[n] / (own_length - n + 1)
        recall += matches[n] / (other_length - n + 1)
    if not orders or not precision + recall:
        return 0.0
    precision, recall = precision / orders, recall / orders
    return (1 + BETA_SQUARED) * precision * recall / (BETA_SQUARED * precision + recall)


@lru_cache(maxsize=1 << 13)
def _ngrams(text: str) -> tuple[dict[str, int], int]:
    """Counts of all n-grams up to `ORDER` of the text without its spaces, and its length."""
    characters = "".join(text.split())
    grams = (characters[start : start + n] for n in range(1, ORDER + 1) for start in range(len(characters) - n + 1))
    return Counter(grams), len(characters)
