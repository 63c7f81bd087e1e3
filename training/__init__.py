"""The offline half.

Like `service`, it keeps onnxruntime, which the exporter runs, from reporting to its maker.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
