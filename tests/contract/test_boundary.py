"""The two halves meet in a bundle on disk and nowhere else."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import service

SERVICE = Path(service.__file__).parent
ROOT = SERVICE.parent
FOREIGN = ("torch", "training", "onnx", "sacrebleu", "matplotlib", "tensorboard", "safetensors")

IMPORT_ALL_AND_TELL = """
import importlib, json, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
print(json.dumps(sorted(sys.modules)))
"""


def service_files() -> list[Path]:
    return sorted(path for path in SERVICE.rglob("*.py") if "__pycache__" not in path.parts)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def needs_the_cluster_extra(path: Path) -> bool:
    return path.name == "cluster.py"


def test_importing_the_whole_service_imports_nothing_of_the_offline_half() -> None:
    names = [module_name(path) for path in service_files() if not needs_the_cluster_extra(path)]
    assert "service" in names
    result = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL_AND_TELL, json.dumps(names)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    loaded = json.loads(result.stdout.splitlines()[-1])
    assert set(names) <= set(loaded)
    assert [name for name in loaded if name.split(".")[0] in FOREIGN] == []


@pytest.mark.parametrize("path", service_files(), ids=module_name)
def test_no_service_module_names_the_offline_half_in_an_import(path: Path) -> None:
    assert [name for name in imported_names(path.read_text(encoding="utf-8")) if name.split(".")[0] in FOREIGN] == []


def imported_names(code: str) -> list[str]:
    """Every module that `code` imports anywhere, in functions and under conditions too."""
    names: list[str] = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.append(node.module)
    return names


def test_imports_are_found_wherever_they_hide() -> None:
    code = "import torch.nn\ndef f():\n    from training.config import Config\n    from . import near\n"
    assert imported_names(code) == ["torch.nn", "training.config"]
