"""Minibatches of sentence pairs, and the true return R of whatever was decoded from them.

Shapes:  B sentences · K sequences of each · L reference length
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from training.corpus.batches import BatchStream
from training.corpus.cache import EOS, PAD
from training.decoding.scoring import score_under_model
from training.nmt.model import TranslationModel
from training.policy.objectives import Objective, Translations

Decode = Callable[[Sequence[Sequence[int]]], list[str]]


@dataclass(frozen=True)
class Minibatch:
    """Pairs (X, Y) as ids and as text."""

    sources: list[list[int]]  # each closed by eos
    references: list[list[int]]  # without eos
    source_texts: list[str]
    reference_texts: list[str]
    indices: tuple[int, ...] = ()  # their numbers in the corpus, where they are from one

    def __len__(self) -> int:
        return len(self.sources)

    def keep(self, rows: Sequence[int]) -> "Minibatch":
        """The given pairs alone."""
        return Minibatch(
            [self.sources[row] for row in rows],
            [self.references[row] for row in rows],
            [self.source_texts[row] for row in rows],
            [self.reference_texts[row] for row in rows],
            tuple(self.indices[row] for row in rows),
        )

    def padded_references(self) -> tuple[Tensor, Tensor]:
        """Ids [B, L], each row closed by eos, and their mask [B, L]."""
        width = max(len(reference) for reference in self.references) + 1
        ids = torch.full((len(self), width), PAD)
        for row, reference in enumerate(self.references):
            ids[row, : len(reference) + 1] = torch.tensor([*reference, EOS])
        lengths = torch.tensor([len(reference) + 1 for reference in self.references])
        return ids, (torch.arange(width) < lengths.unsqueeze(1)).float()


def minibatches(stream: BatchStream, start: int, decode_source: Decode, decode_target: Decode) -> Iterator[Minibatch]:
    """The endless sequence of minibatches of one shuffle of the corpus, from number `start` on."""
    for indices in stream.index_batches(start):
        pairs = [stream.corpus.pair(int(index)) for index in indices]
        references = [target[:-1].tolist() for _, target in pairs]
        yield Minibatch(
            sources=[source.tolist() for source, _ in pairs],
            references=references,
            source_texts=decode_source([source[:-1].tolist() for source, _ in pairs]),
            reference_texts=decode_target(references),
            indices=tuple(map(int, indices)),
        )


class TrueReturns:
    """R(Ŷ): the objective itself, which nobody can differentiate."""

    def __init__(self, objective: Objective, model: TranslationModel, decode_target: Decode) -> None:
        self._objective = objective
        self._model = model
        self._decode = decode_target

    def __call__(self, batch: Minibatch, outputs: Sequence[Sequence[int]], truncated: Sequence[bool]) -> Tensor:
        """The returns [B, K] of outputs (ids without eos), K for each sentence, side by side."""
        count = len(outputs) // len(batch)
        rows = [row for row in range(len(batch)) for _ in range(count)]
        means = None
        if self._objective.needs_log_probabilities:
            means = mean_log_probabilities(self._model, [batch.sources[row] for row in rows], outputs, truncated)
        translations = Translations(
            sources=[batch.source_texts[row] for row in rows],
            hypotheses=self._decode(outputs),
            references=[batch.reference_texts[row] for row in rows],
            mean_log_probabilities=means,
        )
        return torch.tensor(self._objective.score(translations)).view(len(batch), count)


def mean_log_probabilities(
    model: TranslationModel,
    sources: Sequence[Sequence[int]],
    outputs: Sequence[Sequence[int]],
    truncated: Sequence[bool],
) -> list[float]:
    """Mean log-probability of a token of each output under the model, eos included."""
    return [sum(row) / max(1, len(row)) for row in score_under_model(model, sources, outputs, truncated=truncated)]
