"""manifest.json: what a bundle says of itself.  `models/manifest.schema.json` is the authority on its shape."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import jsonschema

from training.config import Decoding
from training.errors import ExportError
from training.export.nodes import Quantisation
from training.export.quantise import WEIGHT_BITS
from training.export.weights import ActorWeights, ModelWeights, unit_ranges

FORMAT = 1
SCHEMA_NAME = "manifest.schema.json"
SPECIAL_IDS = {"pad": 0, "unk": 1, "bos": 2, "eos": 3}
MAX_SOURCE_TOKENS = 200


@dataclass(frozen=True)
class ActorFacts:
    """One actor of a bundle and what is known of it."""

    weights: ActorWeights
    objective: str
    method: str
    optimises: str = ""
    gains: Sequence[Mapping[str, Any]] = ()
    details: Mapping[str, Any] = field(default_factory=dict)  # all that its file says, for those who train on


@dataclass(frozen=True)
class BundleFacts:
    """Everything a manifest says that cannot be read off the bundle's files."""

    source: str
    target: str
    model: ModelWeights
    quantisation: Quantisation
    decoding: Decoding
    tokenizer_files: tuple[str, str]  # names of the source's and the target's subword model
    learnt_by_bytes: str = ""  # characters without a subword that the model knows, see `training.export.spelling`
    spaced_openings: bool = False  # see `training.tokenizer.openings`
    known_words: str | None = None  # name of the file that lists them, see `training.export.known_words`
    actors: Sequence[ActorFacts] = ()
    default_objective: str | None = None
    calibration: Mapping[str, Any] | None = None
    scores: Sequence[Mapping[str, Any]] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    licence: str = "Apache-2.0"
    version: str = "1.0.0"

    @property
    def name(self) -> str:
        return f"{self.source}-{self.target}"


def make_manifest(facts: BundleFacts, files: Mapping[str, bytes], created: datetime) -> dict[str, Any]:
    """Return the manifest of a bundle with these files, validated against the schema."""
    sizes = facts.model.sizes
    units = sum(actor.weights.units for actor in facts.actors)
    ranges = unit_ranges([actor.weights for actor in facts.actors])
    manifest = {
        "format": FORMAT,
        "name": facts.name,
        "version": facts.version,
        "created": created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "source": facts.source,
        "target": facts.target,
        "special_ids": SPECIAL_IDS,
        "sizes": {
            "source_vocabulary": sizes.source_vocabulary,
            "target_vocabulary": sizes.target_vocabulary,
            "state": sizes.decoder,
            "key": sizes.attention,
            "values": 3 * sizes.decoder + sizes.readout + units,
            "actor_units": units,
            "parameters": facts.model.parameters,
        },
        "tokenizer": {"source": facts.tokenizer_files[0], "target": facts.tokenizer_files[1]},
        "learnt_by_bytes": facts.learnt_by_bytes,
        "spaced_openings": facts.spaced_openings,
        **({"known_words": facts.known_words} if facts.known_words else {}),
        "quantisation": (
            {"kind": "int8", "weight_bits": WEIGHT_BITS, "activations": "fixed"}
            if facts.quantisation == "int8"
            else {"kind": "fp32"}
        ),
        "decoding": {**facts.decoding.model_dump(), "max_source_tokens": MAX_SOURCE_TOKENS},
        "calibration": None if facts.calibration is None else dict(facts.calibration),
        "default_objective": facts.default_objective,
        "actors": [
            {
                "name": actor.weights.name,
                "objective": actor.objective,
                "optimises": actor.optimises,
                "method": actor.method,
                "units": list(ranges[actor.weights.name]),
                "gains": [dict(gain) for gain in actor.gains],
            }
            for actor in facts.actors
        ],
        "scores": [dict(score) for score in facts.scores],
        "files": {name: {"sha256": sha256(data), "bytes": len(data)} for name, data in sorted(files.items())},
        "provenance": {
            **facts.provenance,
            "licence": facts.licence,
            "nudge_version": installed_version("nudge-translate"),
        },
    }
    validate_manifest(manifest)
    return manifest


def validate_manifest(manifest: Mapping[str, Any]) -> None:
    """Raise `ExportError` with every way in which a manifest breaks the schema or contradicts itself."""
    validator = jsonschema.Draft202012Validator(load_schema())
    problems = [
        f"{'.'.join(str(part) for part in error.absolute_path) or 'manifest'}: {error.message}"
        for error in sorted(validator.iter_errors(manifest), key=lambda error: list(map(str, error.absolute_path)))
    ]
    if not problems:
        problems = _contradictions(manifest)
    if problems:
        raise ExportError("the manifest is not valid:\n" + "\n".join(f"  - {line:.300}" for line in problems))


def _contradictions(manifest: Mapping[str, Any]) -> list[str]:
    """What a JSON Schema cannot say: names that must exist elsewhere, units that must tile."""
    problems = []
    names = [actor["name"] for actor in manifest["actors"]]
    if len(set(names)) != len(names):
        problems.append(f"actors: the names {names} are not all different")
    if manifest["default_objective"] is not None and manifest["default_objective"] not in names:
        problems.append(f"default_objective: {manifest['default_objective']!r} is none of the actors {names}")
    stop = 0
    for actor in manifest["actors"]:
        if actor["units"][0] != stop or actor["units"][1] <= stop:
            problems.append(f"actors: the units {actor['units']} of {actor['name']!r} do not follow on {stop}")
        stop = actor["units"][1]
    if stop != manifest["sizes"]["actor_units"]:
        problems.append(f"sizes.actor_units: {manifest['sizes']['actor_units']}, but the actors own {stop}")
    problems += [
        f"tokenizer.{side}: {name} is not among the files"
        for side, name in manifest["tokenizer"].items()
        if name not in manifest["files"]
    ]
    return problems


@cache
def load_schema() -> dict[str, Any]:
    """Return the schema: beside this module in an installed package, in `models/` in a source tree."""
    here = Path(__file__).resolve()
    for path in (here.with_name(SCHEMA_NAME), here.parents[2] / "models" / SCHEMA_NAME):
        if path.is_file():
            schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return schema
    raise ExportError(f"{SCHEMA_NAME} is neither beside {here.name} nor in models/: the installation is incomplete")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
