"""How the step graph is best spelt: variants of one piece at a time, timed paired and interleaved in one process.

    python tests/bench/step_variants.py                     all pieces at S size, batch 1, 8 and 32
    python tests/bench/step_variants.py --piece energies    one of them

Each line is a variant's median CPU time for a step (a busy machine disturbs it less than the clock), and the median of
its ratio to the first line in the same round; a round runs every variant once, in random order.  A difference below 3%
is within what the placement of weights in memory does to two equal graphs.  int8, one thread, 20 source positions.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import onnxruntime

from training.export import step
from training.export.nodes import CONTRIB, FLOAT, GraphWriter
from training.export.quantise import GAIN_RANGE, quantise_matrix, quantise_rows
from training.export.step import build_step
from training.export.weights import ActorWeights, ModelWeights, Sizes, random_actor, random_weights

S_SIZE = Sizes(8000, 8000, embedding=256, encoder=256, decoder=512, attention=128, readout=256)
SOURCE_LENGTH = 20
Build = Callable[[ModelWeights, list[ActorWeights]], bytes]


def shipped(model: ModelWeights, actors: list[ActorWeights]) -> bytes:
    return bytes(build_step(model, actors, "int8").SerializeToString())


def with_patch(owner: object, name: str, replacement: object) -> Build:
    """Return a builder of the shipped graph with one function replaced."""

    def build(model: ModelWeights, actors: list[ActorWeights]) -> bytes:
        with patch.object(owner, name, replacement):
            return shipped(model, actors)

    return build


# ---- linear layers ---------------------------------------------------------------------------------------------------


def spelt_out(writer, activation, weight, bias, name, limit, one_scale):
    """MatMulInteger → Cast → Mul → Add in place of one contrib node."""
    integers, scales = quantise_rows(weight)
    product = writer.add(
        "MatMulInteger", [activation, writer.constant(integers.T, f"{name}.w"), writer._zero_point()], f"{name}.int"
    )
    product = writer.add("Cast", [product], f"{name}.float", to=FLOAT)
    scale = writer.constant(scales * np.float32(limit / 127), f"{name}.scale")
    if bias is None:
        return writer.add("Mul", [product, scale], name)
    product = writer.add("Mul", [product, scale], f"{name}.scaled")
    return writer.add("Add", [product, writer.constant(bias, f"{name}.bias")], name)


def always_rows(model: ModelWeights, actors: list[ActorWeights]) -> bytes:
    """One scale per output in the output layer too."""
    with patch("training.export.nodes.quantise_matrix", quantise_rows):
        return shipped(model, actors)


def always_one_scale(model: ModelWeights, actors: list[ActorWeights]) -> bytes:
    """One scale for every matrix: the states lose precision too."""
    with patch("training.export.nodes.quantise_rows", quantise_matrix):
        return shipped(model, actors)


# ---- attention energies ----------------------------------------------------------------------------------------------


@contextmanager
def replacing_energies(nodes: Callable[[GraphWriter, str, str], str]) -> Iterator[None]:
    """Replace the Mul + ReduceSum pair that makes energies [B, S] of similarities [B, S, K]."""
    original = GraphWriter.add

    def add(writer, operator, inputs, name, **options):
        if name == "energy_terms":
            writer.similarity, writer.energy_vector = inputs
            return "energy_terms"
        if name == "energies":
            return nodes(writer, writer.similarity, writer.energy_vector)
        return original(writer, operator, inputs, name, **options)

    with patch.object(GraphWriter, "add", add):
        yield


def energies_by(nodes: Callable[[GraphWriter, str, str], str]) -> Build:
    def build(model: ModelWeights, actors: list[ActorWeights]) -> bytes:
        with replacing_energies(nodes):
            return shipped(model, actors)

    return build


def vector_product(writer, similarity, energy):
    return GraphWriter.add_many(writer, "MatMul", [similarity, energy], ["energies_vector"])[0]


def column_product(writer, similarity, energy):
    column = writer.add_many("Unsqueeze", [energy, writer.integers(1)], ["energy_column"])[0]
    product = writer.add_many("MatMul", [similarity, column], ["energies_column"])[0]
    return writer.add_many("Squeeze", [product, writer.integers(2)], ["energies_flat"])[0]


def transposed_product(writer, similarity, energy):
    """Fastest, but a row's bits then depend on its padding."""
    row = writer.add_many("Unsqueeze", [energy, writer.integers(0, 1)], ["energy_row"])[0]
    product = writer.add_many("FusedMatMul", [row, similarity], ["energies_row"], domain=CONTRIB, transB=1)[0]
    return writer.add_many("Squeeze", [product, writer.integers(1)], ["energies_flat"])[0]


