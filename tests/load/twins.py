"""A bundle's twins with fewer actors, made from the checkpoint beside it: what an actor costs is what they save.

Inside one bundle every row pays for all actors, whether one of them acts or not, so there is nothing to compare with.
"""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from safetensors.numpy import load_file

from training.export.actor_files import read_actors
from training.export.bundle import GOLDEN_NAME, MANIFEST_NAME, read_manifest
from training.export.checkpoint import CHECKPOINT_NAME, unpack_bundle
from training.export.graph import build_graphs
from training.export.manifest import sha256, validate_manifest
from training.export.output_words import OUTPUT_TOKENIZER, restrict_model, words_of
from training.export.weights import model_weights, rounded_to_half, unit_ranges


def make_twin(bundle: Path, twin: Path, actors: Sequence[str]) -> None:
    """Write the bundle to `twin` with these of its actors only."""
    if not (bundle / CHECKPOINT_NAME).is_file():
        raise SystemExit(f"{bundle} has no {CHECKPOINT_NAME} to make a bundle with fewer actors from")
    manifest = read_manifest(bundle)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        unpack_bundle(bundle, run)
        weights = model_weights(load_file(run / "model.safetensors"))
        kept, _ = read_actors(run / "actors", weights.sizes, actors) if actors else ([], {})
    tokenizers = {name: (bundle / name).read_bytes() for name in set(manifest["tokenizer"].values())}
    if OUTPUT_TOKENIZER in tokenizers:
        joint = tokenizers[manifest["tokenizer"]["source"]]
        weights = restrict_model(weights, words_of(joint, tokenizers[OUTPUT_TOKENIZER]))
    kind = manifest["quantisation"]["kind"]
    graphs = build_graphs(
        rounded_to_half(weights) if kind == "int8" else weights,
        [actor.weights for actor in kept],
        kind,
        state_range=manifest["provenance"].get("state_range", 1.0),
    )
    golden = (bundle / GOLDEN_NAME).read_bytes().splitlines(keepends=True)
    files = {
        **{name: (bundle / name).read_bytes() for name in manifest["files"]},
        "encoder.onnx": graphs.encoder,
        "step.onnx": graphs.step,
        GOLDEN_NAME: b"".join(line for line in golden if json.loads(line)["objective"] in (None, *actors)),
    }
    units = unit_ranges([actor.weights for actor in kept])
    unused = manifest["sizes"]["actor_units"] - sum(stop - start for start, stop in units.values())
    manifest["sizes"]["actor_units"] -= unused
    manifest["sizes"]["values"] -= unused
    manifest["actors"] = [
        actor | {"units": list(units[actor["name"]])} for actor in manifest["actors"] if actor["name"] in actors
    ]
    manifest["default_objective"] = None
    manifest["files"] = {name: {"sha256": sha256(data), "bytes": len(data)} for name, data in files.items()}
    validate_manifest(manifest)
    twin.mkdir(parents=True)
    for name, data in files.items():
        (twin / name).write_bytes(data)
    (twin / MANIFEST_NAME).write_text(json.dumps(manifest, ensure_ascii=False), encoding="utf-8")
