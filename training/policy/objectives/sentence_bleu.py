"""Smoothed sentence BLEU (Lin and Och 2004): one is added to the matches and the totals of all n-grams beyond words.

    BLEU = min(1, exp(1 − g |ref| / |hyp|)) · (m_1/t_1 · Π_{n=2..4} (m_n + 1)/(t_n + 1)) ^ 1/4

g is 1, unless a model is to be kept from saying less.  Where its greedy outputs are longer than the references, any way
to shorten them is rewarded, and a test set whose references are longer takes that back: with g as the ratio of greedy
outputs to references, brevity has its price from the start, and only better words are a gain.

Words are those of sacrebleu's 13a tokenisation, so that a sentence's score speaks of the same words as a corpus's.
"""

import math
from collections import Counter
from functools import lru_cache

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from training.errors import ObjectiveError
from training.policy.objectives.contract import Objective, Translations

ORDER = 4
Words = tuple[str, ...]


class SentenceBleu(Objective):
    """Option: `length`, by which references are taken to be longer than they are, g above."""

    name = "bleu"

    def __init__(self, length: float = 1.0) -> None:
        if not 0 < length < 10:
            raise ObjectiveError(f"bleu: length = {length}; it is a share of the reference's words above 0, mostly 1")
        self.length = length
        at_length = "" if length == 1 else f", brevity measured against {length:g} times the reference's words"
        self.optimises = f"sentence BLEU, smoothed after Lin and Och (2004){at_length}"

    def score(self, translations: Translations) -> list[float]:
        return [
            sentence_bleu(hypothesis, reference, self.length)
            for hypothesis, reference in zip(translations.hypotheses, translations.references, strict=True)
        ]

    def corpus_score(self, translations: Translations) -> float:
        """Corpus BLEU as sacrebleu computes it, between 0 and 1: actors are chosen by what will be reported."""
        metric = BLEU(force=True)  # force: text that ends in " ." is scored without a warning
        found = metric.corpus_score(list(translations.hypotheses), [list(translations.references)])
        if self.length == 1 or not found.score:
            return found.score / 100
        return found.score / 100 * math.exp(_log_brevity(found.sys_len, self.length * found.ref_len)) / found.bp


def sentence_bleu(hypothesis: str, reference: str, length: float = 1.0) -> float:
    """BLEU of one sentence, between 0 and 1."""
    return bleu_of_words(split_words(hypothesis), split_words(reference), length)


def bleu_of_words(hypothesis: Words, reference: Words, length: float = 1.0) -> float:
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
    return math.exp(_log_brevity(len(hypothesis), length * len(reference)) + log_precision)


def _log_brevity(words: int, wanted: float) -> float:
    return min(0.0, 1 - wanted / words)


@lru_cache(maxsize=1 << 14)
def count_ngrams(words: Words) -> dict[Words, int]:
    """Counts of all n-grams up to `ORDER`; kept, because one sentence meets many others."""
    return Counter(words[start : start + n] for n in range(1, ORDER + 1) for start in range(len(words) - n + 1))


_tokenizer = Tokenizer13a()  # type: ignore[no-untyped-call]


@lru_cache(maxsize=1 << 14)
def split_words(text: str) -> Words:
    return tuple(_tokenizer(text.rstrip()).split())
