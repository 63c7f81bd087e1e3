"""step.onnx, run on the slot arrays of a lane without copying anything.

Shapes:  C capacity in rows · R rows bound · H state · V vocabulary
"""

from collections.abc import Mapping, Sequence

import numpy as np
import onnxruntime as ort

from service.engine.probabilities import Array, Floats, Ints
from service.engine.search import Step
from service.engine.shape import ModelShape


class Stepper:
    """The graph of a step and its log-probabilities, shared by all lanes of an engine: they step one after the other.

    A step writes the next states over the states it has read.  That is safe, since a next state depends on every
    operation that reads a state, and it saves a copy.
    """

    def __init__(self, session: ort.InferenceSession, shape: ModelShape, capacity: int, rows_together: bool) -> None:
        self._session = session
        self._rows_together = rows_together
        self._log_probabilities: Floats = np.zeros((capacity, shape.target_vocabulary), np.float32)

    def bind(self, inputs: Mapping[str, Array], rows: int) -> "BoundStep":
        """Bind the first `rows` rows of `inputs`, once and for all: running them then costs no set-up."""
        parts = [(0, rows)] if self._rows_together else [(row, row + 1) for row in range(rows)]
        return BoundStep(
            self._session,
            [self._bind(inputs, start, stop) for start, stop in parts],
            inputs["previous_ids"][:rows],
            self._log_probabilities[:rows],
        )

    def _bind(self, inputs: Mapping[str, Array], start: int, stop: int) -> ort.IOBinding:
        binding = self._session.io_binding()
        for name, array in inputs.items():
            binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array[start:stop]))
        outputs = {"log_probabilities": self._log_probabilities, "next_state": inputs["state"]}
        for name, array in outputs.items():
            binding.bind_ortvalue_output(name, ort.OrtValue.ortvalue_from_numpy(array[start:stop]))
        return binding


class BoundStep:
    """A step of the first R rows of a lane.

    At batch 1 the graph itself takes a tenth of a millisecond, so views are made here once and not at every step.
    """

    def __init__(
        self,
        session: ort.InferenceSession,
        bindings: Sequence[ort.IOBinding],
        previous_ids: Ints,
        log_probabilities: Floats,
    ) -> None:
        self._run = session.run_with_iobinding
        self._bindings = bindings
        self._previous_ids = previous_ids  # [R]
        self._log_probabilities = log_probabilities  # [R, V]
        self._flat = log_probabilities.reshape(-1)
        self._first_of_row = np.arange(len(previous_ids)) * log_probabilities.shape[1]  # in `_flat`

    def run(self) -> Step:
        """Advance the rows; they now stand where most will go on: at their own next state and likeliest token."""
        for binding in self._bindings:
            self._run(binding)
        tokens = self._previous_ids
        self._log_probabilities.argmax(axis=1, out=tokens)
        # Not `take`: that lets go of Python's lock, and under load it takes a while to get it back.
        best = self._flat[self._first_of_row + tokens]
        return Step(self._log_probabilities, tokens.tolist(), best.tolist())
