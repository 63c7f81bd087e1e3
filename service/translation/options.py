"""What a caller asks for, and what it means for a bundle."""

from dataclasses import dataclass
from typing import Literal, get_args

from service.bundle.manifest import Manifest
from service.engine.types import MAX_BEAM_SIZE, MAX_NPAD_SAMPLES, Beam, Decoder, Greedy, Npad
from service.errors import InvalidParameter, UnknownObjective

DecoderName = Literal["greedy", "beam", "npad"]
DECODERS: tuple[DecoderName, ...] = get_args(DecoderName)
MAX_STRENGTH = 2.0


@dataclass(frozen=True, slots=True)
class Blend:
    """Weights of the objectives a caller named; empty = no actor.  `is_default` = the caller named nothing."""

    weights: tuple[tuple[str, float], ...] = ()
    is_default: bool = True

    def __str__(self) -> str:
        if len(self.weights) == 1 and self.weights[0][1] == 1.0:
            return self.weights[0][0]
        return ",".join(f"{name}:{weight:g}" for name, weight in self.weights) or "none"

    @property
    def label(self) -> str:
        """A name for metrics, out of a small set: callers can invent any number of blends."""
        return "none" if not self.weights else self.weights[0][0] if len(self.weights) == 1 else "blend"


@dataclass(frozen=True, slots=True)
class Options:
    """How to translate: what every text of a request has in common."""

    source: str | None  # None = detect
    target: str
    blend: Blend = Blend()
    strength: float = 1.0
    decoder: DecoderName = "greedy"
    beam_size: int | None = None  # None = the bundle's own
    samples: int | None = None
    largest_beam: int = MAX_BEAM_SIZE  # the operator's bounds, which the bundle's own sizes obey, too
    most_samples: int = MAX_NPAD_SAMPLES
    alternatives: int = 0
    is_html: bool = False
    explain: bool = False
    glossary: tuple[tuple[str, str], ...] = ()


def resolve_blend(options: Options, manifest: Manifest) -> Blend:
    """The blend for a bundle: what was named, if the bundle has it, or the bundle's default."""
    if options.blend.is_default:
        name = manifest.default_objective
        return Blend(((name, 1.0),) if name else (), is_default=False)
    for name, _ in options.blend.weights:
        if manifest.actor_index(name) is None:
            raise UnknownObjective(name, manifest.name, [actor.name for actor in manifest.actors])
    return options.blend


def gains_of(blend: Blend, strength: float, manifest: Manifest) -> tuple[float, ...]:
    """A weight for each actor of the bundle, in the manifest's order."""
    weights = dict(blend.weights)
    return tuple(strength * weights.get(actor.name, 0.0) for actor in manifest.actors)


def decoder_of(options: Options, manifest: Manifest) -> Decoder:
    """The engine's decoder with its sizes; the bundle's own where the caller gave none."""
    hypotheses = options.alternatives + 1
    match options.decoder:
        case "greedy":
            return Greedy()
        case "beam":
            own_size = max(manifest.decoding.beam_size, hypotheses)
            size = options.beam_size or min(own_size, options.largest_beam)
            _check_enough("beam_size", size, hypotheses)
            return Beam(size, hypotheses, manifest.decoding.length_alpha)
        case "npad":
            own_samples = max(manifest.decoding.npad_samples, hypotheses)
            samples = options.samples or min(own_samples, options.most_samples)
            _check_enough("samples", samples, hypotheses)
            return Npad(samples, manifest.decoding.npad_sigma, hypotheses)


def _check_enough(name: str, given: int, hypotheses: int) -> None:
    if given < hypotheses:
        raise InvalidParameter(
            name, given, f"{hypotheses - 1} alternatives besides the best answer need at least {hypotheses}"
        )
