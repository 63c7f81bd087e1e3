"""The encoder's refining layers as ONNX nodes (`training.nmt.refinement` has the equations).

All products have fixed scales, since the layers cut what goes into them: what saturates in integers is what is cut in
training.  Attention itself is float32, one small product for each head.

Shapes:  B rows · S source length · A annotation · I = A/2, all heads together
"""

import numpy as np

from training.config.model import HEADS
from training.export.nodes import GraphWriter
from training.export.weights import Array, ModelWeights
from training.nmt.refinement import EPSILON, HIDDEN_LIMIT, LIMIT, MASKED

ANNOTATION_LIMIT = 2.0
"""A refined annotation is a state of the GRUs, within ± 1, and a tanh."""


def add_refinement(writer: GraphWriter, model: ModelWeights, annotations: str, source_mask: str) -> str:
    """Return the refined annotations [B, S, A]; padding holds numbers without a meaning."""
    absent = writer.add("Sub", [writer.constant(np.array(1, np.float32), "one"), source_mask], "source_absent")
    absent = writer.add("Unsqueeze", [absent, writer.integers(1, 2)], "source_absent_row")  # [B, 1, 1, S]
    mask_bias = writer.add("Mul", [absent, writer.constant(np.array(MASKED, np.float32), "masked")], "mask_bias")
    layers = _Layers(writer, model, mask_bias)
    refined, correction = annotations, None
    for layer in range(model.sizes.refinement):
        for part in (layers.attend, layers.think):
            said = part(layer, layers.norm(refined))
            correction = said if correction is None else writer.add("Add", [correction, said], "correction")
            refined = writer.add("Add", [annotations, correction], "corrected")
    assert correction is not None  # the caller asks for no refinement without layers
    bounded = writer.add("Tanh", [correction], "correction_bounded")
    return writer.add("Add", [annotations, bounded], "annotations_refined")


class _Layers:
    """The two parts of a layer, each with the norm before it."""

    def __init__(self, writer: GraphWriter, model: ModelWeights, mask_bias: str) -> None:
        self.writer, self.model, self.mask_bias = writer, model, mask_bias
        self.last_axis = writer.integers(2)
        self.count = writer.constant(np.array(model.sizes.annotation, np.float32), "count")
        self.epsilon = writer.constant(np.array(EPSILON, np.float32), "epsilon")

    def norm(self, tensor: str) -> str:
        """c / sqrt(mean of c² + ε), c = x - mean: spelt out, for onnxruntime's own node takes three times as long."""
        add = self.writer.add
        mean = add("ReduceMean", [tensor, self.last_axis], "mean", keepdims=1)  # [B, S, 1]
        centred = add("Sub", [tensor, mean], "centred")
        squares = add("ReduceSumSquare", [centred, self.last_axis], "squares", keepdims=1)  # [B, S, 1]
        variance = add("Add", [add("Div", [squares, self.count], "variance"), self.epsilon], "variance_positive")
        normed = add("Div", [centred, add("Sqrt", [variance], "deviation")], "normed")
        return self.writer.cut_activation(normed, -LIMIT, LIMIT)

    def attend(self, layer: int, normed: str) -> str:
        """[B, S, A] of activations [B, S, A]."""
        writer, inner = self.writer, self.model.sizes.annotation // 2
        weight, bias = self._parameters(layer, "attention_in")
        # The energies' 1 / sqrt(size of a head) goes into the query's weights.
        scale = np.ones((3 * inner, 1), np.float32)
        scale[:inner] = (inner // HEADS) ** -0.5
        parts = writer.linear(normed, weight * scale, bias * scale[:, 0], "attention_in", limit=LIMIT)
        query, key, value = writer.split(parts, [inner] * 3, ["query", "key", "value"], axis=2)
        query, value = (self._heads(part, [0, 2, 1, 3]) for part in (query, value))  # [B, heads, S, ·]
        key = self._heads(key, [0, 2, 3, 1])  # [B, heads, ·, S]
        energies = writer.add("MatMul", [query, key], "energies")
        energies = writer.add("Add", [energies, self.mask_bias], "energies_masked")
        alignment = writer.add("Softmax", [energies], "alignment", axis=-1)
        attended = writer.add("MatMul", [alignment, value], "attended_heads")
        attended = writer.add("Transpose", [attended], "attended_positions", perm=[0, 2, 1, 3])
        attended = writer.add("Reshape", [attended, writer.integers(0, 0, inner)], "attended")
        cut = writer.cut_activation(attended, -LIMIT, LIMIT)
        return writer.linear(cut, *self._parameters(layer, "attention_out"), "attention_out", limit=LIMIT)

    def think(self, layer: int, normed: str) -> str:
        """[B, S, A] of activations [B, S, A]."""
        writer = self.writer
        hidden = writer.linear(normed, *self._parameters(layer, "hidden"), "hidden", limit=LIMIT)
        hidden = writer.cut_activation(hidden, 0.0, HIDDEN_LIMIT)
        weight, bias = self._parameters(layer, "hidden_out")
        return writer.linear(hidden, weight, bias, "hidden_out", limit=HIDDEN_LIMIT, is_positive=True)

    def _heads(self, tensor: str, order: list[int]) -> str:
        """[B, S, I] as [B, S, heads, I / heads], its axes in this order."""
        parted = self.writer.add("Reshape", [tensor, self.writer.integers(0, 0, HEADS, -1)], "heads")
        return self.writer.add("Transpose", [parted], "heads_first", perm=order)

    def _parameters(self, layer: int, name: str) -> tuple[Array, Array]:
        return self.model[f"refinement.{layer}.{name}.weight"], self.model[f"refinement.{layer}.{name}.bias"]
