"""Batched beam search with n-best lists and length normalisation, with or without an actor.

A sentence has `beam_size` places.  At every step the best continuations of its live prefixes fill the places that are
left; one that ends with eos is a finished hypothesis, keeps its place and is no longer extended.  The search of a
sentence is over when no place is left, when its length limit is reached, or earlier when no live prefix can still
enter its n-best list.  Finished hypotheses are ranked by  log p / length ** alpha  (eos counts as a token); what was
cut at the limit ranks behind everything that finished.

Shapes:  B sentences · R live rows of all sentences, sorted by sentence · W beam size · C continuations kept of a row ·
         t tokens so far · H decoder state · V vocabulary
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from training.corpus.cache import BOS, EOS
from training.decoding.batches import Progress, device_of, evaluating, source_batches
from training.decoding.greedy import row_limits
from training.decoding.hypothesis import Hypothesis, LengthLimits
from training.nmt.model import Actor, Encoded, TranslationModel

# Scores prefixes [R] from the state z_t [R, H] and context [R, A] that predict their next token, and lengths [R].
PrefixScore = Callable[[Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class BeamSettings:
    """How wide to search, what to return, and what else counts besides the probability.

    With a `prefix_score` the score of a hypothesis is  log p / length ** alpha + prefix_weight · prefix_score,  for
    live prefixes and finished ones alike.  It is taken from the state that predicts the next token, so it has seen all
    tokens but that one; when eos is chosen it has seen the whole output.
    """

    beam_size: int = 5
    length_alpha: float = 1.0
    n_best: int = 1
    prefix_score: PrefixScore | None = None
    prefix_weight: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.n_best <= self.beam_size:
            raise ValueError(f"n_best is {self.n_best}; a beam of {self.beam_size} holds 1 to {self.beam_size}")
        if self.length_alpha < 0:
            raise ValueError(f"length_alpha is {self.length_alpha}; it is 0 (no normalisation) or more")


def beam(
    model: TranslationModel,
    sources: Sequence[Sequence[int]],
    *,
    limits: LengthLimits,
    settings: BeamSettings | None = None,
    actor: Actor | None = None,
    batch_tokens: int = 8000,
    on_progress: Progress | None = None,
) -> list[list[Hypothesis]]:
    """Return the n best hypotheses of each source (ids that end with eos), best first, in the order of the input.

    A list is shorter than `n_best` only where the model has fewer outputs than that.
    """
    settings = settings or BeamSettings()
    lists: dict[int, list[Hypothesis]] = {}
    with evaluating(model, actor, settings.prefix_score), torch.no_grad():
        for batch in source_batches(sources, batch_tokens, device_of(model), copies=settings.beam_size):
            encoded = model.encode(batch.ids, batch.mask)
            found = search_rows(model, encoded, row_limits(batch, limits), settings, actor)
            lists.update(zip(batch.indices, found, strict=True))
            if on_progress is not None:
                on_progress(len(found))
    return [lists[index] for index in range(len(sources))]


class Rows(NamedTuple):
    """Prefixes, one a row, sorted by the sentence they belong to."""

    sentence: Tensor  # [R]
    ids: Tensor  # [R, t], bos first
    log_probabilities: Tensor  # [R, t], of each token; 0 for bos
    total: Tensor  # [R], their sum in double precision
    score: Tensor  # [R], by which prefixes are ranked
    parent: Tensor  # [R], the row of the step before that this one extends

    def select(self, rows: Tensor) -> "Rows":
        return Rows(*(tensor[rows] for tensor in self))


def search_rows(
    model: TranslationModel, encoded: Encoded, limits: Tensor, settings: BeamSettings, actor: Actor | None = None
) -> list[list[Hypothesis]]:
    """Search for every sentence of `encoded` under its limit [B]; return the n-best lists."""
    device, sentences = limits.device, len(limits)
    results = [NBest(settings.n_best) for _ in range(sentences)]
    places = torch.full((sentences,), settings.beam_size, device=device)  # [B], those not taken by finished ones
    live = Rows(
        sentence=torch.arange(sentences, device=device),
        ids=torch.full((sentences, 1), BOS, device=device),
        log_probabilities=torch.zeros(sentences, 1, device=device),
        total=torch.zeros(sentences, dtype=torch.float64, device=device),
        score=torch.zeros(sentences, dtype=torch.float64, device=device),
        parent=torch.arange(sentences, device=device),
    )
    state, row_encoded = encoded.first_state, encoded
    for step in range(1, int(limits.max()) + 1):
        output = model.step(live.ids[:, -1], state, row_encoded, actor)
        prefix_scores = None
        if settings.prefix_score is not None:
            lengths = torch.full_like(live.sentence, step - 1)
            prefix_scores = settings.prefix_weight * settings.prefix_score(output.state, output.context, lengths)
        extended = extend(live, output.logits, prefix_scores, places, settings)

        is_finished = extended.ids[:, -1] == EOS
        is_cut = ~is_finished & (step >= limits[extended.sentence])
        _collect(extended.select(is_finished), results, is_truncated=False)
        _collect(extended.select(is_cut), results, is_truncated=True)
        places -= torch.bincount(extended.sentence[is_finished], minlength=sentences)

        is_live = ~is_finished & ~is_cut
        if settings.prefix_score is None:  # the bound needs scores that only fall as a prefix grows
            is_live &= ~_is_settled(extended, results, limits, settings.length_alpha)
        extended = extended.select(is_live)
        if len(extended.sentence) == 0:
            break
        state = output.state.index_select(0, extended.parent)
        # Rows of a sentence share its encoding: gather it only when the rows' sentences have changed.
        if not torch.equal(extended.sentence, live.sentence):
            row_encoded = encoded.select(extended.sentence)
        live = extended
    return [result.best() for result in results]


def extend(live: Rows, logits: Tensor, prefix_scores: Tensor | None, places: Tensor, settings: BeamSettings) -> Rows:
    """The best one-token continuations of each sentence's live rows, as many as it has places [B] left."""
    width, sentences, rows = settings.beam_size, len(places), len(live.sentence)
    # The best W of a sentence are among the best W of each of its rows.
    top_logits, top_ids = logits.topk(min(width, logits.shape[1]), dim=1)  # [R, C]
    top_log_probabilities = top_logits - logits.logsumexp(dim=1, keepdim=True)
    totals = live.total.unsqueeze(1) + top_log_probabilities  # [R, C]
    scores = totals / live.ids.shape[1] ** settings.length_alpha  # bos stands for the token that is added
    if prefix_scores is not None:
        scores = scores + prefix_scores.unsqueeze(1)

    # Rows in a block for each sentence: [B, W, C], with -inf where a sentence has fewer than W rows.
    counts = torch.bincount(live.sentence, minlength=sentences)
    first_rows = counts.cumsum(0) - counts  # [B]
    slots = torch.arange(rows, device=logits.device) - first_rows[live.sentence]
    kept = scores.shape[1]
    block = torch.full((sentences, width, kept), -torch.inf, dtype=scores.dtype, device=logits.device)
    block[live.sentence, slots] = scores
    best, flat = block.view(sentences, width * kept).topk(min(width, width * kept), dim=1)  # [B, W]
    has_place = torch.arange(best.shape[1], device=logits.device) < places.unsqueeze(1)
    sentence, rank = (has_place & best.isfinite()).nonzero(as_tuple=True)

    chosen = flat[sentence, rank]
    parent = first_rows[sentence] + chosen // kept
    token = (parent, chosen % kept)
    return Rows(
        sentence=sentence,
        ids=torch.cat([live.ids[parent], top_ids[token].unsqueeze(1)], dim=1),
        log_probabilities=torch.cat([live.log_probabilities[parent], top_log_probabilities[token].unsqueeze(1)], dim=1),
        total=totals[token],
        score=best[sentence, rank],
        parent=parent,
    )


