"""step.onnx: one decoder step for any set of rows: attention, actors, GRU, readout, output layer.

Shapes:  B rows · S source length · K key · H state · R readout · V words · Ub, Ua units of the actors that act before
         and after the recurrence, U = Ub + Ua · W = 3H + R + U values

    α = softmax(energy · tanh(W_q z + key))       v = Σ_s α_s value_s + table[y]      v = (x_r x_u b | x_n | o | a)
    z~ = z + A2 (gain · tanh(A1 z + a))           r, u, h = σ(U_ru z~ + x_ru | B1 z + b)
    n = tanh(x_n + r (U_n z~ + b_n))              z' = n + u (z~ - n) + B2 (gain · h)
    log p = log softmax(W_o tanh(R_z z' + o) + b_o)

Actors A act before the recurrence, as in the paper; actors B after it, where their hidden units are a few more gates,
so that two small nodes are all that they add.
"""

from collections.abc import Sequence

import numpy as np
import onnx

from training.export.folding import after, before, word_table
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
    earlier, later = before(actors), after(actors)
    U = sum(actor.units for actor in actors)
    W = 3 * H + R + U
    writer = GraphWriter("step", quantisation)
    previous_ids = writer.input("previous_ids", INT64, ["B"])
    state = writer.input("state", FLOAT, ["B", H])
    keys = writer.input("keys", FLOAT, ["B", "S", K])
    values = writer.input("values", FLOAT, ["B", "S", W])
    source_bias = writer.input("source_bias", FLOAT, ["B", "S"])
    gain = writer.input("actor_gain", FLOAT, ["B", U]) if actors else ""

    weight, bias = word_table(model, actors)
    embedding = writer.stored(model["target_embedding.weight"], "target_embedding")
    table = writer.folded_table(embedding, weight, bias, "target_table")
    word = writer.look_up(table, previous_ids, "word")  # [B, W]
    query, actor_state = _look(writer, model, earlier, state, state_range)
    attended = _attend(writer, model, query, keys, values, source_bias)  # [B, W]
    inputs = writer.add("Add", [attended, word], "inputs")
    parts = {"reset_update_in": 2 * H + _units(later), "candidate_in": H, "readout_in": R}
    parts |= {"actor_in": _units(earlier)} if earlier else {}
    gates_in, candidate_in, readout_in, *actor_in = writer.split(inputs, [*parts.values()], [*parts], axis=1)
    gain_before, gain_after = _share_gain(writer, gain, actors)
    nudged = state
    if actor_state is not None:
        nudged = _nudge(writer, earlier, state, writer.add("Add", [actor_state, actor_in[0]], "actor_sum"), gain_before)
    next_state = _advance(writer, model, later, nudged, gates_in, candidate_in, gain_after, state_range)
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


def _units(actors: Sequence[ActorWeights]) -> int:
    return sum(len(actor.bias) for actor in actors)


def _share_gain(writer: GraphWriter, gain: str, actors: Sequence[ActorWeights]) -> tuple[str, str]:
    """Return the gains [B, Ub] and [B, Ua] of the actors that act before and after the recurrence."""
    if len({actor.acts_after for actor in actors}) < 2:
        return gain, gain
    parts = writer.split(gain, [actor.units for actor in actors], [f"gain_{actor.name}" for actor in actors], axis=1)
    shares = []
    for acts_after in (False, True):
        own = [part for part, actor in zip(parts, actors, strict=True) if actor.acts_after == acts_after]
        shares.append(writer.add("Concat", own, f"gain_{'after' if acts_after else 'before'}", axis=1))
    return shares[0], shares[1]


def _look(
    writer: GraphWriter, model: ModelWeights, actors: Sequence[ActorWeights], state: str, state_range: float
) -> tuple[str, str | None]:
    """Return the attention's query [B, K] and the actors' first layer on the state [B, Ub]: one product for both."""
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
    writer: GraphWriter,
    model: ModelWeights,
    actors: Sequence[ActorWeights],
    nudged: str,
    gates_in: str,
    candidate_in: str,
    gain: str,
    state_range: float,
) -> str:
    """Return the GRU's next state [B, H], an output of the graph, with the actions of `actors`, which act after it."""
    H = model.sizes.decoder
    weight = model["decoder.state.weight"]
    activation = writer.activation(nudged, state_range)
    # Where an actor has acted before, those that act after it see what it has made of the state.
    gates_weight = np.concatenate([weight[: 2 * H], *(actor.hidden[:, :H] for actor in actors)])
    gates = writer.linear_plus(activation, gates_weight, gates_in, "reset_update_sum", limit=state_range)
    gates = writer.add("Sigmoid", [gates], "reset_update")
    sizes = [H, H] + ([_units(actors)] if actors else [])
    reset, update, *hidden = writer.split(gates, sizes, ["reset", "update", "actor_gates"][: len(sizes)], axis=1)
    bias = model["decoder.state_bias"][2 * H :]
    recurrent = writer.linear(activation, weight[2 * H :], bias, "candidate_state", limit=state_range)
    gated = writer.add("Mul", [reset, recurrent], "candidate_gated")
    candidate = writer.add("Tanh", [writer.add("Add", [candidate_in, gated], "candidate_sum")], "candidate")
    difference = writer.add("Sub", [nudged, candidate], "difference")
    kept = writer.add("Mul", [update, difference], "kept")
    if actors:
        weighted = writer.add("Mul", [hidden[0], gain], "actor_gates_weighted")
        output = np.concatenate([actor.output for actor in actors], axis=1)  # [H, Ua]
        kept = writer.add("Gemm", [weighted, writer.constant(output.T, "actor_output"), kept], "kept_nudged")
    return writer.add("Add", [candidate, kept], "next_state")
