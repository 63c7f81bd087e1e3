import hashlib
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from training.errors import ExportError
from training.export import bundle
from training.export.bundle import read_manifest, write_bundle

CREATED = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
FILES = {
    "encoder.onnx": b"encoder",
    "step.onnx": b"step",
    "tokenizer.model": b"subwords",
    "golden.jsonl": b"{}\n",
    "MODEL_CARD.md": b"# card\n",
}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_bundle_holds_its_files_and_their_checksums(tmp_path, facts):
    folder = tmp_path / "models" / "xa-xb"
    manifest = write_bundle(folder, facts, FILES, created=CREATED, beside={"checkpoint.safetensors": b"half"})
    assert read_manifest(folder) == manifest
    assert names(folder) == sorted([*FILES, "manifest.json", "checkpoint.safetensors"])
    assert names(folder.parent) == ["xa-xb"]
    assert manifest["files"].keys() == FILES.keys()
    for name, data in FILES.items():
        assert (folder / name).read_bytes() == data
        assert manifest["files"][name] == {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def test_manifest_says_what_the_weights_are(tmp_path, facts):
    manifest = write_bundle(tmp_path / "xa-xb", facts, FILES, created=CREATED)
    assert manifest["name"] == "xa-xb"
    assert manifest["created"] == "2026-01-31T12:00:00Z"
    assert manifest["sizes"] == {
        "source_vocabulary": 61,
        "target_vocabulary": 53,
        "state": 24,
        "key": 8,
        "values": 3 * 24 + 14 + 9,
        "actor_units": 9,
        "parameters": facts.model.parameters,
    }
    assert [(actor["name"], actor["units"]) for actor in manifest["actors"]] == [("first", [0, 6]), ("second", [6, 9])]
    assert manifest["quantisation"] == {"kind": "int8", "weight_bits": 7, "activations": "fixed"}


def test_time_of_another_zone_is_written_as_utc(tmp_path, facts):
    created = CREATED.astimezone(timezone(timedelta(hours=2)))
    assert write_bundle(tmp_path / "xa-xb", facts, FILES, created=created)["created"] == "2026-01-31T12:00:00Z"


def test_existing_bundle_is_left_alone_without_force(tmp_path, facts):
    folder = tmp_path / "xa-xb"
    write_bundle(folder, facts, FILES, created=CREATED)
    with pytest.raises(ExportError, match="--force"):
        write_bundle(folder, facts, {**FILES, "step.onnx": b"other"}, created=CREATED)
    assert (folder / "step.onnx").read_bytes() == b"step"


def test_force_replaces_the_whole_folder(tmp_path, facts):
    folder = tmp_path / "xa-xb"
    write_bundle(folder, facts, FILES, created=CREATED, beside={"training.toml": b"old"})
    write_bundle(folder, facts, {**FILES, "step.onnx": b"other"}, created=CREATED, force=True)
    assert (folder / "step.onnx").read_bytes() == b"other"
    assert not (folder / "training.toml").exists()
    assert names(tmp_path) == ["xa-xb"]


def test_force_never_replaces_a_folder_that_is_no_bundle(tmp_path, facts):
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter1.tex").write_text("…")
    with pytest.raises(ExportError, match="not a bundle"):
        write_bundle(folder, facts, FILES, created=CREATED, force=True)
    assert names(folder) == ["chapter1.tex"]


def test_manifest_that_breaks_the_schema_leaves_nothing_behind(tmp_path, facts):
    files = {name: data for name, data in FILES.items() if name != "golden.jsonl"}
    with pytest.raises(ExportError, match=r"golden\.jsonl"):
        write_bundle(tmp_path / "xa-xb", facts, files, created=CREATED)
    assert names(tmp_path) == []


def test_full_disk_leaves_the_old_bundle_and_no_rubbish(tmp_path, facts, monkeypatch):
    folder = tmp_path / "xa-xb"
    write_bundle(folder, facts, FILES, created=CREATED)
    write_durably = bundle._write_durably

    def fail_at_the_manifest(path, data):
        if path.name == "manifest.json":
            raise OSError(28, "No space left on device")
        write_durably(path, data)

    monkeypatch.setattr(bundle, "_write_durably", fail_at_the_manifest)
    with pytest.raises(OSError, match="No space"):
        write_bundle(folder, facts, {**FILES, "step.onnx": b"other"}, created=CREATED, force=True)
    assert names(tmp_path) == ["xa-xb"]
    assert (folder / "step.onnx").read_bytes() == b"step"
    assert json.loads((folder / "manifest.json").read_text())["name"] == "xa-xb"


def test_folder_without_a_manifest_is_no_bundle(tmp_path):
    with pytest.raises(ExportError, match="not a bundle"):
        read_manifest(tmp_path)


def test_manifest_that_is_not_json_is_said_so(tmp_path):
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(ExportError, match="not JSON"):
        read_manifest(tmp_path)
