"""A thin writer over onnx's helper: it names tensors, collects nodes, and spells a linear layer in fp32 or int8."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from training.export.quantise import (
    ACTIVATION_SCALE,
    ACTIVATION_ZERO_POINT,
    POSITIVE_ACTIVATION_SCALE,
    quantise_matrix,
    quantise_rows,
)

Quantisation = Literal["fp32", "int8"]
Shape = Sequence[str | int]

FLOAT = TensorProto.FLOAT
FLOAT16 = TensorProto.FLOAT16
INT64 = TensorProto.INT64
OPSET = 21
IR_VERSION = 10
CONTRIB = "com.microsoft"


class GraphWriter:
    """Collects the nodes of one graph.  Tensors are strings, as in ONNX; `name` arguments are hints made unique."""

    def __init__(self, name: str, quantisation: Quantisation) -> None:
        self.name = name
        self.quantisation = quantisation
        self._nodes: list[onnx.NodeProto] = []
        self._initialisers: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._taken: set[str] = set()

    # ---- tensors ---------------------------------------------------------------------------------------------

    def input(self, name: str, kind: int, shape: Shape) -> str:
        self._inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return self._unique(name)

    def output(self, tensor: str, kind: int, shape: Shape) -> None:
        self._outputs.append(helper.make_tensor_value_info(tensor, kind, shape))

    def constant(self, array: NDArray[Any], name: str) -> str:
        unique = self._unique(name)
        self._initialisers.append(numpy_helper.from_array(np.ascontiguousarray(array), unique))
        return unique

    def integers(self, *values: int) -> str:
        """Return a 1-D int64 constant: axes, split sizes, slice bounds."""
        return self.constant(np.array(values, np.int64), "integers")

    # ---- nodes -----------------------------------------------------------------------------------------------

    def add(self, operator: str, inputs: Sequence[str], name: str, *, domain: str = "", **attributes: Any) -> str:
        """Append a node with one output and return the output."""
        return self.add_many(operator, inputs, [name], domain=domain, **attributes)[0]

    def add_many(
        self, operator: str, inputs: Sequence[str], names: Sequence[str], *, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Append a node with several outputs."""
        outputs = [self._unique(name) for name in names]
        self._nodes.append(
            helper.make_node(operator, inputs, outputs, name=f"{self.name}/{outputs[0]}", domain=domain, **attributes)
        )
        return outputs

    def split(self, tensor: str, sizes: Sequence[int], names: Sequence[str], axis: int) -> list[str]:
        return self.add_many("Split", [tensor, self.integers(*sizes)], names, axis=axis)

    def activation(self, tensor: str, limit: float = 1.0) -> str:
        """Return what `linear` multiplies: the tensor itself in fp32; in int8 its integers, saturated at ± `limit`."""
        if self.quantisation == "fp32":
            return tensor
        return self.add("QuantizeLinear", [tensor, self._scale(limit), self._zero_point()], f"{tensor}.u8")

    def cut_activation(self, tensor: str, lowest: float, highest: float) -> str:
        """Return what `linear` multiplies, cut at both bounds: ± a limit, or 0 and a limit (`is_positive`).

        Integers need no node for it: they end there.
        """
        if self.quantisation == "fp32":
            bounds = [self.constant(np.array(bound, np.float32), "bound") for bound in (lowest, highest)]
            return self.add("Clip", [tensor, *bounds], f"{tensor}.cut")
        is_positive = lowest == 0
        inputs = [tensor, self._scale(highest, is_positive), self._zero_point(is_positive)]
        return self.add("QuantizeLinear", inputs, f"{tensor}.u8")

    def linear(
        self,
        activation: str,
        weight: NDArray[np.float32],
        bias: NDArray[np.float32] | None,
        name: str,
        *,
        limit: float = 1.0,
        one_scale: bool = False,
        is_positive: bool = False,
    ) -> str:
        """Return weight · activation (+ bias): weight [out, in], activation [..., in] made with the same limit.

        `is_positive`: the activation was cut at 0.  `one_scale` quantises the matrix with one scale in place of one
        per output (see `training.export.quantise`).
        """
        if self.quantisation == "int8":
            return self._integer_linear(activation, weight, bias, name, limit, one_scale, is_positive)
        inputs = [activation, self.constant(weight.T, f"{name}.weight")]
        if bias is None:
            return self.add("MatMul", inputs, name)
        product = self.add("MatMul", inputs, f"{name}.product")
        return self.add("Add", [product, self.constant(bias, f"{name}.bias")], name)

    def linear_plus(
        self, activation: str, weight: NDArray[np.float32], addend: str, name: str, *, limit: float = 1.0
    ) -> str:
        """Return weight · activation + addend for an activation [B, in] and an addend [B, out]."""
        if self.quantisation == "int8":
            product = self._integer_linear(activation, weight, None, f"{name}.product", limit, False)
            return self.add("Add", [product, addend], name)
        return self.add("Gemm", [activation, self.constant(weight.T, f"{name}.weight"), addend], name)

    def _integer_linear(
        self,
        activation: str,
        weight: NDArray[np.float32],
        bias: NDArray[np.float32] | None,
        name: str,
        limit: float,
        one_scale: bool,
        is_positive: bool = False,
    ) -> str:
        # One contrib node does the integer product, the rescaling and the bias; dispatch dominates at batch 1.
        integers, scales = quantise_matrix(weight) if one_scale else quantise_rows(weight)
        inputs = [
            activation,
            self.constant(integers.T, f"{name}.weight"),
            self._scale(limit, is_positive),
            self.constant(scales, f"{name}.scale"),
            self._zero_point(is_positive),
            "",
        ]
        if bias is not None:
            inputs.append(self.constant(bias, f"{name}.bias"))
        return self.add("MatMulIntegerToFloat", inputs, name, domain=CONTRIB)

    def _scale(self, limit: float, is_positive: bool = False) -> str:
        unit, name = (POSITIVE_ACTIVATION_SCALE, "positive") if is_positive else (ACTIVATION_SCALE, "activation")
        return self._shared(f"{name}_scale_{limit:g}", np.array(limit * unit, np.float32))

    def _zero_point(self, is_positive: bool = False) -> str:
        if is_positive:
            return self._shared("positive_zero_point", np.array(0, np.uint8))
        return self._shared("activation_zero_point", np.array(ACTIVATION_ZERO_POINT, np.uint8))

    def _shared(self, name: str, array: NDArray[Any]) -> str:
        return name if name in self._taken else self.constant(array, name)

    def stored(self, array: NDArray[np.float32], name: str) -> str:
        """Return a float tensor that an int8 bundle keeps as fp16 in the file."""
        if self.quantisation == "fp32":
            return self.constant(array, name)
        half = self.constant(array.astype(np.float16), f"{name}.fp16")
        return self.add("Cast", [half], name, to=FLOAT)

    def folded_table(self, embedding: str, weight: NDArray[np.float32], bias: NDArray[np.float32], name: str) -> str:
        """Return the table  embedding · weightᵀ + bias  [V, out] of an embedding [V, E] and a weight [out, E].

        The file holds the two small factors: onnxruntime computes with constants once, when it loads the graph, so
        a step only looks a row up.  An int8 bundle keeps the table in fp16, which halves its memory for 3% of a step;
        the integer product instead of a table needs no memory and costs 12 to 17%.
        """
        product = self.add("MatMul", [embedding, self.stored(weight.T, f"{name}.weight")], f"{name}.product")
        table = self.add("Add", [product, self.constant(bias, f"{name}.bias")], f"{name}.rows")
        return table if self.quantisation == "fp32" else self.add("Cast", [table], f"{name}.rows.fp16", to=FLOAT16)

    def look_up(self, table: str, ids: str, name: str) -> str:
        """Return the rows [..., out] of a folded table for ids [...]."""
        if self.quantisation == "fp32":
            return self.add("Gather", [table, ids], name)
        return self.add("Cast", [self.add("Gather", [table, ids], f"{name}.fp16")], name, to=FLOAT)

    # ---- results ---------------------------------------------------------------------------------------------

    def graph(self) -> onnx.GraphProto:
        return helper.make_graph(self._nodes, self.name, self._inputs, self._outputs, self._initialisers)

    def model(self) -> onnx.ModelProto:
        """Return the finished model, checked by onnx where onnx knows the operators."""
        return helper.make_model(
            self.graph(),
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)],
            ir_version=IR_VERSION,
            producer_name="nudge-train",
        )

    def _unique(self, name: str) -> str:
        candidate, count = name, 1
        while candidate in self._taken:
            count += 1
            candidate = f"{name}.{count}"
        self._taken.add(candidate)
        return candidate
