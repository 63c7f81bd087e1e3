"""encoder.onnx: folded lookup, a Scan over both directions at once, refining layers, one product for keys and values.

Shapes:  B rows · S source length · N units per direction · A annotation = 2N · K key · W values · H decoder state
"""

from collections.abc import Sequence

import numpy as np
import onnx

from training.export.folding import source_embedding, source_table, value_weight
from training.export.nodes import FLOAT, INT64, GraphWriter, Quantisation
from training.export.refinement import ANNOTATION_LIMIT, add_refinement
from training.export.weights import ActorWeights, ModelWeights


def build_encoder(
    model: ModelWeights, actors: Sequence[ActorWeights], quantisation: Quantisation, pad_id: int = 0
) -> onnx.ModelProto:
    """Return the encoder of the bundle contract."""
    N, K, H, A = model.sizes.encoder, model.sizes.attention, model.sizes.decoder, model.sizes.annotation
    writer = GraphWriter("encoder", quantisation)
    source_ids = writer.input("source_ids", INT64, ["B", "S"])
    source_mask = writer.input("source_mask", FLOAT, ["B", "S"])

    # Time comes first inside the Scan; the backward direction reads the sentence from its end.
    forward_ids = writer.add("Transpose", [source_ids], "forward_ids", perm=[1, 0])  # [S, B]
    gates = _look_up(writer, model, pad_id, forward_ids, _reverse(writer, forward_ids, "backward_ids"))
    reset_update, candidate = writer.split(gates, [2 * N, N], ["gates_ru", "gates_n"], axis=3)

    column = [writer.integers(0), writer.integers(1), writer.integers(1)]
    first_mask = writer.add("Slice", [source_mask, *column], "first_mask")  # [B, 1]
    first_mask = writer.add("Unsqueeze", [first_mask, writer.integers(2)], "first_mask_column")
    zeros = writer.constant(np.zeros((1, 2, N), np.float32), "zeros")
    last, states = writer.add_many(
        "Scan",
        [writer.add("Mul", [first_mask, zeros], "zero_state"), reset_update, candidate],
        ["last_state", "states"],  # [B, 2, N], [S, B, 2, N]
        num_scan_inputs=2,
        body=_body(model, quantisation),
    )

    # The last backward state of the Scan is the annotation of the first word.
    _, backward_first = writer.split(last, [1, 1], ["forward_last", "backward_first"], axis=1)
    backward_first = writer.add("Squeeze", [backward_first, writer.integers(1)], "backward_first_row")
    projected = writer.linear(
        writer.activation(backward_first), model["initial_state.weight"], model["initial_state.bias"], "first"
    )
    writer.add("Tanh", [projected], "state")  # [B, H]

    forward, backward = writer.split(states, [1, 1], ["forward", "backward"], axis=2)
    both = writer.add("Concat", [forward, _reverse(writer, backward, "backward_aligned")], "both", axis=2)
    both = writer.add("Reshape", [both, writer.integers(0, 0, A)], "aligned")
    annotations = writer.add("Transpose", [both], "annotations", perm=[1, 0, 2])  # [B, S, A]
    limit = 1.0
    if model.sizes.refinement:
        annotations, limit = add_refinement(writer, model, annotations, source_mask), ANNOTATION_LIMIT
    mask = writer.add("Unsqueeze", [source_mask, writer.integers(2)], "mask")
    masked = writer.add("Mul", [annotations, mask], "annotations_masked")

    values = value_weight(model, actors)  # [W, A]
    weight = np.concatenate([model["attention.key.weight"], values])
    bias = np.concatenate([model["attention.key.bias"], np.zeros(len(values), np.float32)])
    keys_values = writer.linear(writer.activation(masked, limit), weight, bias, "keys_values", limit=limit)
    writer.split(keys_values, [K, len(values)], ["keys", "values"], axis=2)

    writer.output("keys", FLOAT, ["B", "S", K])
    writer.output("values", FLOAT, ["B", "S", len(values)])
    writer.output("state", FLOAT, ["B", H])
    return writer.model()


def _look_up(writer: GraphWriter, model: ModelWeights, pad_id: int, *ids: str) -> str:
    """Return the gates' input [S, B, 2, 3N] of the words that each direction reads, ids [S, B] each."""
    embedding = writer.stored(source_embedding(model, pad_id), "source_embedding")
    axis = writer.integers(2)
    found = []
    for direction, name in enumerate(("forward", "backward")):
        table = writer.folded_table(embedding, *source_table(model, direction), f"{name}_table")
        gates = writer.look_up(table, ids[direction], f"{name}_gates")  # [S, B, 3N]
        found.append(writer.add("Unsqueeze", [gates, axis], f"{name}_gates_row"))
    return writer.add("Concat", found, "gates", axis=2)


def _reverse(writer: GraphWriter, tensor: str, name: str) -> str:
    """Return the tensor with its first axis reversed."""
    smallest = int(np.iinfo(np.int64).min)
    bounds = [writer.integers(-1), writer.integers(smallest), writer.integers(0), writer.integers(-1)]
    return writer.add("Slice", [tensor, *bounds], name)


def _body(model: ModelWeights, quantisation: Quantisation) -> onnx.GraphProto:
    """Return one position:  h = n + u (h - n)  for both directions, [B, 2, N].

    Only the products are taken direction by direction: a block-diagonal weight would save nodes, but doubles the
    arithmetic and is slower.
    """
    N = model.sizes.encoder
    body = GraphWriter("position", quantisation)
    previous = body.input("previous", FLOAT, ["B", 2, N])
    reset_update_in = body.input("reset_update_in", FLOAT, ["B", 2, 2 * N])
    candidate_in = body.input("candidate_in", FLOAT, ["B", 2, N])

    halves = body.split(body.activation(previous), [1, 1], ["previous_forward", "previous_backward"], axis=1)
    recurrent = []
    for direction, half in enumerate(halves):
        # The biases of r and u are in the table; that of n is inside the reset gate's product.
        bias = model["encoder.state_bias"][direction].copy()
        bias[: 2 * N] = 0
        weight = model["encoder.state_weight"][direction]
        recurrent.append(body.linear(half, weight, bias, "recurrent", one_scale=True))
    both = body.add("Concat", recurrent, "recurrent_both", axis=1)  # [B, 2, 3N]
    reset_update_state, candidate_state = body.split(both, [2 * N, N], ["recurrent_ru", "recurrent_n"], axis=2)
    gates = body.add("Add", [reset_update_in, reset_update_state], "reset_update_sum")
    gates = body.add("Sigmoid", [gates], "reset_update")
    reset, update = body.split(gates, [N, N], ["reset", "update"], axis=2)
    gated = body.add("Mul", [reset, candidate_state], "candidate_gated")
    candidate = body.add("Tanh", [body.add("Add", [candidate_in, gated], "candidate_sum")], "candidate")
    difference = body.add("Sub", [previous, candidate], "difference")
    following = body.add("Add", [candidate, body.add("Mul", [update, difference], "kept")], "next")
    body.output(following, FLOAT, ["B", 2, N])
    body.output(body.add("Identity", [following], "annotation"), FLOAT, ["B", 2, N])
    return body.graph()