# ---- the lookup table of the previous word ---------------------------------------------------------------------------


def fp32_table(model: ModelWeights, actors: list[ActorWeights]) -> bytes:
    def folded_table(writer, embedding, weight, bias, name):
        product = writer.add("MatMul", [embedding, writer.stored(weight.T, f"{name}.weight")], f"{name}.product")
        return writer.add("Add", [product, writer.constant(bias, f"{name}.bias")], f"{name}.rows")

    def look_up(writer, table, ids, name):
        return writer.add("Gather", [table, ids], name)

    with patch.object(GraphWriter, "folded_table", folded_table), patch.object(GraphWriter, "look_up", look_up):
        return shipped(model, actors)


def integer_product(model: ModelWeights, actors: list[ActorWeights]) -> bytes:
    """No table: the embedding as u8, one scale a column, multiplied in every step."""
    embedding = model["target_embedding.weight"]
    scales = np.abs(embedding).max(axis=0) / 127
    integers = (np.rint(embedding / scales) + 128).astype(np.uint8)

    def folded_table(writer, _, weight, bias, name):
        writer.word_layer = (weight * scales, bias)
        return writer.constant(integers, name)

    def look_up(writer, table, ids, name):
        weight, bias = writer.word_layer
        word = writer.add("Gather", [table, ids], f"{name}.u8")
        return writer.linear(word, weight.astype(np.float32), bias, name, limit=127.0, one_scale=True)

    with patch.object(GraphWriter, "folded_table", folded_table), patch.object(GraphWriter, "look_up", look_up):
        return shipped(model, actors)


# ---- the GRU and the actors ------------------------------------------------------------------------------------------


def one_recurrent_product(writer, model, nudged, reset_update_in, candidate_in, state_range):
    """One product for all three gates and a Split, in place of two products."""
    H = model.sizes.decoder
    bias = model["decoder.state_bias"].copy()
    bias[: 2 * H] = 0
    activation = writer.activation(nudged, state_range)
    product = writer.linear(activation, model["decoder.state.weight"], bias, "recurrent", limit=state_range)
    first, recurrent = writer.split(product, [2 * H, H], ["recurrent_ru", "recurrent_n"], axis=1)
    gates = writer.add("Sigmoid", [writer.add("Add", [first, reset_update_in], "reset_update_sum")], "reset_update")
    reset, update = writer.split(gates, [H, H], ["reset", "update"], axis=1)
    gated = writer.add("Mul", [reset, recurrent], "candidate_gated")
    candidate = writer.add("Tanh", [writer.add("Add", [candidate_in, gated], "candidate_sum")], "candidate")
    difference = writer.add("Sub", [nudged, candidate], "difference")
    return writer.add("Add", [candidate, writer.add("Mul", [update, difference], "kept")], "next_state")


def separate_actors(second_in_int8: bool) -> Build:
    """The actors' first layer as a product of its own, in fp32 with bias and tanh fused; the second in fp32 or int8."""

    def look(writer, model, actors, state, state_range):
        activation = writer.activation(state, state_range)
        query = writer.linear(activation, model["attention.query.weight"], None, "look", limit=state_range)
        writer.first_layer = np.concatenate([actor.hidden[:, : model.sizes.decoder] for actor in actors])
        return query, "actor_state"

    original = GraphWriter.add

    def add(writer, operator, inputs, name, **options):
        if name == "actor_sum":
            weight = writer.constant(writer.first_layer.T, "actor_first.weight")
            return original(writer, "Gemm", ["state", weight, inputs[1]], name)
        return original(writer, operator, inputs, name, **options)

    def nudge(writer, actors, state, actor_sum, gain):
        weight = np.concatenate([actor.output for actor in actors], axis=1)
        weighted = writer.add("Mul", [writer.add("Tanh", [actor_sum], "actor_hidden"), gain], "actor_weighted")
        if second_in_int8:
            return writer.linear_plus(
                writer.activation(weighted, GAIN_RANGE), weight, state, "nudged", limit=GAIN_RANGE
            )
        return writer.add("Gemm", [weighted, writer.constant(weight.T, "actor_second.weight"), state], "nudged")

    def build(model: ModelWeights, actors: list[ActorWeights]) -> bytes:
        with (
            patch.object(step, "_look", look),
            patch.object(step, "_nudge", nudge),
            patch.object(GraphWriter, "add", add),
        ):
            return shipped(model, actors)

    return build


