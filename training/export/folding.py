"""Folding: what is linear is multiplied out once, so that the decoder's step has less to do.

The context vector c is used linearly everywhere (GRU input, readout, the actors' first layer), so those products are
taken once per source position, in the encoder, and the step attends over the products: the *values* of the contract.
The previous word is used linearly everywhere too, so its products are a table with a row for each word.

Columns of values and of the target table, in this order:

    r 0:H · u H:2H · actors that act after the recurrence, as gates · n H · readout R · actors that act before it
"""

from collections.abc import Sequence

import numpy as np

from training.export.weights import ALWAYS_ON, ActorWeights, Array, ModelWeights, Sizes

PAD_GATE = ALWAYS_ON
"""Pre-activation that closes a GRU: its update gate becomes exactly 1, so a padding position copies the state."""


def before(actors: Sequence[ActorWeights]) -> list[ActorWeights]:
    """Return the actors that act on what the recurrence receives."""
    return [actor for actor in actors if not actor.acts_after]


def after(actors: Sequence[ActorWeights]) -> list[ActorWeights]:
    """Return the actors that act on what the recurrence returns, as gates."""
    return [actor.as_gates() for actor in actors if actor.acts_after]


def value_weight(model: ModelWeights, actors: Sequence[ActorWeights]) -> Array:
    """Return the weight [W, A] from an annotation to its folded value."""
    H, A = model.sizes.decoder, model.sizes.annotation
    gates = model["decoder.context.weight"]
    return np.concatenate(
        [
            gates[: 2 * H],
            *(actor.hidden[:, H : H + A] for actor in after(actors)),
            gates[2 * H :],
            model["readout.context.weight"],
            *(actor.hidden[:, H : H + A] for actor in before(actors)),
        ]
    )


def word_table(model: ModelWeights, actors: Sequence[ActorWeights]) -> tuple[Array, Array]:
    """Return the weight [W, E] and the bias [W] from a target embedding to the previous word's row of the table.

    Every bias of the step that can move here does; only the candidate gate's state bias cannot, since it is
    multiplied by the reset gate.
    """
    H = model.sizes.decoder
    gates, input_bias, state_bias = (model[f"decoder.{name}"] for name in ("word.weight", "input_bias", "state_bias"))
    parts = [
        (gates[: 2 * H], input_bias[: 2 * H] + state_bias[: 2 * H]),
        *(_word_part(actor, model.sizes) for actor in after(actors)),
        (gates[2 * H :], input_bias[2 * H :]),
        (model["readout.word.weight"], model["readout.bias"]),
        *(_word_part(actor, model.sizes) for actor in before(actors)),
    ]
    weights, biases = zip(*parts, strict=True)
    return np.concatenate(weights), np.concatenate(biases)


def _word_part(actor: ActorWeights, sizes: Sizes) -> tuple[Array, Array]:
    """Return the weight [U, E] on the previous word, zeros for an actor that does not see it, and the bias [U]."""
    seen = actor.hidden[:, sizes.decoder + sizes.annotation :]
    sees_word = actor.sees_previous_word(sizes)
    return seen if sees_word else np.zeros((len(actor.bias), sizes.embedding), np.float32), actor.bias


def source_embedding(model: ModelWeights, pad_id: int) -> Array:
    """Return the source embedding with a column more [Vs, E + 1], which is 1 for the padding word and 0 for the rest.

    The column leads to the update gate: a padded position leaves the state as it was, so the backward direction
    reaches the last real word with a state of exactly 0, and the recurrence needs no mask.
    """
    embedding = model["source_embedding.weight"].copy()
    embedding[pad_id] = 0
    is_pad = np.zeros((len(embedding), 1), np.float32)
    is_pad[pad_id] = 1
    return np.concatenate([embedding, is_pad], axis=1)


def source_table(model: ModelWeights, direction: int) -> tuple[Array, Array]:
    """Return the weight [3N, E + 1] and the bias [3N] from `source_embedding` to one direction's gates."""
    N = model.sizes.encoder
    closing = np.zeros((3 * N, 1), np.float32)
    closing[N : 2 * N] = PAD_GATE
    state_bias = model["encoder.state_bias"][direction].copy()
    state_bias[2 * N :] = 0
    weight = np.concatenate([model["encoder.input_weight"][direction], closing], axis=1)
    return weight, model["encoder.input_bias"][direction] + state_bias
