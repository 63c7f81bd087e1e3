"""Actors on disk: `<name>.safetensors` and, beside it, `<name>.json` with what is known about the actor."""

import json
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from training.errors import TrainingError
from training.nmt.checkpoint import write_atomically
from training.nmt.model import ModelSizes
from training.policy.actor import PlainActor, new_actor


def save_actor(path: Path, actor: PlainActor, facts: dict[str, Any]) -> None:
    """Write the weights to `path` (*.safetensors) and the facts beside it.

    The facts name `variant`, `hidden`, `sees_previous_word` and `place`, from which `load_actor` builds the network,
    and `objective`, `optimises`, `method` and `gains`, which a bundle's manifest repeats.
    """
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in actor.state_dict().items()}
    write_atomically(path, lambda temporary: save_file(weights, temporary))
    save_facts(path, facts)


def save_facts(path: Path, facts: dict[str, Any]) -> None:
    """Replace what is known about the actor at `path`."""
    text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    write_atomically(path.with_suffix(".json"), lambda temporary: temporary.write_text(text, encoding="utf-8"))


def load_facts(path: Path) -> dict[str, Any]:
    """What is known about the actor at `path` (*.safetensors)."""
    for part in (path, path.with_suffix(".json")):
        if not part.is_file():
            known = sorted(other.stem for other in path.parent.glob("*.safetensors"))
            raise TrainingError(
                f"{part}: no such actor (there is: {', '.join(known) or 'none'}); train it with `nudge-train actor`"
            )
    facts: dict[str, Any] = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return facts


def load_actor(path: Path, sizes: ModelSizes | None = None) -> PlainActor:
    """Read an actor, in evaluation mode and frozen; one made for other sizes than these is refused."""
    facts, weights = load_facts(path), load_file(path)
    state, seen = weights["output.weight"].shape[0], weights["hidden.weight"].shape[1]
    if sizes is not None:
        expected = sizes.decoder + 2 * sizes.encoder + (sizes.embedding if facts["sees_previous_word"] else 0)
        if (state, seen) != (sizes.decoder, expected):
            raise TrainingError(
                f"{path}: acts on states of {state} and sees {seen} numbers, but this model has states of "
                f"{sizes.decoder} and shows {expected}; it was trained on another model"
            )
    # How what it sees is divided into state, context and word does not matter to the shapes.
    shape, place = (state, seen - state, 0), facts.get("place", "before")  # older files do not say: there was but one
    actor = new_actor(shape, facts["variant"], facts["hidden"], sees_previous_word=False, place=place)
    actor.sees_previous_word = facts["sees_previous_word"]
    actor.load_state_dict(weights)
    return actor.eval().requires_grad_(False)
