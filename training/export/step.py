"""step.onnx: one decoder step for any set of rows: attention, actors, GRU, readout, output layer.

Shapes:  B rows · S source length · K key · W = 3H + R + U values · H state · R readout · U actors' units · V words

    α = softmax(energy · tanh(W_q z + key))       v = Σ_s α_s value_s + table[y]          v = (x_r x_u | x_n | o | a)
    z~ = z + A2 (gain · tanh(A1 z + a))           r, u = σ(U_ru z~ + x_ru)   n = tanh(x_n + r (U_n z~ + b_n))
    z' = n + u (z~ - n)                           log p = log softmax(W_o tanh(R_z z' + o) + b_o)
"""

from collections.abc import Sequence

import numpy as np
import onnx

from training.export.folding import word_table
from training.export.nodes import FLOAT, INT64, GraphWriter, Quantisation
from training.export.quantise import GAIN_RANGE
from training.export.weights import ActorWeights, ModelWeights


def build_step(
    model: ModelWeights, actors: Sequence[ActorWeights], quantisation: Quantisation, state_range: float = 1.0
) -> onnx.ModelProto:
    """Return the decoder step of the bundle contract; without actors it has neither their nodes nor their input.

    `state_range` is the largest |z| that int8 products tell apart (see `training.export.quantise`).
    """
    sizes = model.sizes
    H, K, R = sizes.decoder, sizes.attention, sizes.readout
    U = sum(actor.units for actor in actors)
    W = 3 * H + R + U
    writer = GraphWriter("step", quantisation)
    previous_ids = writer.input("previous_ids", INT64, ["B"])
    state = writer.input("state", FLOAT, ["B", H])
    keys = writer.input("keys", FLOAT, ["B", "S", K])
    values = writer.input("values", FLOAT, ["B", "S", W])
    source_bias = writer.input("source_bias", FLOAT, ["B", "S"])
    gain = writer.input("actor_gain", FLOAT, ["B", U]) if actors else None

    weight, bias = word_table(model, actors)
    embedding = writer.stored(model["target_embedding.weight"], "target_embedding")
    table = writer.folded_table(embedding, weight, bias, "target_table")
    word = writer.look_up(table, previous_ids, "word")  # [B, W]
    query, actor_state = _look(writer, model, actors, state, state_range)
    attended = _attend(writer, model, query, keys, values, source_bias)  # [B, W]
    inputs = writer.add("Add", [attended, word], "inputs")
    parts = {"reset_update_in": 2 * H, "candidate_in": H, "readout_in": R} | ({"actor_in": U} if actors else {})
    reset_update_in, candidate_in, readout_in, *actor_in = writer.split(inputs, [*parts.values()], [*parts], axis=1)
    nudged = state
    if actor_state is not None and gain is not None:
        nudged = _nudge(writer, actors, state, writer.add("Add", [actor_state, actor_in[0]], "actor_sum"), gain)
    next_state = _advance(writer, model, nudged, reset_update_in, candidate_in, state_range)
    activation = writer.activation(next_state, state_range)
    readout = writer.linear_plus(
        activation, model["readout.state.weight"], readout_in, "readout_sum", limit=state_range
    )
    readout = writer.activation(writer.add("Tanh", [readout], "readout"))
    logits = writer.linear(readout, model["output.weight"], model["output.bias"], "logits", one_scale=True)
    log_probabilities = writer.add("LogSoftmax", [logits], "log_probabilities", axis=1)

    writer.output(log_probabilities, FLOAT, ["B", sizes.target_vocabulary])
    writer.output(next_state, FLOAT, ["B", H])
    return writer.model()


def _look(
    writer: GraphWriter, model: ModelWeights, actors: Sequence[ActorWeights], state: str, state_range: float
) -> tuple[str, str | None]:
    """Return the attention's query [B, K] and the actors' first layer on the state [B, U]: one product for both."""
    H, K = model.sizes.decoder, model.sizes.attention
    weight = np.concatenate([model["attention.query.weight"], *(actor.hidden[:, :H] for actor in actors)])
    product = writer.linear(writer.activation(state, state_range), weight, None, "look", limit=state_range)
    if not actors:
        return product, None
    query, actor_state = writer.split(product, [K, len(weight) - K], ["query", "actor_state"], axis=1)
    return query, actor_state


def _attend(writer: GraphWriter, model: ModelWeights, query: str, keys: str, values: str, source_bias: str) -> str:
    """Return the attended values [B, W] of queries [B, K] made of the un-nudged states."""
    query = writer.add("Unsqueeze", [query, writer.integers(1)], "query_row")  # [B, 1, K]
    similarity = writer.add("Tanh", [writer.add("Add", [keys, query], "similarity_sum")], "similarity")
    # Not a MatMul: a product with one column runs at a fraction of the speed, and this is the same in any batch.
    weighted = writer.add("Mul", [similarity, writer.constant(model["attention.energy"], "energy")], "energy_terms")
    energies = writer.add("ReduceSum", [weighted, writer.integers(2)], "energies", keepdims=0)  # [B, S]
    energies = writer.add("Add", [energies, source_bias], "energies_biased")
    alignment = writer.add("Softmax", [energies], "alignment", axis=1)  # [B, S]
    alignment = writer.add("Unsqueeze", [alignment, writer.integers(1)], "alignment_row")  # [B, 1, S]
    attended = writer.add("MatMul", [alignment, values], "attended_row")  # [B, 1, W]
    return writer.add("Squeeze", [attended, writer.integers(1)], "attended")


def _nudge(writer: GraphWriter, actors: Sequence[ActorWeights], state: str, actor_sum: str, gain: str) -> str:
    """Return z~ = z + a.  The gain multiplies hidden units, so that a row of zeros adds exactly nothing."""
    weight = np.concatenate([actor.output for actor in actors], axis=1)  # [H, U]
    hidden = writer.add("Tanh", [actor_sum], "actor_hidden")
    weighted = writer.activation(writer.add("Mul", [hidden, gain], "actor_weighted"), GAIN_RANGE)
    return writer.linear_plus(weighted, weight, state, "nudged", limit=GAIN_RANGE)


def _advance(
    writer: GraphWriter, model: ModelWeights, nudged: str, reset_update_in: str, candidate_in: str, state_range: float
) -> str:
    """Return the GRU's next state [B, H], an output of the graph."""
    H = model.sizes.decoder
    weight = model["decoder.state.weight"]
    activation = writer.activation(nudged, state_range)
    gates = writer.linear_plus(activation, weight[: 2 * H], reset_update_in, "reset_update_sum", limit=state_range)
    gates = writer.add("Sigmoid", [gates], "reset_update")
    reset, update = writer.split(gates, [H, H], ["reset", "update"], axis=1)
    bias = model["decoder.state_bias"][2 * H :]
    recurrent = writer.linear(activation, weight[2 * H :], bias, "candidate_state", limit=state_range)
    gated = writer.add("Mul", [reset, recurrent], "candidate_gated")
    candidate = writer.add("Tanh", [writer.add("Add", [candidate_in, gated], "candidate_sum")], "candidate")
    difference = writer.add("Sub", [nudged, candidate], "difference")
    kept = writer.add("Mul", [update, difference], "kept")
    return writer.add("Add", [candidate, kept], "next_state")
