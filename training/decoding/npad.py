"""NPAD: noisy parallel approximate decoding (Cho 2016), the unlearnt ancestor of trainable greedy decoding.

M greedy decoders run in parallel.  The first is noise-free; the others add noise  ε_t ~ N(0, (σ0 / t)²)  to the state
that the GRU receives.  The answer is the output that is most probable under the frozen, noise-free model, so it is
never less probable than greedy's.

Shapes:  B sentences · M samples of each · R rows still being decoded · H decoder state
"""

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor

from training.decoding.batches import Progress, device_of, evaluating, source_batches
from training.decoding.greedy import decode_rows, row_limits
from training.decoding.hypothesis import Hypothesis, LengthLimits
from training.decoding.scoring import score_under_model
from training.nmt.model import TranslationModel


def npad(
    model: TranslationModel,
    sources: Sequence[Sequence[int]],
    *,
    limits: LengthLimits,
    samples: int = 10,
    sigma: float = 0.3,
    seed: int = 0,
    batch_tokens: int = 8000,
    on_progress: Progress | None = None,
) -> list[Hypothesis]:
    """Return the most probable of `samples` outputs of each source (ids that end with eos), in the order of the input.

    The log-probabilities of a hypothesis are those of the frozen model.  The noise of a sentence depends on the seed
    and the sentence alone, not on its place or its batch.
    """
    if samples < 1:
        raise ValueError(f"samples is {samples}; NPAD needs at least 1, the noise-free one")
    best: dict[int, Hypothesis] = {}
    with evaluating(model), torch.no_grad():
        for batch in source_batches(sources, batch_tokens, device_of(model), copies=samples):
            sentences = [sources[index] for index in batch.indices]
            rows = torch.arange(len(sentences), device=batch.ids.device).repeat_interleave(samples)
            noise = SentenceNoise(sentences, samples, sigma, model.sizes.decoder, seed)
            encoded = model.encode(batch.ids, batch.mask).select(rows)
            outputs = decode_rows(model, encoded, row_limits(batch, limits)[rows], noise=noise)
            chosen = choose_most_probable(model, sentences, outputs, samples)
            best.update(zip(batch.indices, chosen, strict=True))
            if on_progress is not None:
                on_progress(len(chosen))
    return [best[index] for index in range(len(sources))]


class SentenceNoise:
    """Noise for B sentences of M samples each, rows ordered by sentence; the first sample of each gets none."""

    def __init__(
        self, sentences: Sequence[Sequence[int]], samples: int, sigma: float, state_size: int, seed: int
    ) -> None:
        self._generators = [torch.Generator().manual_seed(sentence_seed(sentence, seed)) for sentence in sentences]
        self._samples, self._sigma, self._state_size = samples, sigma, state_size

    def __call__(self, step: int, rows: Tensor) -> Tensor:
        """Return ε_t [R, H] of the given rows [R].

        Every sample of a sentence draws, finished or not, so that a row's noise does not depend on the others.
        """
        sentences = (rows // self._samples).tolist()
        slots = {sentence: slot for slot, sentence in enumerate(dict.fromkeys(sentences))}
        drawn = torch.zeros(len(slots), self._samples, self._state_size)
        for sentence, slot in slots.items():
            drawn[slot, 1:].normal_(0.0, self._sigma / step, generator=self._generators[sentence])
        positions = torch.tensor([slots[sentence] for sentence in sentences])
        return drawn[positions, rows.cpu() % self._samples].to(rows.device)


def sentence_seed(sentence: Sequence[int], seed: int) -> int:
    """A seed made of the sentence's ids, the same on every machine."""
    text = " ".join(str(int(token)) for token in (seed, *sentence))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "big")


def choose_most_probable(
    model: TranslationModel, sentences: Sequence[Sequence[int]], outputs: Sequence[Hypothesis], samples: int
) -> list[Hypothesis]:
    """Of each sentence's `samples` outputs, the most probable under the frozen model; finished ones before cut ones."""
    candidates = [
        (sentence, output.ids, output.is_truncated)
        for sentence in range(len(sentences))
        for output in outputs[sentence * samples : (sentence + 1) * samples]
    ]
    distinct = list(dict.fromkeys(candidates))
    scores = score_under_model(
        model,
        [sentences[sentence] for sentence, _, _ in distinct],
        [ids for _, ids, _ in distinct],
        truncated=[is_truncated for _, _, is_truncated in distinct],
    )
    best: dict[int, Hypothesis] = {}
    for (sentence, ids, is_truncated), token_scores in zip(distinct, scores, strict=True):
        hypothesis = Hypothesis(ids, token_scores, is_truncated)
        if sentence not in best or _preference(hypothesis) > _preference(best[sentence]):
            best[sentence] = hypothesis
    return [best[sentence] for sentence in range(len(sentences))]


def _preference(hypothesis: Hypothesis) -> tuple[bool, float]:
    return (not hypothesis.is_truncated, hypothesis.log_probability)
