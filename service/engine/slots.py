"""The slot arrays of a lane: everything step.onnx reads of a row, at a padded source length that can change.

Keys and values of all rows lie in one flat buffer, seen as [C, S, …] for the present width S, so a batch of short
sentences reads no padding for a long one that is not there.  Changing S moves rows within the buffer.

Shapes:  C capacity in rows · S present width, even · K key · W values · H state · U actor units
"""

import mmap

import numpy as np

from service.engine.probabilities import Array, Floats, Ints
from service.engine.shape import ModelShape

NARROWEST = 4
PADDING_BIAS = -1e9  # on an energy of the attention: no weight is left for the position


def padded(length: int) -> int:
    """Return the width for a source of `length` tokens: even, and one of few, so that a lane sees few shapes."""
    step = 4 if length <= 32 else 8 if length <= 64 else 16
    return -(-length // step) * step


class Slots:
    """Rows, each in its slot."""

    def __init__(self, shape: ModelShape, max_width: int, capacity: int) -> None:
        self._capacity = capacity
        self._bos_id = shape.bos_id
        self.previous_ids: Ints = np.zeros(capacity, np.int64)
        self.states: Floats = np.zeros((capacity, shape.state), np.float32)
        self._gains: Floats | None = None
        if shape.actor_units:
            self._gains = np.zeros((capacity, shape.actor_units), np.float32)
        positions = capacity * max_width
        self._keys_memory, self._flat_keys = _reserve(positions * shape.key)
        self._values_memory, self._flat_values = _reserve(positions * shape.values)
        self._flat_bias: Floats = np.zeros(positions, np.float32)
        self.width = NARROWEST
        self._keys, self._values, self._bias = self._views(self.width)

    def inputs(self) -> dict[str, Array]:
        """Return the arrays by the names of step.onnx, at the present width."""
        inputs: dict[str, Array] = {
            "previous_ids": self.previous_ids,
            "state": self.states,
            "keys": self._keys,
            "values": self._values,
            "source_bias": self._bias,
        }
        if self._gains is not None:
            inputs["actor_gain"] = self._gains
        return inputs

    def write(self, slot: int, keys: Floats, values: Floats, state: Floats, gain: Floats, source_length: int) -> None:
        """Put a row that has not begun into `slot`; `keys` [S', K] and `values` [S', W] are those of its source."""
        used = min(len(keys), self.width)
        self._keys[slot, :used] = keys[:used]
        self._keys[slot, used:] = 0.0
        self._values[slot, :used] = values[:used]
        self._values[slot, used:] = 0.0
        self._bias[slot, :source_length] = 0.0
        self._bias[slot, source_length:] = PADDING_BIAS
        self.states[slot] = state
        self.previous_ids[slot] = self._bos_id
        if self._gains is not None:
            self._gains[slot] = gain

    def move(self, origin: int, destination: int) -> None:
        """Copy the row in `origin` over the one in `destination`."""
        for array in self.inputs().values():
            array[destination] = array[origin]

    def set_width(self, width: int, rows: int) -> None:
        """Change the padded length; the first `rows` slots keep their contents, as far as it reaches."""
        old = (self._keys, self._values, self._bias)
        new = self._views(width)
        shared = min(width, self.width)
        # The two views overlay one buffer: move rows away from where they are going to overwrite others.
        order = range(rows) if width < self.width else reversed(range(rows))
        for row in order:
            for old_array, new_array, padding in zip(old, new, (0.0, 0.0, PADDING_BIAS), strict=True):
                new_array[row, :shared] = old_array[row, :shared]
                new_array[row, shared:] = padding
        self.width = width
        self._keys, self._values, self._bias = new

    def release(self) -> None:
        """Give the memory of keys and values back until it is needed again; every row is lost."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._keys_memory.madvise(mmap.MADV_DONTNEED)
            self._values_memory.madvise(mmap.MADV_DONTNEED)

    def _views(self, width: int) -> tuple[Floats, Floats, Floats]:
        C, positions = self._capacity, self._capacity * width
        K, W = (flat.size // self._flat_bias.size for flat in (self._flat_keys, self._flat_values))
        return (
            self._flat_keys[: positions * K].reshape(C, width, K),
            self._flat_values[: positions * W].reshape(C, width, W),
            self._flat_bias[:positions].reshape(C, width),
        )


def _reserve(size: int) -> tuple[mmap.mmap, Floats]:
    """Return an array of `size` zeros that takes memory only where it is used, and the mapping behind it."""
    memory = mmap.mmap(-1, max(4 * size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return memory, np.frombuffer(memory, np.float32, count=size)
