"""A test set made ready once, for any number of decoders to be measured on."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from training.corpus.cache import EOS
from training.decoding.hypothesis import Hypothesis
from training.decoding.scoring import score_under_model
from training.evaluation.bootstrap import DEFAULT_DRAWS, DEFAULT_SEED, Resampled, resample
from training.evaluation.metrics import References, SentenceStatistics, score
from training.evaluation.table import Row
from training.nmt.model import TranslationModel

Decode = Callable[[Sequence[Sequence[int]]], list[Hypothesis]]


class TextCodec(Protocol):
    """What is needed of a subword model."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: Sequence[int]) -> str: ...


@dataclass(frozen=True)
class Measurement:
    """One decoder on one test set, with all that later comparisons need."""

    row: Row
    statistics: SentenceStatistics
    resampled: Resampled
    hypotheses: list[Hypothesis]
    texts: list[str]


class PreparedSet:
    """Sources as ids and references analysed, both once."""

    def __init__(
        self, name: str, sources: Sequence[str], references: Sequence[str], source: TextCodec, target: TextCodec
    ) -> None:
        self.name = name
        self.source_ids = [[*source.encode(text), EOS] for text in sources]
        self.references = References(references)
        self._target = target

    def __len__(self) -> int:
        return len(self.source_ids)

    def measure(
        self,
        model: TranslationModel,
        name: str,
        decode: Decode,
        *,
        has_actor: bool,
        draws: int = DEFAULT_DRAWS,
        seed: int = DEFAULT_SEED,
    ) -> Measurement:
        """Decode and score.  `has_actor` says that the hypotheses' log-probabilities are not the frozen model's."""
        start = time.perf_counter()
        hypotheses = decode(self.source_ids)
        seconds = time.perf_counter() - start
        texts = [self._target.decode(hypothesis.ids) for hypothesis in hypotheses]
        statistics = self.references.measure(texts, self._log_probabilities(model, hypotheses, has_actor))
        resampled = resample(statistics, draws=draws, seed=seed)
        row = Row(
            decoder=name,
            scores=score(statistics),
            bleu_interval=resampled.interval("bleu"),
            tokens=sum(len(hypothesis.token_log_probabilities) for hypothesis in hypotheses),
            seconds=seconds,
            truncated=sum(hypothesis.is_truncated for hypothesis in hypotheses),
        )
        return Measurement(row, statistics, resampled, hypotheses, texts)

    def _log_probabilities(
        self, model: TranslationModel, hypotheses: Sequence[Hypothesis], has_actor: bool
    ) -> Sequence[Sequence[float]]:
        """Of the outputs' tokens under the frozen model, which is what perplexity is about."""
        if not has_actor:
            return [hypothesis.token_log_probabilities for hypothesis in hypotheses]
        return score_under_model(
            model,
            self.source_ids,
            [hypothesis.ids for hypothesis in hypotheses],
            truncated=[hypothesis.is_truncated for hypothesis in hypotheses],
        )
