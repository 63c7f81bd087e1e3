"""How much does the actor change each step's distribution?  The influence of the paper's section 5.2.

    influence_t = KL( p(y_t | z_{t-1}, y_{t-1}) without the actor ‖ the same with it )

Both distributions start from the same previous state and word, those of the nudged decoding, so it measures the single
step and not where earlier actions have led.

Shapes:  B batch · T steps · V vocabulary
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from training.corpus.cache import EOS
from training.decoding.batches import Progress, device_of, evaluating, source_batches
from training.decoding.hypothesis import Hypothesis
from training.decoding.scoring import shifted_targets
from training.nmt.model import TranslationModel, acts_after, move
from training.policy.actor import PlainActor, model_for

# Above this, a word is marked in the examples, as in the paper's figure.
NOTABLE = 0.001


@dataclass(frozen=True)
class Influence:
    """The influence on each token of one output, in nats; the last is that on its eos, if it has one."""

    tokens: tuple[float, ...]

    @property
    def mean(self) -> float:
        return sum(self.tokens) / max(1, len(self.tokens))


def influence(
    model: TranslationModel,
    actor: PlainActor,
    sources: Sequence[Sequence[int]],
    outputs: Sequence[Hypothesis],
    *,
    batch_tokens: int = 4000,
    on_progress: Progress | None = None,
) -> list[Influence]:
    """The actor's influence on every token of the outputs that greedy decoding with it gave for `sources`."""
    found: dict[int, Influence] = {}
    acted_on = model_for(model, actor)
    with evaluating(model, actor), torch.no_grad():
        for batch in source_batches(sources, batch_tokens, device_of(model)):
            encoded = acted_on.encode(batch.ids, batch.mask)
            chosen = [outputs[index] for index in batch.indices]
            targets = [[*one.ids] if one.is_truncated else [*one.ids, EOS] for one in chosen]
            inputs, _, mask = shifted_targets(targets, device_of(model))
            state, steps = encoded.first_state, []
            for previous in inputs.unbind(1):
                context, _ = acted_on.attend(state, encoded)
                action = actor(state, context, acted_on.target_embedding(previous))
                without = acted_on.advance(state, previous, context)
                state = move(acted_on, state, previous, context, action, acts_after(actor))
                steps.append(
                    divergence(acted_on.read(without, previous, context), acted_on.read(state, previous, context))
                )
            rows = torch.stack(steps, dim=1)  # [B, T]
            for index, row, real in zip(batch.indices, rows, mask, strict=True):
                found[index] = Influence(tuple(row[real].tolist()))
            if on_progress is not None:
                on_progress(len(batch.indices))
    return [found[index] for index in range(len(sources))]


def divergence(logits: Tensor, other_logits: Tensor) -> Tensor:
    """KL(p ‖ q) [B] in nats of the distributions behind two sets of logits [B, V]."""
    log_p, log_q = logits.log_softmax(dim=1), other_logits.log_softmax(dim=1)
    return (log_p.exp() * (log_p - log_q)).sum(dim=1).clamp(min=0)
