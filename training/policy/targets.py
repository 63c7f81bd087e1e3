"""Which hypothesis of an n-best list should the actor learn to produce?

Chen et al. (2018) take the one that the objective likes best.  Often that one is out of the actor's reach: the model
finds it improbable all along.  So the choice is limited to hypotheses the model finds nearly as likely as its own
best, and among those the objective decides: against the reference, or, since nobody knows a reference while decoding,
in expectation against what else the model would say (`training.policy.consensus`).

Shapes:  N sentences · J hypotheses of all sentences
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.corpus.cache import EOS, IdArray, TokenCorpus
from training.policy.nbest import NBest
from training.policy.objectives import Objective, Translations

Floats = NDArray[np.float64]

# The bonus a token that levels lengths is looked for between plus and minus this, in halves.
MAX_BONUS = 0.2
BISECTIONS = 12


class Targets(NamedTuple):
    """The chosen hypotheses."""

    sentences: NDArray[np.int64]  # [M] those that have a target
    hypotheses: NDArray[np.int64]  # [M] the chosen one of each, among all J
    objective: float  # mean objective of the targets
    top_objective: float  # and of the model's own best hypotheses


def score_hypotheses(
    nbest: NBest,
    objective: Objective,
    sources: Sequence[str],
    references: Sequence[str],
    decode: Callable[[Sequence[Sequence[int]]], list[str]],
) -> Floats:
    """The objective [J] of every hypothesis; `sources` and `references` are those of the N sentences."""
    translations = Translations(
        sources=[sources[sentence] for sentence in nbest.sentence],
        hypotheses=decode(nbest.outputs()),
        references=[references[sentence] for sentence in nbest.sentence],
        mean_log_probabilities=nbest.mean_log_probabilities.tolist(),
    )
    return np.array(objective.score(translations), np.float64)


def levelling_bonus(nbest: NBest, scores: Floats, delta: float, length_alpha: float) -> float:
    """What a token must add to the scores [J] for targets as long, in the mean, as the model's best hypotheses.

    An actor learns the length of its targets before anything else.  A consensus is shorter than what it is found in,
    and BLEU's brevity penalty may then cost more than the consensus gains.
    """
    wanted, low, high = nbest.lengths[nbest.starts].mean(), -MAX_BONUS, MAX_BONUS
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        chosen = choose_targets(nbest, scores + middle * nbest.lengths, delta, length_alpha).hypotheses
        if len(chosen) and nbest.lengths[chosen].mean() < wanted:
            low = middle
        else:
            high = middle
    return high


def choose_targets(nbest: NBest, scores: Floats, delta: float, length_alpha: float) -> Targets:
    """Of each sentence, the hypothesis with the best score among those within `delta` nats of its first.

    Hypotheses of different lengths are compared as the beam that found them compared them, by log p / length ** alpha,
    and the difference is multiplied by the first one's length ** alpha, so that it is in nats of the whole sentence.
    A hypothesis that was cut at the length limit is never a target; of equal scores the one that the beam liked better
    wins.
    """
    sentence, starts = nbest.sentence, nbest.starts
    lengths = np.maximum(1, nbest.lengths + ~nbest.is_truncated).astype(np.float64) ** length_alpha
    beam_scores = nbest.log_probabilities / lengths
    distances = (beam_scores[starts] * lengths[starts])[sentence] - beam_scores * lengths[starts][sentence]
    candidates = np.flatnonzero((distances <= delta) & ~nbest.is_truncated)
    # Sorted by sentence, then score, then the beam's: the last of each sentence is its target.
    order = candidates[np.lexsort((beam_scores[candidates], scores[candidates], sentence[candidates]))]
    is_last = np.append(sentence[order][1:] != sentence[order][:-1], True)[: len(order)]
    chosen = order[is_last]
    return Targets(
        sentence[chosen],
        chosen,
        float(scores[chosen].mean()) if len(chosen) else float("nan"),
        float(scores[nbest.starts[sentence[chosen]]].mean()) if len(chosen) else float("nan"),
    )


def pseudo_corpus(corpus: TokenCorpus, indices: NDArray[np.int64], nbest: NBest, targets: Targets) -> TokenCorpus:
    """The chosen pairs as a corpus: sources of `corpus` (pair `indices[n]` is sentence n), targets of the lists."""
    pairs = indices[targets.sentences]
    outputs = nbest.outputs()
    chosen = [[*outputs[hypothesis], EOS] for hypothesis in targets.hypotheses]
    lengths = np.array([len(ids) for ids in chosen], np.int32)
    flat: IdArray = np.array([token for ids in chosen for token in ids], np.int32)
    return TokenCorpus(
        corpus.source_ids,
        flat,
        corpus.source_lengths[pairs],
        lengths,
        corpus.source_starts[pairs],
        np.cumsum(lengths, dtype=np.int64) - lengths,
    )
