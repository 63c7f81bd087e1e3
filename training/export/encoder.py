"""encoder.onnx: folded lookup, a Scan over both directions at once, one product for keys and all folded values.

Shapes:  B rows · S source length · N units per direction · A annotation = 2N · K key · W values · H decoder state
"""

from collections.abc import Sequence

import numpy as np
import onnx

from training.export.folding import source_embedding, source_table, value_weight
from training.export.nodes import FLOAT, INT64, GraphWriter, Quantisation
from training.export.weights import ActorWeights, Array, ModelWeights


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
    backward_ids = _reverse(writer, forward_ids, "backward_ids")
    gates = [
        writer.add("Gather", [table, ids], name)  # [S, B, 3, N]
        for table, ids, name in zip(
            _tables(writer, model, pad_id),
            (forward_ids, backward_ids),
            ("forward_gates", "backward_gates"),
            strict=True,
        )
    ]
    both = writer.add("Concat", gates, "gates", axis=3)  # [S, B, 3, 2N]
    flat = writer.add("Reshape", [both, writer.integers(0, 0, 6 * N)], "gates_flat")
    reset_update, candidate = writer.split(flat, [4 * N, 2 * N], ["gates_ru", "gates_n"], axis=2)

    first_column = writer.add(
        "Slice", [source_mask, writer.integers(0), writer.integers(1), writer.integers(1)], "mask_0"
    )
    zeros = writer.add("Mul", [first_column, writer.constant(np.zeros((1, A), np.float32), "zeros")], "zero_state")
    last, states = writer.add_many(
        "Scan",
        [zeros, reset_update, candidate],
        ["last_state", "states"],
        num_scan_inputs=2,
        body=_body(model, quantisation),
    )

    # The last backward state of the Scan is the annotation of the first word.
    _, backward_first = writer.split(last, [N, N], ["forward_last", "backward_first"], axis=1)
    projected = writer.linear(backward_first, model["initial_state.weight"], model["initial_state.bias"], "first")
    writer.add("Tanh", [projected], "state")  # [B, H]

    forward, backward = writer.split(states, [N, N], ["forward", "backward"], axis=2)
    aligned = writer.add("Concat", [forward, _reverse(writer, backward, "backward_aligned")], "aligned", axis=2)
    annotations = writer.add("Transpose", [aligned], "annotations", perm=[1, 0, 2])  # [B, S, A]
    mask = writer.add("Unsqueeze", [source_mask, writer.integers(2)], "mask")
    masked = writer.add("Mul", [annotations, mask], "annotations_masked")

    values = value_weight(model, actors)  # [W, A]
    weight = np.concatenate([model["attention.key.weight"], values])
    bias = np.concatenate([model["attention.key.bias"], np.zeros(len(values), np.float32)])
    keys_values = writer.linear(masked, weight, bias, "keys_values")
    writer.split(keys_values, [K, len(values)], ["keys", "values"], axis=2)

    writer.output("keys", FLOAT, ["B", "S", K])
    writer.output("values", FLOAT, ["B", "S", len(values)])
    writer.output("state", FLOAT, ["B", H])
    return writer.model()


def _tables(writer: GraphWriter, model: ModelWeights, pad_id: int) -> list[str]:
    """Return the folded table [Vs, 3, N] of each direction."""
    embedding = writer.stored(source_embedding(model, pad_id), "source_embedding")
    shape = writer.integers(0, 3, model.sizes.encoder)
    tables = []
    for direction, name in enumerate(("forward_table", "backward_table")):
        table = writer.folded_table(embedding, *source_table(model, direction), name)
        tables.append(writer.add("Reshape", [table, shape], f"{name}_gates"))
    return tables


def _reverse(writer: GraphWriter, tensor: str, name: str) -> str:
    """Return the tensor with its first axis reversed."""
    smallest = int(np.iinfo(np.int64).min)
    bounds = [writer.integers(-1), writer.integers(smallest), writer.integers(0), writer.integers(-1)]
    return writer.add("Slice", [tensor, *bounds], name)


def _body(model: ModelWeights, quantisation: Quantisation) -> onnx.GraphProto:
    """Return one position of both directions: h = (1 - u) n + u h, on states laid out as [forward | backward]."""
    N = model.sizes.encoder
    weight = _block_diagonal(model["encoder.state_weight"])  # [6N, 2N]
    candidate_bias = model["encoder.state_bias"][:, 2 * N :].reshape(2 * N)

    body = GraphWriter("position", quantisation)
    previous = body.input("previous", FLOAT, ["B", 2 * N])
    reset_update_in = body.input("reset_update_in", FLOAT, ["B", 4 * N])
    candidate_in = body.input("candidate_in", FLOAT, ["B", 2 * N])
    gates = body.add(
        "Sigmoid", [body.linear_plus(previous, weight[: 4 * N], reset_update_in, "reset_update_sum")], "reset_update"
    )
    reset, update = body.split(gates, [2 * N, 2 * N], ["reset", "update"], axis=1)
    recurrent = body.linear(previous, weight[4 * N :], candidate_bias, "candidate_state")
    gated = body.add("Mul", [reset, recurrent], "candidate_gated")
    candidate = body.add("Tanh", [body.add("Add", [candidate_in, gated], "candidate_sum")], "candidate")
    difference = body.add("Sub", [previous, candidate], "difference")
    kept = body.add("Mul", [update, difference], "kept")
    body.add("Add", [candidate, kept], "next")
    body.add("Identity", ["next"], "annotation")
    body.output("next", FLOAT, ["B", 2 * N])
    body.output("annotation", FLOAT, ["B", 2 * N])
    return body.graph()


def _block_diagonal(weight: Array) -> Array:
    """Return [6N, 2N] from both directions' [2, 3N, N]: rows r r' u u' n n', each reading its own direction."""
    N = weight.shape[2]
    result = np.zeros((3, 2, N, 2, N), np.float32)
    for direction in (0, 1):
        result[:, direction, :, direction, :] = weight[direction].reshape(3, N, N)
    return result.reshape(6 * N, 2 * N)
