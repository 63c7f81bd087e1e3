"""`nudge-train export` on the toy bundle of the fixtures, unpacked: a trained run without the training."""

import asyncio
import io
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from rich.console import Console
from safetensors.numpy import load_file, save_file
from typer.testing import CliRunner

from service.bundle.loader import load_bundle
from service.bundle.manifest import Manifest
from training.cli import app
from training.corpus.cache import TokenCorpus
from training.corpus.toy import toy_pairs
from training.decoding.hypothesis import LengthLimits
from training.errors import ExportError
from training.export.bundle import read_manifest
from training.export.checkpoint import unpack_bundle
from training.export.sessions import BundleSessions
from training.recipes.export import export
from training.recipes.run_folder import RunFolder, evaluation_files
from training.tokenizer.subwords import Subwords

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "models" / "xa-xb"


@pytest.fixture(scope="module")
def trained(tmp_path_factory, toy_config) -> RunFolder:
    """The run of the fixture's model: weights, tokenizer and actors, with small dev and test sets."""
    path = tmp_path_factory.mktemp("unpacked") / "toy"
    unpack_bundle(FIXTURE, path)
    run = RunFolder.of(toy_config, path)
    for folder, name, seed in ((run.dev, "toy-dev", 2), (run.test, "toy-test", 3)):
        folder.mkdir()
        pairs = list(toy_pairs(60, seed))
        for side, file in enumerate(evaluation_files(folder, name)):
            file.write_text("".join(pair[side] + "\n" for pair in pairs), encoding="utf-8")
    return run


@pytest.fixture
def run(trained, tmp_path) -> RunFolder:
    """A copy to change."""
    shutil.copytree(trained.path, tmp_path / "run")
    return RunFolder(tmp_path / "run", trained.is_joint)


@pytest.fixture(scope="module")
def bundle(trained, toy_config, tmp_path_factory, quiet) -> Path:
    """The run exported whole."""
    out = tmp_path_factory.mktemp("models") / "xa-xb"
    export(toy_config, trained, out, parity_sentences=100, console=quiet)
    return out


def test_bundle_is_complete_and_readable_by_the_service(bundle):
    manifest = Manifest.model_validate_json((bundle / "manifest.json").read_bytes())
    assert manifest.name == "xa-xb"
    assert [actor.name for actor in manifest.actors] == ["bleu", "concise"]
    assert {path.name for path in bundle.iterdir()} == {
        *manifest.files,
        "manifest.json",
        "checkpoint.safetensors",
        "actors.safetensors",
        "training.toml",
    }


def test_export_from_a_shipped_checkpoint_gives_the_shipped_graphs_back(bundle):
    """The int8 graphs are made from the weights in half precision, so unpacking loses nothing."""
    assert (bundle / "encoder.onnx").read_bytes() == (FIXTURE / "encoder.onnx").read_bytes()
    ours, shipped = (weights_of(folder / "step.onnx") for folder in (bundle, FIXTURE))
    assert ours == shipped
    assert {"target_embedding.fp16", "logits.weight", "nudged.product.weight"} <= ours.keys()


def weights_of(graph: Path) -> dict[str, bytes]:
    """Return a graph's constants, but for the activation scales: they are measured on the sentences at hand."""
    initialisers = onnx.load(graph).graph.initializer
    return {one.name: one.raw_data for one in initialisers if not one.name.startswith("activation_scale")}


def test_scores_of_the_shipped_bundle_are_kept(bundle):
    assert read_manifest(bundle)["scores"] == read_manifest(FIXTURE)["scores"]


