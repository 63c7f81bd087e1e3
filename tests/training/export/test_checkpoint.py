import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from safetensors.numpy import load_file

from training.config import Config
from training.errors import ExportError
from training.export.actor_files import read_actors
from training.export.bundle import write_bundle
from training.export.checkpoint import pack_actors, pack_model, portable_description, unpack_bundle
from training.nmt.checkpoint import load_model

CONFIG = Config.model_validate(
    {
        "name": "small",
        "languages": {"source": "xa", "target": "xb"},
        "corpus": {"train": [{"tsv": "/home/someone/secret/train.tsv"}], "dev": {"dev": {"toy": 10}}},
    }
)


@pytest.fixture
def bundle(tmp_path, facts, model):
    sizes = {**vars(model.sizes), "tie_output": False}
    description = portable_description(CONFIG, {"config": {}, "sizes": sizes, "training": {"steps": 7}})
    files = {
        "encoder.onnx": b"e",
        "step.onnx": b"s",
        "tokenizer.model": b"subwords",
        "golden.jsonl": b"",
        "MODEL_CARD.md": b"",
    }
    beside = {
        "checkpoint.safetensors": pack_model(model, description),
        "actors.safetensors": pack_actors(facts.actors),
        "training.toml": b'name = "small"\n',
    }
    folder = tmp_path / "xa-xb"
    write_bundle(folder, facts, files, created=datetime(2026, 1, 1, tzinfo=UTC), beside=beside)
    return folder


def test_unpacked_bundle_is_a_run_with_the_same_model_in_half_precision(bundle, model, tmp_path):
    unpack_bundle(bundle, tmp_path / "run")
    loaded, config = load_model(tmp_path / "run")
    for name, tensor in loaded.state_dict().items():
        np.testing.assert_array_equal(tensor.numpy(), model[name].astype(np.float16).astype(np.float32))
    assert config.name == "small"
    assert (tmp_path / "run" / "tokenizer.model").read_bytes() == b"subwords"
    assert json.loads((tmp_path / "run" / "shipped.json").read_text())["name"] == "xa-xb"
    assert (tmp_path / "run" / "training.toml").is_file()


def test_a_list_of_known_words_comes_along(facts, model, tmp_path):
    sizes = {**vars(model.sizes), "tie_output": False}
    files = dict.fromkeys(("encoder.onnx", "step.onnx", "tokenizer.model", "golden.jsonl", "MODEL_CARD.md"), b"")
    write_bundle(
        tmp_path / "xa-xb",
        replace(facts, known_words="known_words.txt"),
        {**files, "known_words.txt": b"ta\n"},
        created=datetime(2026, 1, 1, tzinfo=UTC),
        beside={"checkpoint.safetensors": pack_model(model, portable_description(CONFIG, {"sizes": sizes}))},
    )
    unpack_bundle(tmp_path / "xa-xb", tmp_path / "run")
    assert (tmp_path / "run" / "known_words.txt").read_bytes() == b"ta\n"


def test_unpacked_actors_are_the_packed_ones(bundle, facts, model, tmp_path):
    unpack_bundle(bundle, tmp_path / "run")
    actors, left_out = read_actors(tmp_path / "run" / "actors", model.sizes)
    assert left_out == {}
    for actor, packed in zip(actors, facts.actors, strict=True):
        np.testing.assert_array_equal(actor.weights.hidden, packed.weights.hidden)
        np.testing.assert_array_equal(actor.weights.output, packed.weights.output)
        assert (actor.weights.name, actor.objective, actor.method) == (
            packed.weights.name,
            packed.objective,
            packed.method,
        )
        assert list(actor.gains) == list(packed.gains)


def test_no_folder_of_the_training_machine_is_shipped(bundle):
    assert b"secret" not in (bundle / "checkpoint.safetensors").read_bytes()
    assert b"train.tsv" in (bundle / "checkpoint.safetensors").read_bytes()


def test_existing_run_is_not_overwritten(bundle, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "model.safetensors").write_bytes(b"precious")
    with pytest.raises(ExportError, match=r"already has model\.safetensors"):
        unpack_bundle(bundle, run)
    assert (run / "model.safetensors").read_bytes() == b"precious"


def test_bundle_without_a_checkpoint_cannot_be_unpacked(bundle, tmp_path):
    (bundle / "checkpoint.safetensors").unlink()
    with pytest.raises(ExportError, match=r"checkpoint\.safetensors cannot be read"):
        unpack_bundle(bundle, tmp_path / "run")


def test_tied_output_is_stored_once(model, tmp_path):
    path = tmp_path / "tied.safetensors"
    path.write_bytes(pack_model(replace(model, is_tied=True), {}))
    assert "output.weight" not in load_file(path)
