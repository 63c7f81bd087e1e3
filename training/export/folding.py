"""Folding: what is linear is multiplied out once, so that the decoder's step has less to do.

The context vector c is used linearly everywhere (GRU input, readout, the actors' first layer), so those products are
taken once per source position, in the encoder, and the step attends over the products: the *values* of the contract.
The previous word is used linearly everywhere too, so its products are a table with a row for each word.

Columns of values and of the target table, in this order:   r 0:H · u H:2H · n 2H:3H · readout R · actors U
"""

from collections.abc import Sequence

import numpy as np

from training.export.weights import ActorWeights, Array, ModelWeights

PAD_GATE = 1e4
"""Pre-activation that closes a GRU: its update gate becomes exactly 1, so a padding position copies the state."""


def value_weight(model: ModelWeights, actors: Sequence[ActorWeights]) -> Array:
    """Return the weight [W, A] from an annotation to its folded value."""
    H, A = model.sizes.decoder, model.sizes.annotation
    parts = [model["decoder.context.weight"], model["readout.context.weight"]]
    return np.concatenate(parts + [actor.hidden[:, H : H + A] for actor in actors])


def word_table(model: ModelWeights, actors: Sequence[ActorWeights]) -> tuple[Array, Array]:
    """Return the weight [W, E] and the bias [W] from a target embedding to the previous word's row of the table.

    Every bias of the step that can move here does; only the candidate gate's state bias cannot, since it is
    multiplied by the reset gate.
    """
    H, A, E = model.sizes.decoder, model.sizes.annotation, model.sizes.embedding
    state_bias = model["decoder.state_bias"].copy()
    state_bias[2 * H :] = 0
    weights = [model["decoder.word.weight"], model["readout.word.weight"]]
    biases = [model["decoder.input_bias"] + state_bias, model["readout.bias"]]
    for actor in actors:
        sees_word = actor.sees_previous_word(model.sizes)
        weights.append(actor.hidden[:, H + A :] if sees_word else np.zeros((actor.units, E), np.float32))
        biases.append(actor.bias)
    return np.concatenate(weights), np.concatenate(biases)


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
