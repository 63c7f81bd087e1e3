"""BLEU, chrF, perplexity and length, from statistics of each sentence that can be summed over any set of sentences.

The statistics are sacreBLEU's own; the scores computed from their sums equal sacreBLEU's, and are vectorised so that
a bootstrap can score a thousand resampled test sets at once.

Shapes:  N sentences · … any leading axes (one test set, or many resampled ones)
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from training.errors import EvaluationError

Floats = NDArray[np.float64]

BLEU_ORDER = 4
CHRF_ORDER = 6
CHRF_BETA = 2


@dataclass(frozen=True)
class SentenceStatistics:
    """What each sentence adds to the score of its test set."""

    bleu: Floats  # [N, 10]: output length, reference length, matches of orders 1-4, n-grams of orders 1-4
    chrf: Floats  # [N, 18]: n-grams of the output, of the reference, matches; for orders 1-6
    log_probability: Floats  # [N, 2]: log p under the frozen model, and tokens, eos included

    def __len__(self) -> int:
        return len(self.bleu)


@dataclass(frozen=True)
class Scores:
    """The scores of one decoder on one test set."""

    bleu: float
    chrf: float
    log_probability: float  # mean over tokens, under the frozen model
    length_ratio: float  # of the outputs to the references, in BLEU's words

    @property
    def perplexity(self) -> float:
        """exp of the mean negative log-probability of a token under the frozen model."""
        return math.exp(-self.log_probability)


class References:
    """The references of a test set, analysed once for all the decoders that are held against them."""

    def __init__(self, references: Sequence[str]) -> None:
        if not references:
            raise EvaluationError("the test set is empty; give at least one sentence and its reference")
        self._size = len(references)
        # force: text that ends in " ." is scored as it is, without a warning about tokenised input.
        self._bleu = BLEU(tokenize="13a", lowercase=False, force=True, references=[list(references)])
        self._chrf = CHRF(references=[list(references)])

    def __len__(self) -> int:
        return self._size

    def signatures(self) -> dict[str, str]:
        """sacreBLEU's signatures: everything one needs to compute the same scores again."""
        return {"bleu": str(self._bleu.get_signature()), "chrf": str(self._chrf.get_signature())}

    def measure(self, outputs: Sequence[str], token_log_probabilities: Sequence[Sequence[float]]) -> SentenceStatistics:
        """Analyse one decoder's outputs; log-probabilities are those of their tokens under the frozen model."""
        if not len(outputs) == len(token_log_probabilities) == self._size:
            raise EvaluationError(
                f"{len(outputs)} outputs with {len(token_log_probabilities)} log-probabilities "
                f"for {self._size} references: give one of each per sentence"
            )
        return SentenceStatistics(
            bleu=np.array(self._bleu._extract_corpus_statistics(list(outputs), None), dtype=np.float64),
            chrf=np.array(self._chrf._extract_corpus_statistics(list(outputs), None), dtype=np.float64),
            log_probability=np.array([(sum(row), len(row)) for row in token_log_probabilities], dtype=np.float64),
        )


def score(statistics: SentenceStatistics) -> Scores:
    """The scores of the whole test set."""
    bleu_sums = statistics.bleu.sum(axis=0)
    return Scores(
        bleu=float(bleu(bleu_sums)),
        chrf=float(chrf(statistics.chrf.sum(axis=0))),
        log_probability=float(mean_log_probability(statistics.log_probability.sum(axis=0))),
        length_ratio=float(bleu_sums[0] / bleu_sums[1]) if bleu_sums[1] else math.nan,
    )


def bleu(sums: Floats) -> Floats:
    """BLEU […] of summed statistics […, 10], with sacreBLEU's exponential smoothing of orders without a match."""
    output_length, reference_length = sums[..., 0], sums[..., 1]
    matches, totals = sums[..., 2 : 2 + BLEU_ORDER], sums[..., 2 + BLEU_ORDER :]
    has_all_orders = (totals > 0).all(axis=-1) & (matches > 0).any(axis=-1)
    # The k-th order without a match counts as half a match, a quarter, … (NIST).
    halvings = 2.0 ** np.cumsum(matches == 0, axis=-1)
    precisions = np.where(matches > 0, matches, 1 / halvings) / np.maximum(totals, 1)
    shortfall = np.minimum(0.0, 1 - reference_length / np.maximum(output_length, 1))
    return np.where(has_all_orders, 100 * np.exp(shortfall + np.log(precisions).mean(axis=-1)), 0.0)


def chrf(sums: Floats) -> Floats:
    """chrF […] of summed statistics […, 18]: F2 of precision and recall averaged over the orders that occur."""
    outputs, references, matches = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
    occurs = (outputs > 0) & (references > 0)
    orders = np.maximum(occurs.sum(axis=-1), 1)
    precision = np.where(occurs, matches / np.maximum(outputs, 1), 0.0).sum(axis=-1) / orders
    recall = np.where(occurs, matches / np.maximum(references, 1), 0.0).sum(axis=-1) / orders
    factor = CHRF_BETA**2
    divisor = factor * precision + recall
    return 100 * (1 + factor) * precision * recall / np.where(divisor > 0, divisor, 1.0)


def mean_log_probability(sums: Floats) -> Floats:
    """Mean log-probability of a token […] from summed statistics […, 2]."""
    return sums[..., 0] / np.maximum(sums[..., 1], 1)


@dataclass(frozen=True)
class Metric:
    """A score that is a function of summed statistics; higher is better."""

    name: str
    label: str
    statistics: Callable[[SentenceStatistics], Floats]
    score: Callable[[Floats], Floats]


METRICS = (
    Metric("bleu", "BLEU", lambda statistics: statistics.bleu, bleu),
    Metric("chrf", "chrF", lambda statistics: statistics.chrf, chrf),
    Metric("log_probability", "log p", lambda statistics: statistics.log_probability, mean_log_probability),
)