def test_golden_examples_are_what_the_bundle_gives(bundle, toy_config):
    manifest = read_manifest(bundle)
    units = {actor["name"]: tuple(actor["units"]) for actor in manifest["actors"]} | {None: None}
    lines = [json.loads(line) for line in (bundle / "golden.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {line["objective"] for line in lines} == {None, "bleu", "concise"}
    sessions = BundleSessions.load(bundle)
    for line in lines:
        (output,) = sessions.greedy(
            [line["source_ids"]], LengthLimits.from_config(toy_config.decoding), units[line["objective"]]
        )
        assert list(output.ids) == line["output_ids"]
        assert output.score == pytest.approx(line["score"], abs=1e-3)


def test_one_actor_joins_and_another_leaves_without_touching_the_model(run, toy_config, tmp_path, quiet):
    shutil.copy(run.actor("bleu"), run.actor("mine"))
    facts = json.loads(run.actor("bleu").with_suffix(".json").read_text()) | {"objective": "my:reward", "gains": []}
    run.actor("mine").with_suffix(".json").write_text(json.dumps(facts))
    out = tmp_path / "xa-xb"
    manifest = export(
        toy_config,
        run,
        out,
        actors=["concise", "mine"],
        default_objective="mine",
        parity_sentences=50,
        version="1.1.0",
        console=quiet,
    )
    assert [(a["name"], a["objective"], a["units"]) for a in manifest["actors"]] == [
        ("concise", "concise", [0, 32]),
        ("mine", "my:reward", [32, 64]),
    ]
    assert manifest["default_objective"] == "mine"
    assert manifest["version"] == "1.1.0"
    # Scores of plain decoding are kept; those of the new actor are the export's own.
    assert {score["objective"] for score in manifest["scores"]} == {None, "concise", "mine"}
    ours, shipped = (load_file(folder / "checkpoint.safetensors") for folder in (out, FIXTURE))
    assert all(np.array_equal(ours[name], shipped[name]) for name in shipped)


def test_actors_of_both_places_are_served_from_one_bundle(run, toy_config, tmp_path, quiet):
    """Each is replayed by torch, by the exporter's sessions and by the service's own loader."""
    for name, source, place in (("early", "bleu", "before"), ("late", "concise", "after")):
        weights = load_file(run.actor(source))
        # What was learnt in the one place is too strong in the other.
        save_file(weights | {"output.weight": 0.1 * weights["output.weight"]}, run.actor(name))
        facts = json.loads(run.actor(source).with_suffix(".json").read_text()) | {"place": place, "gains": []}
        run.actor(name).with_suffix(".json").write_text(json.dumps(facts))
    out = tmp_path / "xa-xb"
    manifest = export(toy_config, run, out, actors=["late", "early"], parity_sentences=50, console=quiet)
    assert [(a["name"], a["units"]) for a in manifest["actors"]] == [("late", [0, 33]), ("early", [33, 65])]
    outputs = [json.loads(line) for line in (out / "golden.jsonl").read_text(encoding="utf-8").splitlines()]
    scores = {name: [one["score"] for one in outputs if one["objective"] == name] for name in (None, "late", "early")}
    assert scores[None] != scores["late"] != scores["early"]
    loaded = load_bundle(out)  # raises when the golden examples do not come out as they should
    asyncio.run(loaded.engine.close())
    unpack_bundle(out, tmp_path / "again")
    facts = {
        name: json.loads((tmp_path / "again" / "actors" / f"{name}.json").read_text()) for name in ("late", "early")
    }
    assert {name: one["place"] for name, one in facts.items()} == {"late": "after", "early": "before"}


def test_run_without_actors_gives_a_bundle_without_their_input(run, toy_config, tmp_path, quiet):
    shutil.rmtree(run.actors)
    out = tmp_path / "xa-xb"
    manifest = export(toy_config, run, out, parity_sentences=50, console=quiet)
    assert manifest["actors"] == []
    assert manifest["sizes"]["actor_units"] == 0
    assert BundleSessions.load(out).units == 0
    assert not (out / "actors.safetensors").exists()


def test_fp32_bundle_says_so(run, toy_config, tmp_path, quiet):
    config = toy_config.model_copy(update={"export": toy_config.export.model_copy(update={"quantisation": "fp32"})})
    manifest = export(config, run, tmp_path / "xa-xb", parity_sentences=50, console=quiet)
    assert manifest["quantisation"] == {"kind": "fp32"}


def test_actor_of_another_model_stops_the_export_and_nothing_is_written(run, toy_config, tmp_path, quiet):
    weights = load_file(run.actor("bleu"))
    weights["hidden.weight"] = weights["hidden.weight"][:, :-3].copy()
    save_file(weights, run.actor("bleu"))
    with pytest.raises(ExportError, match="trained on another model"):
        export(toy_config, run, tmp_path / "models" / "xa-xb", parity_sentences=50, console=quiet)
    assert not (tmp_path / "models").exists()


def test_unknown_default_objective_is_refused_before_any_work(run, toy_config, tmp_path, quiet):
    with pytest.raises(ExportError, match=r"'chrf' is none of the bundle's actors \(bleu, concise\)"):
        export(toy_config, run, tmp_path / "xa-xb", default_objective="chrf", console=quiet)


def test_default_objective_without_a_significant_gain_is_said_so(run, toy_config, tmp_path):
    facts = json.loads(run.actor("bleu").with_suffix(".json").read_text())
    gain = {"test_set": "news", "metric": "bleu", "greedy": 30.0, "actor": 31.0, "p": 0.2}
    for p, is_said in ((0.2, True), (0.01, False)):
        run.actor("bleu").with_suffix(".json").write_text(json.dumps(facts | {"gains": [gain | {"p": p}]}))
        console = Console(file=io.StringIO(), width=200)
        export(
            toy_config,
            run,
            tmp_path / f"{p}",
            actors=["bleu"],
            default_objective="bleu",
            parity_sentences=10,
            sentences=20,
            console=console,
        )
        assert ("not known to be significant on news" in console.file.getvalue()) == is_said


def test_default_objective_of_the_config_needs_significant_gains(run, toy_config, tmp_path, quiet):
    wish = toy_config.export.model_copy(update={"default_objective": "bleu"})
    config = toy_config.model_copy(update={"export": wish})
    facts = json.loads(run.actor("bleu").with_suffix(".json").read_text())
    gain = {"test_set": "news", "metric": "bleu", "greedy": 30.0, "actor": 31.0, "p": 0.01}
    for second, default in ((gain, "bleu"), (gain | {"test_set": "talks", "p": 0.2}, None)):
        run.actor("bleu").with_suffix(".json").write_text(json.dumps(facts | {"gains": [gain, second]}))
        out = tmp_path / f"{default}"
        manifest = export(config, run, out, actors=["bleu"], parity_sentences=10, sentences=20, console=quiet)
        assert manifest["default_objective"] == default


def test_command_refuses_to_overwrite_and_says_how(trained, tmp_path):
    (tmp_path / "xa-xb").mkdir()
    result = CliRunner().invoke(app, ["export", "--run", str(trained.path), "--out", str(tmp_path / "xa-xb")])
    assert result.exit_code == 1
    assert "--force" in result.output


def test_command_exports_a_run_by_its_own_config(trained, tmp_path):
    out = tmp_path / "xa-xb"
    arguments = ["--out", str(out), "--actor", "bleu", "--parity-sentences", "20", "--sentences", "60"]
    result = CliRunner().invoke(app, ["export", "--run", str(trained.path), *arguments])
    assert result.exit_code == 0, result.output
    assert [actor["name"] for actor in read_manifest(out)["actors"]] == ["bleu"]


@pytest.fixture
def run_with_text(run) -> RunFolder:
    """A run that knows what it was trained on, as one does that did not begin with a bundle."""
    for name in ("shipped.json", "output.model"):
        (run.path / name).unlink()
    subwords = Subwords.load(run.source_tokenizer)
    sides = zip(*toy_pairs(3000, seed=1), strict=True)
    TokenCorpus.write(run.data, zip(*(subwords.encode_many(side) for side in sides), strict=True))
    return run


def test_only_words_of_the_target_language_are_served(run_with_text, bundle, toy_config, tmp_path, quiet):
    out = tmp_path / "xa-xb"
    manifest = export(toy_config, run_with_text, out, parity_sentences=50, console=quiet)
    assert manifest["tokenizer"] == {"source": "tokenizer.model", "target": "output.model"}
    assert manifest["sizes"]["target_vocabulary"] < manifest["sizes"]["source_vocabulary"]
    outputs, full = (
        [json.loads(line) for line in (folder / "golden.jsonl").read_text().splitlines()] for folder in (out, bundle)
    )
    full = {(line["text"], line["objective"]): line["output"] for line in full}
    common = [line for line in outputs if (line["text"], line["objective"]) in full]
    assert len(common) > 10
    assert all(line["output"] == full[line["text"], line["objective"]] for line in common)


def test_an_export_from_a_bundle_serves_the_bundles_words(run_with_text, toy_config, tmp_path, quiet):
    out, again = tmp_path / "xa-xb", tmp_path / "again"
    export(toy_config, run_with_text, out, parity_sentences=20, console=quiet)
    unpack_bundle(out, tmp_path / "unpacked")
    for name in ("dev", "test"):
        shutil.copytree(run_with_text.path / name, tmp_path / "unpacked" / name)
    export(toy_config, RunFolder(tmp_path / "unpacked"), again, parity_sentences=20, console=quiet)
    assert (again / "output.model").read_bytes() == (out / "output.model").read_bytes()
    assert (again / "step.onnx").read_bytes() == (out / "step.onnx").read_bytes()
