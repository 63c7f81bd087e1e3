"""The probability of given outputs under the frozen model, whoever produced them.

Shapes:  B batch · S source length · T output length · R readout · V vocabulary · N real positions of a batch
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from training.corpus.cache import BOS, EOS, PAD
from training.decoding.batches import Progress, device_of, evaluating, even, pad_batch
from training.nmt.model import TranslationModel

# Logits are computed for this many positions at a time: 512 x 30,000 floats are 60 MB.
POSITIONS_AT_ONCE = 512


def score_under_model(
    model: TranslationModel,
    sources: Sequence[Sequence[int]],
    outputs: Sequence[Sequence[int]],
    *,
    truncated: Sequence[bool] | None = None,
    batch_tokens: int = 4000,
    on_progress: Progress | None = None,
) -> list[tuple[float, ...]]:
    """Return log p(y_t | y_<t, x) of each token of each output, eos included, in the order of the input.

    `sources` end with eos and `outputs` do not.  An output that is `truncated` never said eos, so none is scored.
    """
    if truncated is None:
        truncated = [False] * len(outputs)
    if not len(sources) == len(outputs) == len(truncated):
        raise ValueError(
            f"{len(sources)} sources, {len(outputs)} outputs, {len(truncated)} flags: give one of each per sentence"
        )
    targets = [list(output) if is_cut else [*output, EOS] for output, is_cut in zip(outputs, truncated, strict=True)]
    scores: dict[int, tuple[float, ...]] = {}
    with evaluating(model), torch.no_grad():
        for indices in _batches_of_pairs(sources, targets, batch_tokens):
            scores.update(zip(indices, _score_batch(model, sources, targets, indices), strict=True))
            if on_progress is not None:
                on_progress(len(indices))
    return [scores[index] for index in range(len(sources))]


def _batches_of_pairs(
    sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], batch_tokens: int
) -> list[list[int]]:
    """Cut the pairs, sorted by length, so that neither side of a batch exceeds `batch_tokens`, padding included."""
    order = sorted(range(len(sources)), key=lambda index: (-len(targets[index]), -len(sources[index])))
    batches: list[list[int]] = []
    width = 0
    for index in order:
        width = max(width, even(len(sources[index])), len(targets[index]))
        if not batches or width * (len(batches[-1]) + 1) > batch_tokens:
            batches.append([])
            width = max(even(len(sources[index])), len(targets[index]))
        batches[-1].append(index)
    return batches


def _score_batch(
    model: TranslationModel, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], indices: list[int]
) -> list[tuple[float, ...]]:
    device = device_of(model)
    # Many outputs may be of one source, and encoding it costs as much as scoring one of them.
    places: dict[tuple[int, ...], int] = {}
    rows = [places.setdefault(tuple(sources[index]), len(places)) for index in indices]
    batch = pad_batch([*places], range(len(places)), max(even(len(source)) for source in places), device)
    encoded = model.encode(batch.ids, batch.mask).select(torch.tensor(rows, device=device))
    inputs, expected, mask = shifted_targets([targets[index] for index in indices], device)
    readouts = model.force(encoded, inputs)  # [B, T, R]
    flat = token_log_probabilities(model, readouts[mask], expected[mask])
    return [tuple(row.tolist()) for row in torch.split(flat, mask.sum(dim=1).tolist())]


def shifted_targets(targets: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Decoder inputs [B, T] (bos first), what each should predict [B, T], and where that is real [B, T] (bool)."""
    width = max(1, *(len(target) for target in targets))
    expected = torch.full((len(targets), width), PAD, dtype=torch.int64)
    for row, target in enumerate(targets):
        expected[row, : len(target)] = torch.as_tensor(target, dtype=torch.int64)
    inputs = torch.cat([torch.full((len(targets), 1), BOS), expected[:, :-1]], dim=1)
    mask = torch.arange(width) < torch.tensor([len(target) for target in targets]).unsqueeze(1)
    return inputs.to(device), expected.to(device), mask.to(device)


def token_log_probabilities(model: TranslationModel, readouts: Tensor, tokens: Tensor) -> Tensor:
    """log p [N] of tokens [N] read from readouts [N, R], without ever holding all the logits [N, V]."""
    parts = []
    for readout, token in zip(
        torch.split(readouts, POSITIONS_AT_ONCE), torch.split(tokens, POSITIONS_AT_ONCE), strict=True
    ):
        logits = F.linear(readout, model.output_weight(), model.output.bias)
        parts.append(logits.gather(1, token.unsqueeze(1)).squeeze(1) - logits.logsumexp(dim=1))
    return torch.cat(parts)
