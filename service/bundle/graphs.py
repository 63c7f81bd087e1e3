"""Open the two graphs of a bundle and see that they are what the manifest says."""

from pathlib import Path
from typing import Any

import onnxruntime as ort

from service.bundle.errors import BundleRefused
from service.bundle.manifest import Manifest, Sizes
from service.engine.sessions import open_session
from service.engine.shape import ModelShape

# Name -> (type, dimensions); a letter is any length, a number must be met.
Signature = dict[str, tuple[str, tuple[str | int, ...]]]


def encoder_signature(sizes: Sizes) -> tuple[Signature, Signature]:
    inputs: Signature = {"source_ids": ("int64", ("B", "S")), "source_mask": ("float", ("B", "S"))}
    outputs: Signature = {
        "keys": ("float", ("B", "S", sizes.key)),
        "values": ("float", ("B", "S", sizes.values)),
        "state": ("float", ("B", sizes.state)),
    }
    return inputs, outputs


def step_signature(sizes: Sizes) -> tuple[Signature, Signature]:
    inputs: Signature = {
        "previous_ids": ("int64", ("B",)),
        "state": ("float", ("B", sizes.state)),
        "keys": ("float", ("B", "S", sizes.key)),
        "values": ("float", ("B", "S", sizes.values)),
        "source_bias": ("float", ("B", "S")),
    }
    if sizes.actor_units:
        inputs["actor_gain"] = ("float", ("B", sizes.actor_units))
    outputs: Signature = {
        "log_probabilities": ("float", ("B", sizes.target_vocabulary)),
        "next_state": ("float", ("B", sizes.state)),
    }
    return inputs, outputs


def open_graph(
    folder: Path, name: str, model: bytes, signature: tuple[Signature, Signature], threads: int
) -> ort.InferenceSession:
    """Return a session of the graph, or raise `BundleRefused`."""
    try:
        session = open_session(model, threads)
    except Exception as error:  # onnxruntime raises classes of its own that share no public base
        raise BundleRefused(folder, f"{name} is not a graph onnxruntime can run: {error}") from error
    problems = []
    for role, expected, found in (
        ("input", signature[0], session.get_inputs()),
        ("output", signature[1], session.get_outputs()),
    ):
        problems += _differences(role, expected, {node.name: node for node in found})
    if problems:
        raise BundleRefused(folder, f"{name} does not fit the manifest: {'; '.join(problems)}")
    return session


def _differences(role: str, expected: Signature, found: dict[str, Any]) -> list[str]:
    problems = [f"{role} {name} is missing" for name in expected if name not in found]
    problems += [f"{role} {name} is not known" for name in found if name not in expected]
    for name, (kind, dimensions) in expected.items():
        node = found.get(name)
        if node is None:
            continue
        fits = node.type == f"tensor({kind})" and len(node.shape) == len(dimensions)
        fits = fits and all(
            not isinstance(actual, int) if isinstance(wanted, str) else actual == wanted
            for actual, wanted in zip(node.shape, dimensions, strict=False)
        )
        if not fits:
            problems.append(f"{role} {name} is {node.type} {node.shape}, not tensor({kind}) {list(dimensions)}")
    return problems


def model_shape(manifest: Manifest) -> ModelShape:
    """Return what the engine must know of the model."""
    sizes, decoding, ids = manifest.sizes, manifest.decoding, manifest.special_ids
    return ModelShape(
        source_vocabulary=sizes.source_vocabulary,
        target_vocabulary=sizes.target_vocabulary,
        state=sizes.state,
        key=sizes.key,
        values=sizes.values,
        actor_units=sizes.actor_units,
        units_of_actors=tuple(actor.units for actor in manifest.actors),
        pad_id=ids.pad,
        bos_id=ids.bos,
        eos_id=ids.eos,
        max_source_tokens=decoding.max_source_tokens,
        max_length=decoding.max_length,
        max_length_ratio=decoding.max_length_ratio,
        max_length_extra=decoding.max_length_extra,
    )
