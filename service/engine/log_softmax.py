"""Log-probabilities from logits, by onnxruntime's own kernel: twice as fast as exp, sum and log in numpy.

A one-node graph, `y = LogSoftmax(x)` over the last axis.  It is spelled in protobuf here, because the service does not
depend on the onnx package; the numbers are field numbers of onnx.proto.  The kernel works row by row, so a row's bits
do not depend on the others.

Shapes:  B rows · V vocabulary
"""

import onnxruntime as ort

from service.engine.sessions import open_session

IR_VERSION = 10
OPSET = 21
FLOAT = 1


def open_log_softmax(threads: int) -> ort.InferenceSession:
    """Return a session of the graph: `x` [B, V] in, `y` [B, V] out."""
    return open_session(log_softmax_graph(), threads)


def log_softmax_graph() -> bytes:
    """Return the serialised ModelProto."""
    node = _text(1, "x") + _text(2, "y") + _text(4, "LogSoftmax")
    graph = _message(1, node) + _text(2, "log_softmax") + _message(11, _matrix("x")) + _message(12, _matrix("y"))
    return _number(1, IR_VERSION) + _message(8, _number(2, OPSET)) + _message(7, graph)


def _matrix(name: str) -> bytes:
    """A ValueInfoProto: a float matrix of any size."""
    shape = b"".join(_message(1, _text(2, letter)) for letter in ("B", "V"))
    return _text(1, name) + _message(2, _message(1, _number(1, FLOAT) + _message(2, shape)))


def _number(field: int, value: int) -> bytes:
    return bytes([field << 3, value])


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode())


def _message(field: int, content: bytes) -> bytes:
    assert len(content) < 128, "one-byte lengths are enough for this graph"
    return bytes([field << 3 | 2, len(content)]) + content
