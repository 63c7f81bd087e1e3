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
    precision = recall = 0.0
    orders = 0
    for own, other in zip(_ngrams(hypothesis), _ngrams(reference), strict=True):
        own_total, other_total = sum(own.values()), sum(other.values())
        if not own_total or not other_total:
            continue
        matches = sum(min(count, other[gram]) for gram, count in own.items() if gram in other)
        precision += matches / own_total
        recall += matches / other_total
        orders += 1
    if not orders or not precision + recall:
        return 0.0
    precision, recall = precision / orders, recall / orders
    return (1 + BETA_SQUARED) * precision * recall / (BETA_SQUARED * precision + recall)


@lru_cache(maxsize=1 << 13)
def _ngrams(text: str) -> tuple[Counter[str], ...]:
    characters = "".join(text.split())
    return tuple(
        Counter(characters[start : start + n] for start in range(len(characters) - n + 1)) for n in range(1, ORDER + 1)
    )
