"""Run a bundle's graphs with onnxruntime: what the exporter needs to check what it wrote.

The service has its own engine; this one is short, decodes sentence by sentence or in plain batches, and keeps the
numbers a gate wants to see.

Shapes:  B rows · S padded source length (even) · U hidden units of all actors
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from training.corpus.cache import BOS, EOS, PAD
from training.decoding.hypothesis import LengthLimits
from training.export.graph import Graphs

PADDING_BIAS = np.float32(-1e9)


@dataclass(frozen=True)
class Translation:
    """One greedy output."""

    ids: tuple[int, ...]  # without eos
    score: float  # mean token log-probability, eos included
    margins: tuple[float, ...]  # distance of the best to the second-best word at every step, in nats
    is_truncated: bool

    @property
    def margin(self) -> float:
        """The closest call."""
        return min(self.margins)


class BundleSessions:
    """The two graphs of a bundle, loaded, on one thread."""

    def __init__(self, graphs: Graphs) -> None:
        self.graphs = graphs
        self.encoder = _session(graphs.encoder)
        self.step = _session(graphs.step)
        shapes = {node.name: node.shape for node in self.step.get_inputs()}
        self.units: int = shapes["actor_gain"][1] if "actor_gain" in shapes else 0

    @classmethod
    def load(cls, folder: Path) -> Self:
        return cls(Graphs((folder / "encoder.onnx").read_bytes(), (folder / "step.onnx").read_bytes()))

    def encode(self, sources: Sequence[Sequence[int]]) -> dict[str, NDArray[Any]]:
        """Return the step's inputs that stay the same while these sources (ids ending with eos) are decoded, and the
        first `state`."""
        ids, mask = pad_sources(sources)
        keys, values, state = self.encoder.run(["keys", "values", "state"], {"source_ids": ids, "source_mask": mask})
        return {"keys": keys, "values": values, "source_bias": source_bias(mask), "state": state}

    def run_step(self, feeds: Mapping[str, NDArray[Any]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return log-probabilities [B, V] and next states [B, H]."""
        log_probabilities, state = self.step.run(["log_probabilities", "next_state"], dict(feeds))
        return log_probabilities, state

    def greedy(
        self,
        sources: Sequence[Sequence[int]],
        limits: LengthLimits,
        units: tuple[int, int] | None = None,
        batch_size: int = 32,
    ) -> list[Translation]:
        """Translate each source with the actor of these hidden units, or with none; in the order of the input."""
        order = sorted(range(len(sources)), key=lambda index: len(sources[index]))
        results: dict[int, Translation] = {}
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            outputs = self._greedy_batch([sources[row] for row in rows], limits, units)
            results.update(zip(rows, outputs, strict=True))
        return [results[index] for index in range(len(sources))]

    def _greedy_batch(
        self, sources: Sequence[Sequence[int]], limits: LengthLimits, units: tuple[int, int] | None
    ) -> list[Translation]:
        rows = len(sources)
        feeds = self.encode(sources)
        feeds["previous_ids"] = np.full(rows, BOS, np.int64)
        if self.units:
            feeds["actor_gain"] = actor_gain(rows, self.units, units)
        longest = [limits.limit(len(source)) for source in sources]
        ids: list[list[int]] = [[] for _ in sources]
        scores: list[list[float]] = [[] for _ in sources]
        margins: list[list[float]] = [[] for _ in sources]
        live = set(range(rows))
        truncated = set()
        while live:
            log_probabilities, feeds["state"] = self.run_step(feeds)
            best = log_probabilities.argmax(axis=1)
            top_two = np.partition(log_probabilities, -2, axis=1)[:, -2:]
            for row in sorted(live):
                scores[row].append(float(log_probabilities[row, best[row]]))
                margins[row].append(float(top_two[row, 1] - top_two[row, 0]))
                if best[row] == EOS:
                    live.remove(row)
                    continue
                ids[row].append(int(best[row]))
                if len(ids[row]) == longest[row]:
                    live.remove(row)
                    truncated.add(row)
            feeds["previous_ids"] = best.astype(np.int64)
        return [
            Translation(tuple(ids[row]), float(np.mean(scores[row])), tuple(margins[row]), row in truncated)
            for row in range(rows)
        ]


def pad_sources(sources: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return ids and mask [B, S] with S even: only then are a row's bits the same in every batch."""
    length = max(len(source) for source in sources)
    length += length % 2
    ids = np.full((len(sources), length), PAD, np.int64)
    mask = np.zeros((len(sources), length), np.float32)
    for row, source in enumerate(sources):
        ids[row, : len(source)] = source
        mask[row, : len(source)] = 1
    return ids, mask


def actor_gain(rows: int, total_units: int, units: tuple[int, int] | None) -> NDArray[np.float32]:
    """Return gains [B, U]: 1 on the units of one actor, or 0 everywhere."""
    gain = np.zeros((rows, total_units), np.float32)
    if units is not None:
        gain[:, units[0] : units[1]] = 1
    return gain


def source_bias(mask: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return what is added to the attention's energies [B, S]: 0 where there is a word, PADDING_BIAS elsewhere."""
    return np.where(mask > 0, np.float32(0), PADDING_BIAS)


def _session(graph: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
