"""The weights an export starts from: plain numpy arrays by the checkpoint's names, with their shapes checked.

Shapes:  Vs source vocabulary · Vt target vocabulary · E embedding · N encoder units per direction · A annotation = 2N
         H decoder state · K attention key · R readout · U hidden units of one actor
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.config.model import HIDDEN_RATIO
from training.errors import ExportError

Array = NDArray[np.float32]

ALWAYS_ON = 1e4
"""Pre-activation at which a σ is exactly 1."""
ACTOR_PARAMETERS = {"hidden.weight", "hidden.bias", "output.weight"}


@dataclass(frozen=True)
class Sizes:
    """Every size of the model, read off the shapes of its weights."""

    source_vocabulary: int
    target_vocabulary: int
    embedding: int
    encoder: int
    decoder: int
    attention: int
    readout: int
    refinement: int = 0  # layers

    @property
    def annotation(self) -> int:
        return 2 * self.encoder

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the name and shape of every parameter of the model."""
        E, N, H, K, R, A = (
            self.embedding,
            self.encoder,
            self.decoder,
            self.attention,
            self.readout,
            self.annotation,
        )
        return {
            "source_embedding.weight": (self.source_vocabulary, E),
            "encoder.input_weight": (2, 3 * N, E),
            "encoder.input_bias": (2, 3 * N),
            "encoder.state_weight": (2, 3 * N, N),
            "encoder.state_bias": (2, 3 * N),
            "initial_state.weight": (H, N),
            "initial_state.bias": (H,),
            "attention.key.weight": (K, A),
            "attention.key.bias": (K,),
            "attention.query.weight": (K, H),
            "attention.energy": (K,),
            "target_embedding.weight": (self.target_vocabulary, E),
            "decoder.word.weight": (3 * H, E),
            "decoder.context.weight": (3 * H, A),
            "decoder.state.weight": (3 * H, H),
            "decoder.input_bias": (3 * H,),
            "decoder.state_bias": (3 * H,),
            "readout.state.weight": (R, H),
            "readout.context.weight": (R, A),
            "readout.word.weight": (R, E),
            "readout.bias": (R,),
            "output.weight": (self.target_vocabulary, R),
            "output.bias": (self.target_vocabulary,),
        } | {name: shape for layer in range(self.refinement) for name, shape in self._refining_shapes(layer)}

    def _refining_shapes(self, layer: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        A, hidden = self.annotation, HIDDEN_RATIO * self.annotation
        for name, outputs, inputs in (
            ("attention_in", 3 * A // 2, A),
            ("attention_out", A, A // 2),
            ("hidden", hidden, A),
            ("hidden_out", A, hidden),
        ):
            yield f"refinement.{layer}.{name}.weight", (outputs, inputs)
            yield f"refinement.{layer}.{name}.bias", (outputs,)


@dataclass(frozen=True)
class ModelWeights:
    """The translation model's parameters as float32 arrays; `output.weight` is always present, tied or not."""

    sizes: Sizes
    arrays: Mapping[str, Array]
    is_tied: bool = False

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    @property
    def parameters(self) -> int:
        """Number of trained numbers; a tied output layer counts once."""
        total = sum(array.size for array in self.arrays.values())
        return total - self.arrays["output.weight"].size if self.is_tied else total


@dataclass(frozen=True)
class ActorWeights:
    """One actor:  action = output · tanh(hidden · [z; c (; previous embedding)] + bias).

    hidden [U, H + A (+ E)] · bias [U] · output [H, U].  The action is added to the state that the recurrence receives,
    or (`acts_after`) to the one that it returns.
    """

    name: str
    hidden: Array
    bias: Array
    output: Array
    acts_after: bool = False

    @property
    def units(self) -> int:
        """Columns of the gain that are this actor's."""
        return int(self.bias.shape[0]) + self.acts_after

    def as_gates(self) -> "ActorWeights":
        """The same actor with σ in place of tanh, since a σ is what the recurrence's gates have anyway.

        tanh(x) = 2 σ(2x) − 1:  the last unit is always on, and takes the ones away.
        """
        _, inputs = self.hidden.shape
        return ActorWeights(
            self.name,
            np.concatenate([2 * self.hidden, np.zeros((1, inputs), np.float32)]),
            np.concatenate([2 * self.bias, np.array([ALWAYS_ON], np.float32)]),
            np.concatenate([2 * self.output, -self.output.sum(axis=1, keepdims=True)], axis=1),
        )

    def sees_previous_word(self, sizes: Sizes) -> bool:
        return self.hidden.shape[1] == sizes.decoder + sizes.annotation + sizes.embedding


def model_weights(state: Mapping[str, Any]) -> ModelWeights:
    """Check a checkpoint's arrays and return them as float32; every problem is reported at once."""
    arrays = {name: np.ascontiguousarray(value, dtype=np.float32) for name, value in state.items()}
    is_tied = "output.weight" not in arrays
    if is_tied and "target_embedding.weight" in arrays:
        arrays["output.weight"] = arrays["target_embedding.weight"]
    try:
        sizes = Sizes(
            source_vocabulary=arrays["source_embedding.weight"].shape[0],
            target_vocabulary=arrays["target_embedding.weight"].shape[0],
            embedding=arrays["source_embedding.weight"].shape[1],
            encoder=arrays["encoder.state_weight"].shape[2],
            decoder=arrays["decoder.state.weight"].shape[1],
            attention=arrays["attention.energy"].shape[0],
            readout=arrays["readout.bias"].shape[0],
            refinement=sum(name.endswith(".hidden.weight") for name in arrays),
        )
    except (KeyError, IndexError) as error:
        raise ExportError(f"not a translation model's checkpoint: {error} is missing or has too few axes") from None
    expected = sizes.shapes()
    problems = [f"missing {name} {list(shape)}" for name, shape in expected.items() if name not in arrays]
    problems += [f"unknown {name}" for name in arrays if name not in expected]
    problems += [
        f"{name} is {list(arrays[name].shape)}, expected {list(shape)}"
        for name, shape in expected.items()
        if name in arrays and arrays[name].shape != shape
    ]
    problems += [f"{name} holds NaN or infinity" for name, array in arrays.items() if not np.isfinite(array).all()]
    if problems:
        raise ExportError("the checkpoint cannot be exported:\n" + "\n".join(f"  - {line}" for line in problems))
    return ModelWeights(sizes, arrays, is_tied)


def actor_weights(name: str, state: Mapping[str, Any], sizes: Sizes, *, acts_after: bool = False) -> ActorWeights:
    """Check one actor's arrays against the model it nudges."""
    if set(state) != ACTOR_PARAMETERS:
        raise ExportError(
            f"actor {name!r} has the parameters {sorted(state)}; a bundle can hold actors with exactly"
            f" {sorted(ACTOR_PARAMETERS)} (one tanh layer, no output bias)"
        )
    hidden, bias, output = (
        np.ascontiguousarray(state[key], dtype=np.float32) for key in ("hidden.weight", "hidden.bias", "output.weight")
    )
    observed = sizes.decoder + sizes.annotation
    if (
        hidden.ndim != 2
        or hidden.shape[1] not in (observed, observed + sizes.embedding)
        or bias.shape != hidden.shape[:1]
        or output.shape != (sizes.decoder, hidden.shape[0])
    ):
        raise ExportError(
            f"actor {name!r} has hidden {list(hidden.shape)}, bias {list(bias.shape)}, output {list(output.shape)};"
            f" this model needs hidden [U, {observed}] (or [U, {observed + sizes.embedding}] with the previous word),"
            f" bias [U], output [{sizes.decoder}, U]: was the actor trained on another model?"
        )
    if not all(np.isfinite(array).all() for array in (hidden, bias, output)):
        raise ExportError(f"actor {name!r} holds NaN or infinity: its training diverged; train it again")
    return ActorWeights(name, hidden, bias, output, acts_after)


def rounded_to_half(model: ModelWeights) -> ModelWeights:
    """Return the weights as the fp16 checkpoint beside a bundle holds them.

    An int8 bundle is made from these, so that one made again from the shipped checkpoint, with an actor more, has
    exactly the same translation model.
    """
    arrays = {name: array.astype(np.float16).astype(np.float32) for name, array in model.arrays.items()}
    return model_weights({name: arrays[name] for name in arrays if not (model.is_tied and name == "output.weight")})


def random_weights(sizes: Sizes, seed: int = 0, scale: float = 0.1) -> ModelWeights:
    """Return a model of normally distributed weights: it translates nothing, but has every shape."""
    generator = np.random.default_rng(seed)
    state = {name: generator.normal(0, scale, shape).astype(np.float32) for name, shape in sizes.shapes().items()}
    return model_weights(state)


def random_actor(
    name: str,
    units: int,
    sizes: Sizes,
    seed: int = 0,
    scale: float = 0.1,
    sees_previous_word: bool = False,
    acts_after: bool = False,
) -> ActorWeights:
    """Return an actor of random weights, for graphs that need one before any is trained."""
    generator = np.random.default_rng(seed)
    inputs = sizes.decoder + sizes.annotation + (sizes.embedding if sees_previous_word else 0)
    state = {
        "hidden.weight": generator.normal(0, scale, (units, inputs)),
        "hidden.bias": generator.normal(0, scale, units),
        "output.weight": generator.normal(0, scale, (sizes.decoder, units)),
    }
    return actor_weights(name, state, sizes, acts_after=acts_after)


def unit_ranges(actors: Sequence[ActorWeights]) -> dict[str, tuple[int, int]]:
    """Return each actor's [start, stop) among the hidden units of all actors, in the order given."""
    ranges: dict[str, tuple[int, int]] = {}
    start = 0
    for actor in actors:
        if actor.name in ranges:
            raise ExportError(f"two actors are called {actor.name!r}; the names of a bundle's actors must differ")
        ranges[actor.name] = (start, start + actor.units)
        start += actor.units
    return ranges
