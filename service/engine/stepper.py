"""step.onnx and the log-softmax behind it, run on the slot arrays of a lane without copying anything.

Shapes:  C capacity in rows · H state · V vocabulary
"""

from collections.abc import Mapping

import numpy as np
import onnxruntime as ort

from service.engine.log_softmax import open_log_softmax
from service.engine.probabilities import Array, Floats
from service.engine.shape import ModelShape

Bindings = tuple[ort.IOBinding, ort.IOBinding]


class Stepper:
    """The graphs of a step and their outputs, shared by all lanes of an engine: they step one after the other."""

    def __init__(
        self, session: ort.InferenceSession, shape: ModelShape, capacity: int, threads: int, rows_together: bool
    ) -> None:
        self._session = session
        self._log_softmax = open_log_softmax(threads)
        self._rows_together = rows_together
        self._logits: Floats = np.zeros((capacity, shape.target_vocabulary), np.float32)
        self.log_probabilities: Floats = np.zeros((capacity, shape.target_vocabulary), np.float32)  # [C, V]
        self.next_states: Floats = np.zeros((capacity, shape.state), np.float32)  # [C, H]

    def bind(self, inputs: Mapping[str, Array], rows: int) -> list[Bindings]:
        """Bind the first `rows` rows of `inputs`, once and for all: running them then costs no set-up."""
        if self._rows_together:
            return [self._bind(inputs, 0, rows)]
        return [self._bind(inputs, row, row + 1) for row in range(rows)]

    def run(self, bindings: list[Bindings]) -> None:
        """Compute `log_probabilities` and `next_states` of the bound rows."""
        for step, log_softmax in bindings:
            self._session.run_with_iobinding(step)
            self._log_softmax.run_with_iobinding(log_softmax)

    def _bind(self, inputs: Mapping[str, Array], start: int, stop: int) -> Bindings:
        step = self._session.io_binding()
        for name, array in inputs.items():
            step.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array[start:stop]))
        logits = ort.OrtValue.ortvalue_from_numpy(self._logits[start:stop])
        step.bind_ortvalue_output("logits", logits)
        step.bind_ortvalue_output("next_state", ort.OrtValue.ortvalue_from_numpy(self.next_states[start:stop]))
        log_softmax = self._log_softmax.io_binding()
        log_softmax.bind_ortvalue_input("x", logits)
        log_softmax.bind_ortvalue_output("y", ort.OrtValue.ortvalue_from_numpy(self.log_probabilities[start:stop]))
        return step, log_softmax
