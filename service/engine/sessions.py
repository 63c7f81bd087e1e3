"""The two graphs of a bundle as onnxruntime sessions.

Shapes:  B rows · S padded source length, even · K key · W values · H state · V vocabulary · U actor units
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnxruntime as ort

from service.engine.probabilities import Floats, Ints
from service.engine.shape import ModelShape, even


def open_session(model: bytes, threads: int) -> ort.InferenceSession:
    """Open a graph for `threads` threads.

    Intermediate tensors are laid out in one block for each pattern of shapes (5% of a small step is saved), which comes
    from an arena that takes from the system what is asked for and no more, so that it soon stops growing.
    """
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(
        model, options, providers=[("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})]
    )


@dataclass(slots=True)
class Encoded:
    """What the encoder gave for a group; valid until the next group is encoded."""

    keys: Floats  # [B, S, K]
    values: Floats  # [B, S, W]
    states: Floats  # [B, H]


class Encoder:
    """encoder.onnx, writing into buffers that are reused."""

    def __init__(self, session: ort.InferenceSession, shape: ModelShape, max_group: int) -> None:
        self._session = session
        self._shape = shape
        self._max_group = max_group
        self._outputs = ("keys", "values", "state")
        self._keys = np.zeros(0, np.float32)
        self._values = np.zeros(0, np.float32)
        self._states = np.zeros((max_group, shape.state), np.float32)

    def encode(self, sources: Sequence[Sequence[int]]) -> Encoded:
        """Encode up to `max_group` sources together, padded to the longest of them."""
        B, S = len(sources), even(max(len(source) for source in sources))
        ids: Ints = np.full((B, S), self._shape.pad_id, np.int64)
        mask: Floats = np.zeros((B, S), np.float32)
        for row, source in enumerate(sources):
            ids[row, : len(source)] = source
            mask[row, : len(source)] = 1.0
        keys, values = self._room(B, S)
        states = self._states[:B]
        binding = self._session.io_binding()
        for name, array in (("source_ids", ids), ("source_mask", mask)):
            binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
        for name, array in zip(self._outputs, (keys, values, states), strict=True):
            binding.bind_ortvalue_output(name, ort.OrtValue.ortvalue_from_numpy(array))
        self._session.run_with_iobinding(binding)
        return Encoded(keys, values, states)

    def _room(self, B: int, S: int) -> tuple[Floats, Floats]:
        positions, K, W = B * S, self._shape.key, self._shape.values
        if self._keys.size < positions * K:
            # The longest source is known, so the buffers soon stop growing.
            self._keys = np.zeros(positions * K, np.float32)
            self._values = np.zeros(positions * W, np.float32)
        return self._keys[: positions * K].reshape(B, S, K), self._values[: positions * W].reshape(B, S, W)
