"""Trained actors on disk: `actors/<name>.safetensors` with the weights and `<name>.json` with what is known of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file

from training.errors import ExportError
from training.export.manifest import ActorFacts
from training.export.weights import ACTOR_PARAMETERS, Sizes, actor_weights


def read_actors(
    folder: Path, sizes: Sizes, names: Sequence[str] | None = None
) -> tuple[list[ActorFacts], dict[str, str]]:
    """Read the named actors in that order, or all that a bundle can hold, by name.

    Returned beside them: the actors left out when none are named, with the reason.
    """
    found = {path.stem: path for path in sorted(folder.glob("*.safetensors"))}
    unknown = [name for name in names or () if name not in found]
    if unknown:
        known = ", ".join(found) or "none"
        raise ExportError(
            f"{folder} has no actor called {', '.join(unknown)} (there is: {known});"
            " train it with `nudge-train actor`, or name another with --actor"
        )
    if names is not None:
        return [read_actor(found[name], sizes) for name in names], {}
    left_out = {name: reason for name, path in found.items() if (reason := _why_not(path))}
    return [read_actor(path, sizes) for name, path in found.items() if name not in left_out], left_out


def _why_not(path: Path) -> str | None:
    """Why a bundle cannot hold this actor, if it cannot."""
    try:
        with safe_open(path, framework="np") as file:
            extra = sorted(set(file.keys()) - ACTOR_PARAMETERS)
    except (OSError, SafetensorError) as error:
        return f"cannot be read: {error}"
    return f"has {', '.join(extra)}, which the step graph does not compute" if extra else None


def read_actor(path: Path, sizes: Sizes) -> ActorFacts:
    """Read one actor; what its JSON does not say is left to defaults, except objective and method."""
    facts = _read_facts(path.with_suffix(".json"))
    try:
        weights = actor_weights(path.stem, load_file(path), sizes, acts_after=facts.get("place") == "after")
    except (OSError, SafetensorError) as error:
        raise ExportError(f"{path} cannot be read: {error}") from None
    missing = [key for key in ("objective", "method") if not facts.get(key)]
    if missing:
        raise ExportError(f"{path.with_suffix('.json')} does not say the actor's {' and '.join(missing)}")
    return ActorFacts(
        weights=weights,
        objective=str(facts["objective"]),
        method=str(facts["method"]),
        optimises=str(facts.get("optimises", "")),
        gains=list(facts.get("gains", [])),
        details=facts,
    )


def _read_facts(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ExportError(f"{path} is missing: it says what the actor was trained for") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ExportError(f"{path} is not JSON: {error}") from None
    if not isinstance(facts, dict):
        raise ExportError(f"{path} holds a {type(facts).__name__}, not an object")
    return facts
