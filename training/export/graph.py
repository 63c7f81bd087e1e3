"""The two graphs of a bundle, built from plain arrays: no torch, no tracing, full control of every node."""

from collections.abc import Sequence
from dataclasses import dataclass

import onnx

from training.export.encoder import build_encoder
from training.export.nodes import Quantisation
from training.export.step import build_step
from training.export.weights import ActorWeights, ModelWeights


@dataclass(frozen=True)
class Graphs:
    """What a bundle computes with, serialised."""

    encoder: bytes
    step: bytes


def build_graphs(
    model: ModelWeights,
    actors: Sequence[ActorWeights],
    quantisation: Quantisation,
    *,
    pad_id: int = 0,
    state_range: float = 1.0,
) -> Graphs:
    """Return encoder.onnx and step.onnx as the bundle contract describes them.

    `state_range` matters to int8 alone: the largest decoder state that it tells apart.
    """
    return Graphs(
        encoder=_serialise(build_encoder(model, actors, quantisation, pad_id)),
        step=_serialise(build_step(model, actors, quantisation, state_range)),
    )


def _serialise(model: onnx.ModelProto) -> bytes:
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))
