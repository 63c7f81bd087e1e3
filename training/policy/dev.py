"""The dev set as an actor's judge: greedy decoding with the actor, and everything worth watching about its outputs.

It may be made of several sets, of everyday sentences and of newspapers, say.  Each is scored by itself and all weigh
the same: scored as one, longer outputs here would make up for some there that are too short.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import fmean

from training.decoding.greedy import greedy
from training.decoding.hypothesis import Hypothesis, LengthLimits
from training.decoding.scoring import score_under_model
from training.nmt.model import TranslationModel
from training.policy.actor import PlainActor, model_for
from training.policy.objectives import Objective, Translations
from training.policy.objectives.chrf import Chrf
from training.policy.objectives.sentence_bleu import SentenceBleu, split_words


@dataclass(frozen=True)
class DevScores:
    """What greedy decoding with an actor achieves on the dev set."""

    objective: float  # the true objective, the mean of the sets it is made of, by which actors are chosen
    bleu: float
    chrf: float
    log_probability: float  # mean over tokens, under the frozen model
    length_ratio: float  # of the outputs to the references, in words


class DevSet:
    """Sentences of a dev set, tokenised once."""

    def __init__(
        self,
        sources: Sequence[str],
        references: Sequence[str],
        source_ids: Sequence[Sequence[int]],
        decode: Callable[[Sequence[Sequence[int]]], list[str]],
        objective: Objective,
        limits: LengthLimits,
        sizes: Sequence[int] = (),
    ) -> None:
        """`sizes` are the numbers of sentences of the sets that it is made of; none: it is one."""
        self._parts = [slice(*ends) for ends in pairwise(accumulate(sizes or [len(sources)], initial=0))]
        self.sources = sources
        self.references = references
        self.source_ids = source_ids
        self.decode = decode
        self.objective = objective
        self.limits = limits
        self._reference_words = sum(len(split_words(reference)) for reference in references)

    def measure(self, model: TranslationModel, actor: PlainActor | None) -> DevScores:
        """Decode with the actor (or none) and score; probabilities are those of the model without it."""
        acted_on = model if actor is None else model_for(model, actor)
        return self.judge(model, greedy(acted_on, self.source_ids, limits=self.limits, actor=actor))

    def judge(self, model: TranslationModel, hypotheses: Sequence[Hypothesis]) -> DevScores:
        """Score outputs, however they came about; probabilities are those of `model`."""
        translations, token_scores = self.translations(model, hypotheses)
        words = sum(len(split_words(text)) for text in translations.hypotheses)
        return DevScores(
            objective=fmean(self.objective.corpus_score(translations.part(lines)) for lines in self._parts),
            bleu=100 * SentenceBleu().corpus_score(translations),
            chrf=100 * Chrf().corpus_score(translations),
            log_probability=sum(map(sum, token_scores)) / max(1, sum(map(len, token_scores))),
            length_ratio=words / max(1, self._reference_words),
        )

    def translations(
        self, model: TranslationModel, hypotheses: Sequence[Hypothesis]
    ) -> tuple[Translations, list[tuple[float, ...]]]:
        """Outputs with all that an objective may look at, and the log-probabilities of their tokens under `model`."""
        outputs = [one.ids for one in hypotheses]
        token_scores = score_under_model(
            model, self.source_ids, outputs, truncated=[one.is_truncated for one in hypotheses]
        )
        means = [sum(row) / max(1, len(row)) for row in token_scores]
        counts = [len(row) for row in token_scores]
        return Translations(self.sources, self.decode(outputs), self.references, means, counts), token_scores
