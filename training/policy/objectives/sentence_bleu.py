"""Smoothed sentence BLEU (Lin and Och 2004): one is added to the matches and the totals of all n-grams beyond words.

    BLEU = min(1, exp(1 − |ref| / |hyp|)) · (m_1/t_1 · Π_{n=2..4} (m_n + 1)/(t_n + 1)) ^ 1/4

Words are those of sacrebleu's 13a tokenisation, so that a sentence's score speaks of the same words as a corpus's.
"""

import math
from collections import Counter
from functools import lru_cache

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from training.policy.objectives.contract import Objective, Translations

ORDER = 4
Words = tuple[str, ...]


class SentenceBleu(Objective):
    name = "bleu"
    optimises = "sentence BLEU, smoothed after Lin and Och (2004)"

    def score(self, translations: Translations) -> list[float]:
        return [
            sentence_bleu(hypothesis, reference)
            for hypothesis, reference in zip(translations.hypotheses, translations.references, strict=True)
        ]

    def corpus_score(self, translations: Translations) -> float:
        """Corpus BLEU as sacrebleu computes it, between 0 and 1: actors are chosen by what will be reported."""
        metric = BLEU(force=True)  # force: text that ends in " ." is scored without a warning
        return metric.corpus_score(list(translations.hypotheses), [list(translations.references)]).score / 100


def sentence_bleu(hypothesis: str, reference: str) -> float:
    """BLEU of one sentence, between 0 and 1."""
    return bleu_of_words(split_words(hypothesis), split_words(reference))


def bleu_of_words(hypothesis: Words, reference: Words) -> float:
    """The same of words that are split already."""
    reference_counts = count_ngrams(reference)
    matches = [0] * (ORDER + 1)  # by the length of the n-gram
    for gram, count in count_ngrams(hypothesis).items():
        if gram in reference_counts:
            matches[len(gram)] += min(count, reference_counts[gram])
    log_precision = 0.0
    for n in range(1, ORDER + 1):
        total = max(0, len(hypothesis) - n + 1)
        smoothing = 0 if n == 1 else 1
        if matches[n] + smoothing == 0:
            return 0.0
        log_precision += math.log((matches[n] + smoothing) / (total + smoothing)) / ORDER
    log_brevity = min(0.0, 1 - len(reference) / len(hypothesis))
    return math.exp(log_brevity + log_precision)


@lru_cache(maxsize=1 << 14)
def count_ngrams(words: Words) -> dict[Words, int]:
    """Counts of all n-grams up to `ORDER`; kept, because one sentence meets many others."""
    return Counter(words[start : start + n] for n in range(1, ORDER + 1) for start in range(len(words) - n + 1))


_tokenizer = Tokenizer13a()  # type: ignore[no-untyped-call]


@lru_cache(maxsize=1 << 14)
def split_words(text: str) -> Words:
    return tuple(_tokenizer(text.rstrip()).split())
