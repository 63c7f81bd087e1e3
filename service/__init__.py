"""The online half.

onnxruntime's official builds report to their maker unless this is set before it is imported.  Who runs a translation
service of their own wants no such thing; who does can set the variable to 0.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
