"""Where would another word have led?  A teacher that follows every word the decoder nearly said to its end.

An n-best list says which output is better, not where the greedy one went wrong.  Here every step of a greedy output is
a crossroads: each word that was nearly as likely as the one said is said instead, decoding goes on greedily behind it,
and the objective judges where that leads.  The differences are what each choice is worth to a greedy decoder, one step
of policy improvement (as in Ross and Bagnell 2014), and the actor learns the choices that matter the most first.

Shapes:  N sentences · B of a batch · T steps · L tokens of all outputs, in order · K candidates of a step · H state
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.corpus.cache import BOS, EOS, TokenCorpus
from training.decoding.batches import SourceBatch, device_of, evaluating, source_batches
from training.decoding.greedy import decode_rows, row_limits
from training.decoding.hypothesis import LengthLimits
from training.decoding.rollout import rollout
from training.nmt.model import TranslationModel
from training.policy.actor import PlainActor
from training.policy.shards import Shard

BATCH_TOKENS = 2500  # of sources; each becomes some ten rows

# The objective of outputs (ids without eos), each of the sentence with the number beside it; whether it was cut.
Judge = Callable[[Sequence[int], Sequence[Sequence[int]], Sequence[bool]], list[float]]


@dataclass(frozen=True)
class Crossroads(Shard):
    """Greedy outputs, and at each of their steps the words that might have been said."""

    lengths: NDArray[np.int32]  # [N] tokens of each output, eos included; 0 where it was cut at the length limit
    candidates: NDArray[np.int32]  # [L, K] the word said, then others, the likeliest first; 0 where there are fewer
    returns: NDArray[np.float32]  # [L, K] the objective of the output that each leads to; -inf where there is none

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def stakes(self) -> float:
        """By how much the return of another word differs in the mean: the unit in which choices are weighed."""
        others = self.returns[:, 1:]
        differences = np.abs(others - self.returns[:, :1])[np.isfinite(others)]
        return max(float(differences.mean()), 1e-9) if len(differences) else 1.0

    def as_corpus(self, corpus: TokenCorpus, indices: NDArray[np.int64]) -> TokenCorpus:
        """The greedy outputs as targets of their sources: sentence n is pair `indices[n]` of `corpus`."""
        kept = np.flatnonzero(self.lengths)
        pairs, lengths = indices[kept], self.lengths[kept]
        return TokenCorpus(
            corpus.source_ids,
            np.ascontiguousarray(self.candidates[:, 0]),
            corpus.source_lengths[pairs],
            lengths,
            corpus.source_starts[pairs],
            np.cumsum(lengths, dtype=np.int64) - lengths,
        )


def look_ahead(
    model: TranslationModel,
    sources: Sequence[Sequence[int]],
    judge: Judge,
    *,
    limits: LengthLimits,
    actor: PlainActor | None,
    candidates: int,
    nearness: float,
) -> Crossroads:
    """Decode `sources` (ids that end with eos) greedily, and try at every step what was nearly said.

    That is: the likeliest `candidates` words, as far as they are within `nearness` nats of the likeliest.
    """
    found: dict[int, tuple[NDArray[np.int32], NDArray[np.float32]]] = {}
    with evaluating(model, actor), torch.no_grad():
        for batch in source_batches(sources, BATCH_TOKENS, device_of(model)):
            found.update(_look_from(model, batch, sources, judge, limits, actor, candidates, nearness))
    columns = [found[number] for number in range(len(sources))]
    return Crossroads(
        np.array([len(words) for words, _ in columns], np.int32),
        np.concatenate([words for words, _ in columns]),
        np.concatenate([returns for _, returns in columns]),
    )


def _look_from(
    model: TranslationModel,
    batch: SourceBatch,
    sources: Sequence[Sequence[int]],
    judge: Judge,
    limits: LengthLimits,
    actor: PlainActor | None,
    count: int,
    nearness: float,
) -> dict[int, tuple[NDArray[np.int32], NDArray[np.float32]]]:
    """Candidates [T, K] and returns [T, K] of each sentence of a batch, by its number; T = 0 where it was cut."""
    said = rollout(model, [sources[number] for number in batch.indices], limits=limits, actor=actor)
    previous = torch.cat([torch.full_like(said.ids[:, :1], BOS), said.ids[:, :-1]], dim=1)
    words, is_near = _nearly_said(model, said.states, said.contexts, previous, count, nearness)
    steps = torch.arange(words.shape[1], device=words.device)
    bounds = row_limits(batch, limits)
    may_go_on = (steps + 1 < bounds.unsqueeze(1)).unsqueeze(2)  # no word but eos may be said at the last step there is
    is_tried = is_near & (said.mask > 0).unsqueeze(2) & (may_go_on | (words == EOS))
    is_tried &= ~said.is_truncated()[:, None, None]
    row, step, place = is_tried.nonzero(as_tuple=True)
    word = words[row, step, place]

    outputs, is_cut = said.outputs(), said.is_truncated().tolist()
    endings, ending_is_cut = _endings(model, batch, said.states[row, step], row, word, bounds[row] - step - 1, actor)
    branches = [(*outputs[r][:t], *ending) for r, t, ending in zip(row.tolist(), step.tolist(), endings, strict=True)]
    numbers = [*batch.indices, *(batch.indices[r] for r in row.tolist())]
    scores = torch.tensor(judge(numbers, [*outputs, *branches], [*is_cut, *ending_is_cut]), dtype=torch.float32)

    returns = torch.full(words.shape, -torch.inf)
    returns[:, :, 0] = scores[: len(outputs)].unsqueeze(1)
    returns[row, step, place] = scores[len(outputs) :]
    words = torch.where(torch.isfinite(returns), words, 0)
    lengths = torch.where(said.is_truncated(), 0, said.mask.sum(dim=1).long()).tolist()
    return {
        number: (words[r, :length].numpy().astype(np.int32), returns[r, :length].numpy())
        for r, (number, length) in enumerate(zip(batch.indices, lengths, strict=True))
    }


def _nearly_said(
    model: TranslationModel, states: Tensor, contexts: Tensor, previous: Tensor, count: int, nearness: float
) -> tuple[Tensor, Tensor]:
    """The likeliest words of each step [B, T, K], the first being the one said, and which are near that [B, T, K]."""
    words, is_near = [], []
    for step in range(states.shape[1]):  # one step at a time: the logits of all would be large
        logits = model.read(states[:, step], previous[:, step], contexts[:, step])
        values, best = logits.topk(min(count, logits.shape[1]), dim=1)
        words.append(best)
        is_near.append(values > values[:, :1] - nearness)
    near = torch.stack(is_near, dim=1)
    near[:, :, 0] = False
    return torch.stack(words, dim=1), near


def _endings(
    model: TranslationModel,
    batch: SourceBatch,
    states: Tensor,
    rows: Tensor,
    words: Tensor,
    limits: Tensor,
    actor: PlainActor | None,
) -> tuple[list[tuple[int, ...]], list[bool]]:
    """From states [M, H] of these rows [M] of the batch on, say the word [M] and whatever comes greedily behind it.

    Returns the ids, the word included and eos not, and whether they were cut.
    """
    endings: list[tuple[int, ...]] = [() for _ in range(len(words))]  # eos ends the output where it stands
    is_cut = [False] * len(words)
    going_on = (words != EOS).nonzero().squeeze(1)
    if len(going_on):
        encoded = model.encode(batch.ids, batch.mask).select(rows[going_on])._replace(first_state=states[going_on])
        rest = decode_rows(model, encoded, limits[going_on], actor, previous=words[going_on])
        for place, one in zip(going_on.tolist(), rest, strict=True):
            endings[place] = (int(words[place]), *one.ids)
            is_cut[place] = one.is_truncated
    return endings, is_cut
