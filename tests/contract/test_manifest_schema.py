"""models/manifest.schema.json describes what a bundle's manifest may be, and both halves agree with it."""

import copy
import hashlib
import json
from pathlib import Path

import jsonschema
import pytest
from pydantic import ValidationError

from service.bundle.manifest import Manifest
from training.errors import ExportError
from training.export.manifest import load_schema, validate_manifest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA_FILE = ROOT / "models" / "manifest.schema.json"


def contract_example() -> dict:
    """The manifest printed in CONTRACT.md, made complete where it abbreviates."""
    text = (ROOT / "models" / "CONTRACT.md").read_text(encoding="utf-8")
    example = json.loads(text.split("```json\n")[1].split("```")[0])
    names = [
        "encoder.onnx",
        "step.onnx",
        "tokenizer.model",
        "output.model",
        "golden.jsonl",
        "MODEL_CARD.md",
        "known_words.txt",
    ]
    example["files"] = {name: {"sha256": "0" * 64, "bytes": 1} for name in names}
    return example


@pytest.fixture
def manifest() -> dict:
    return contract_example()


def test_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


def test_exporter_validates_against_the_schema_in_models():
    assert load_schema() == json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))


def test_example_of_the_contract_is_valid_for_both_halves(manifest):
    validate_manifest(manifest)
    assert Manifest.model_validate_json(json.dumps(manifest)).name == "de-en"


def test_bundle_without_actors_is_valid_for_both_halves(manifest):
    manifest["actors"] = []
    manifest["sizes"]["actor_units"] = 0
    manifest["calibration"] = None
    manifest["quantisation"] = {"kind": "fp32"}
    validate_manifest(manifest)
    Manifest.model_validate_json(json.dumps(manifest))


BROKEN = {
    "another format": (("format",), 2),
    "no version number": (("version",), "one"),
    "time without zone": (("created",), "2026-01-31 12:00"),
    "language name instead of code": (("source",), "German"),
    "negative special id": (("special_ids", "pad"), -1),
    "vocabulary of zero": (("sizes", "target_vocabulary"), 0),
    "size as text": (("sizes", "state"), "512"),
    "unknown size": (("sizes", "heads"), 8),
    "tokenizer outside the folder": (("tokenizer", "source"), "../tokenizer.model"),
    "unknown quantisation": (("quantisation", "kind"), "int4"),
    "length ratio of zero": (("decoding", "max_length_ratio"), 0),
    "unknown decoding option": (("decoding", "temperature"), 1.0),
    "calibration without a slope": (("calibration",), {"intercept": 1.0, "meaning": "m", "fitted_on": "f"}),
    "actor with a space in its name": (("actors", 0, "name"), "my actor"),
    "units of one number": (("actors", 0, "units"), [0]),
    "units of three numbers": (("actors", 0, "units"), [0, 32, 64]),
    "gain without a metric": (("actors", 0, "gains", 0), {"test_set": "t", "greedy": 1.0, "actor": 2.0}),
    "unknown key of an actor": (("actors", 0, "strength"), 1.0),
    "short checksum": (("files", "step.onnx", "sha256"), "abc"),
    "file outside the folder": (("files", "a/b.onnx"), {"sha256": "0" * 64, "bytes": 1}),
    "unknown key": (("surprise",), True),
}
"""What a broken manifest has where; both halves must refuse each."""


@pytest.mark.parametrize("problem", BROKEN)
def test_broken_manifest_is_refused_by_both_halves(manifest, problem):
    path, value = BROKEN[problem]
    put(manifest, path, value)
    with pytest.raises(ExportError):
        validate_manifest(manifest)
    if problem == "another format":  # the service compares the number before it reads the rest
        return
    if problem in LENIENT:
        return
    with pytest.raises(ValidationError):
        Manifest.model_validate_json(json.dumps(manifest))


LENIENT = {"no version number", "time without zone", "size as text"}
"""What the service may read and the exporter must not write."""


@pytest.mark.parametrize("key", ["format", "sizes", "tokenizer", "files", "actors", "provenance", "calibration"])
def test_manifest_without_a_required_key_is_refused(manifest, key):
    del manifest[key]
    with pytest.raises(ExportError, match=key):
        validate_manifest(manifest)


@pytest.mark.parametrize(
    "name", ["encoder.onnx", "step.onnx", "golden.jsonl", "MODEL_CARD.md", "tokenizer.model", "output.model"]
)
def test_manifest_without_a_required_file_is_refused(manifest, name):
    del manifest["files"][name]
    with pytest.raises(ExportError, match=name):
        validate_manifest(manifest)


def test_every_problem_is_reported_at_once(manifest):
    manifest["version"] = "x"
    manifest["sizes"]["key"] = -1
    with pytest.raises(ExportError) as error:
        validate_manifest(manifest)
    assert "version" in str(error.value)
    assert "sizes.key" in str(error.value)


CONTRADICTIONS = {
    "default objective that is no actor": (("default_objective",), "chrf"),
    "units beyond the last": (("sizes", "actor_units"), 31),
    "units with a gap": (("actors", 0, "units"), [1, 32]),
    "tokenizer that is not a file": (("tokenizer", "target"), "target.model"),
}


@pytest.mark.parametrize("problem", CONTRADICTIONS)
def test_manifest_that_contradicts_itself_is_refused(manifest, problem):
    put(manifest, *CONTRADICTIONS[problem])
    with pytest.raises(ExportError):
        validate_manifest(manifest)


def test_two_actors_of_one_name_are_refused(manifest):
    second = copy.deepcopy(manifest["actors"][0])
    second["units"] = [32, 64]
    manifest["actors"].append(second)
    manifest["sizes"]["actor_units"] = 64
    with pytest.raises(ExportError, match="not all different"):
        validate_manifest(manifest)


def put(target, path, value):
    for part in path[:-1]:
        target = target[part]
    target[path[-1]] = value


def bundles() -> list[Path]:
    folders = [ROOT / "tests" / "fixtures" / "models", ROOT / "models"]
    return sorted(path.parent for folder in folders for path in folder.glob("*/manifest.json"))


@pytest.mark.parametrize("bundle", bundles(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_bundle_in_the_tree_is_what_its_manifest_says(bundle):
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    validate_manifest(manifest)
    assert manifest["name"] == bundle.name
    for name, facts in manifest["files"].items():
        data = (bundle / name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (facts["bytes"], facts["sha256"]), name
    assert sum(facts["bytes"] for facts in manifest["files"].values()) <= 20_000_000
    if (bundle / "checkpoint.safetensors").exists():
        assert (bundle / "checkpoint.safetensors").stat().st_size <= 25_000_000
