"""What is an output worth, when nobody knows the reference?

In expectation over what the model itself would say (minimum Bayes risk, Kumar and Byrne 2004), its n-best list stands
for the reference:  R̄(y) = Σ_j p_j R(y, y_j)  over the hypotheses y_j of the sentence.

Shapes:  N sentences · J hypotheses of all sentences · M outputs to be judged
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from training.policy.nbest import NBest
from training.policy.objectives import Objective, Translations

Floats = NDArray[np.float64]

# Hypotheses that the model finds less probable than this, among those of their sentence, count for nothing.
NEGLIGIBLE = 0.01
SENTENCES_AT_ONCE = 1000


class Consensus:
    """The n-best lists of N sentences as references, each hypothesis with its share of the probability."""

    def __init__(self, nbest: NBest, texts: Sequence[str], sources: Sequence[str], temperature: float) -> None:
        """texts are those of the J hypotheses, sources those of the N sentences.

        p is the model's, to the power of 1 / temperature: beam search returns close relatives, and of a peaked
        distribution only the first of them would count.
        """
        self._sources = sources
        self._references = [
            _likely(nbest.log_probabilities[first:last], texts[first:last], temperature)
            for first, last in zip(nbest.starts, nbest.starts + nbest.counts, strict=True)
        ]

    def expect(
        self,
        objective: Objective,
        sentences: Sequence[int],
        hypotheses: Sequence[str],
        mean_log_probabilities: Sequence[float] | None = None,
    ) -> Floats:
        """The expected objective [M] of outputs, each of the sentence with the number beside it."""
        met = [  # each output with each of its sentence's references
            (row, reference, share)
            for row, sentence in enumerate(sentences)
            for reference, share in self._references[sentence]
        ]
        means = None
        if mean_log_probabilities is not None:
            means = [mean_log_probabilities[row] for row, _, _ in met]
        scores = objective.score(
            Translations(
                sources=[self._sources[sentences[row]] for row, _, _ in met],
                hypotheses=[hypotheses[row] for row, _, _ in met],
                references=[reference for _, reference, _ in met],
                mean_log_probabilities=means,
            )
        )
        expected = np.zeros(len(hypotheses))
        np.add.at(expected, [row for row, _, _ in met], np.array([share for _, _, share in met]) * np.array(scores))
        return expected


def consensus_scores(
    nbest: NBest,
    objective: Objective,
    sources: Sequence[str],
    decode: Callable[[Sequence[Sequence[int]]], list[str]],
    temperature: float = 1.0,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Floats:
    """The expected objective [J] of every hypothesis among those of its sentence."""
    texts, means, sentence = decode(nbest.outputs()), nbest.mean_log_probabilities.tolist(), nbest.sentence.tolist()
    consensus = Consensus(nbest, texts, sources, temperature)
    edges = [*nbest.starts[::SENTENCES_AT_ONCE].tolist(), len(texts)]
    parts = []
    for number, (first, last) in enumerate(pairwise(edges)):
        parts.append(consensus.expect(objective, sentence[first:last], texts[first:last], means[first:last]))
        on_progress(min(SENTENCES_AT_ONCE, len(nbest) - number * SENTENCES_AT_ONCE))
    return np.concatenate(parts) if parts else np.zeros(0)


def _likely(log_p: NDArray[np.float32], texts: Sequence[str], temperature: float) -> list[tuple[str, float]]:
    """The hypotheses of one sentence that count, and what each counts for."""
    p = np.exp((log_p - log_p.max(initial=-np.inf)) / temperature)
    p = p / p.sum()
    return [(text, float(share)) for text, share in zip(texts, p, strict=True) if share >= NEGLIGIBLE]
