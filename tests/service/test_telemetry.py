"""What we run on reports to nobody: onnxruntime would, and keeps an identifier of the machine in the home folder."""

import os
import subprocess
import sys

import pytest

LOAD = "import {half}, onnxruntime; onnxruntime.InferenceSession({graph!r}, providers=['CPUExecutionProvider'])"


@pytest.mark.parametrize("half", ["service", "training"])
def test_onnxruntime_leaves_no_trace_of_telemetry(half, toy_models, tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    script = LOAD.format(half=half, graph=str(toy_models / "xa-xb" / "encoder.onnx"))
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, timeout=120)
    assert list(tmp_path.rglob("*")) == []