def only(count: int) -> Build:
    return lambda model, actors: shipped(model, actors[:count])


def after(count: int, units: int) -> Build:
    """So many actors after the recurrence, of so many units each, the one that is always on included."""

    def build(model: ModelWeights, actors: list[ActorWeights]) -> bytes:
        hidden = units - 1
        return shipped(
            model,
            [
                ActorWeights(one.name, one.hidden[:hidden], one.bias[:hidden], one.output[:, :hidden], acts_after=True)
                for one in actors[:count]
            ],
        )

    return build


PIECES: dict[str, dict[str, Build]] = {
    "linear": {
        "shipped: one contrib node": shipped,
        "MatMulInteger, Cast, Mul, Add": with_patch(GraphWriter, "_integer_linear", spelt_out),
        "a scale per output everywhere": always_rows,
        "one scale per matrix everywhere": always_one_scale,
    },
    "energies": {
        "shipped: Mul, ReduceSum": shipped,
        "MatMul with a vector": energies_by(vector_product),
        "MatMul with a column": energies_by(column_product),
        "MatMul transposed (not invariant)": energies_by(transposed_product),
    },
    "table": {
        "shipped: folded, fp16": shipped,
        "folded, fp32": fp32_table,
        "integer product": integer_product,
    },
    "recurrence": {
        "shipped: two products": shipped,
        "one product and a Split": with_patch(step, "_advance", one_recurrent_product),
    },
    "actors": {
        "no actor": only(0),
        "no actor again: the noise": only(0),
        "one of 32 units": only(1),
        "four of 32 (int8, with the query)": only(4),
        "four of 32, on their own, fp32": separate_actors(second_in_int8=False),
        "four of 32, on their own, fp32 and int8": separate_actors(second_in_int8=True),
        "one after the recurrence, of 4": after(1, 4),
        "one after the recurrence, of 16": after(1, 16),
        "four after it, of 4 each (shipped)": after(4, 4),
        "four after it, of 32 each": after(4, 32),
    },
}


def open_session(graph: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def bind(session: onnxruntime.InferenceSession, rows: int, generator: np.random.Generator):
    """Return a binding of random inputs, as the service binds its slots."""
    binding = session.io_binding()
    for node in session.get_inputs():
        shape = [{"B": rows, "S": SOURCE_LENGTH}.get(axis, axis) for axis in node.shape]
        if node.name == "previous_ids":
            array = generator.integers(4, S_SIZE.target_vocabulary, shape)
        elif node.name in ("source_bias", "actor_gain"):
            array = np.full(shape, float(node.name == "actor_gain"), np.float32)
        else:
            array = np.tanh(generator.normal(size=shape)).astype(np.float32)
        binding.bind_ortvalue_input(node.name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    for node in session.get_outputs():
        shape = [rows if axis == "B" else axis for axis in node.shape]
        binding.bind_ortvalue_output(node.name, onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(shape, np.float32)))
    return binding


def time_piece(variants: dict[str, Build], rows: int, rounds: int) -> dict[str, np.ndarray]:
    """Return the seconds of every round [rounds] for each variant."""
    model = random_weights(S_SIZE, scale=0.05)
    actors = [random_actor(f"actor{index}", 32, S_SIZE, index, scale=0.05) for index in range(4)]
    generator = np.random.default_rng(0)
    runs = {}
    for name, build in variants.items():
        session = open_session(build(model, actors))
        runs[name] = (session, bind(session, rows, np.random.default_rng(1)))
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    names = list(variants)
    for _ in range(rounds):
        generator.shuffle(names)
        for name in names:
            session, binding = runs[name]
            session.run_with_iobinding(binding)  # warms the caches that the variant before has filled
            start = time.thread_time()
            session.run_with_iobinding(binding)
            seconds[name].append(time.thread_time() - start)
    return {name: np.array(values) for name, values in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--piece", choices=PIECES, action="append")
    parser.add_argument("--batch", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=300)
    options = parser.parse_args()
    for piece in options.piece or PIECES:
        for rows in options.batch or [1, 8, 32]:
            seconds = time_piece(PIECES[piece], rows, options.rounds)
            base = next(iter(seconds.values()))
            print(f"{piece}, batch {rows}")
            for name, values in seconds.items():
                ratio = np.median(values / base)
                print(f"  {name:38} {np.median(values) * 1e6:8.1f} µs   × {ratio:.3f}")


if __name__ == "__main__":
    main()