class NBest:
    """The best hypotheses of one sentence so far."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: list[tuple[bool, float, Hypothesis]] = []

    def add(self, score: float, hypothesis: Hypothesis) -> None:
        self._entries.append((hypothesis.is_truncated, -score, hypothesis))
        self._entries.sort(key=lambda entry: entry[:2])
        del self._entries[self._size :]

    def threshold(self) -> float:
        """The score that a further finished hypothesis has to exceed to enter the list."""
        if len(self._entries) < self._size or self._entries[-1][0]:
            return -torch.inf
        return -self._entries[-1][1]

    def best(self) -> list[Hypothesis]:
        return [hypothesis for _, _, hypothesis in self._entries]


def _collect(rows: Rows, results: list[NBest], is_truncated: bool) -> None:
    for sentence, score, ids, log_probabilities in zip(
        rows.sentence.tolist(), rows.score.tolist(), rows.ids.tolist(), rows.log_probabilities.tolist(), strict=True
    ):
        tokens = ids[1:] if is_truncated else ids[1:-1]
        results[sentence].add(score, Hypothesis(tuple(tokens), tuple(log_probabilities[1:]), is_truncated))


def _is_settled(rows: Rows, results: list[NBest], limits: Tensor, alpha: float) -> Tensor:
    """Which rows [R] can no longer enter their sentence's n-best list.

    A prefix only loses log-probability, and dividing by a longer length only helps, so the best that can become of it
    is to end at the limit at no further cost: total / limit ** alpha.
    """
    thresholds = torch.tensor([result.threshold() for result in results], dtype=torch.float64, device=limits.device)
    return rows.total / limits[rows.sentence] ** alpha <= thresholds[rows.sentence]
