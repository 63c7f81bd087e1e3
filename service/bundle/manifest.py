"""The manifest of a bundle, as `models/CONTRACT.md` describes it: strict, frozen, unknown keys refused."""

import math
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from service.bundle.errors import BundleRefused

FORMAT = 1
MANIFEST_NAME = "manifest.json"
GRAPH_NAMES = ("encoder.onnx", "step.onnx")
GOLDEN_NAME = "golden.jsonl"

Positive = Annotated[int, Field(gt=0)]
Id = Annotated[int, Field(ge=0)]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*$")]


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SpecialIds(Section):
    pad: Id
    unk: Id
    bos: Id
    eos: Id


class Sizes(Section):
    source_vocabulary: Positive
    target_vocabulary: Positive
    state: Positive
    key: Positive
    values: Positive
    actor_units: Annotated[int, Field(ge=0)]
    parameters: Positive


class TokenizerFiles(Section):
    source: FileName
    target: FileName


class Quantisation(Section):
    kind: Literal["int8", "fp32"]
    weight_bits: Positive | None = None
    activations: str | None = None


class Decoding(Section):
    max_length_ratio: Annotated[float, Field(gt=0)]
    max_length_extra: Annotated[int, Field(ge=0)]
    max_length: Positive
    max_source_tokens: Positive
    beam_size: Positive
    length_alpha: Annotated[float, Field(ge=0)]
    npad_samples: Positive
    npad_sigma: Annotated[float, Field(gt=0)]


class Calibration(Section):
    slope: float
    intercept: float
    meaning: str = ""
    fitted_on: str = ""

    def confidence(self, score: float) -> float:
        """Return the 0-1 confidence of a mean token log-probability."""
        exponent = -(self.slope * score + self.intercept)
        return 1.0 / (1.0 + math.exp(min(exponent, 700.0)))


class Gain(Section):
    test_set: str
    metric: str
    greedy: float
    actor: float
    beam: float | None = None
    p: float | None = None


class Actor(Section):
    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    objective: str
    optimises: str = ""
    method: str = ""
    units: tuple[Id, Positive]
    gains: tuple[Gain, ...] = ()


class Score(Section):
    test_set: str
    decoder: str
    objective: str | None = None
    bleu: float | None = None
    chrf: float | None = None
    perplexity: float | None = None
    length_ratio: float | None = None
    signature: str = ""


class FileFacts(Section):
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: Annotated[int, Field(ge=0)]


class Provenance(BaseModel):
    """Where the weights come from.  Read by people: keys it does not know are kept, not refused."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Manifest(Section):
    format: int
    name: str
    version: str
    created: datetime
    source: Language
    target: Language
    special_ids: SpecialIds
    sizes: Sizes
    tokenizer: TokenizerFiles
    learnt_by_bytes: str = ""
    spaced_openings: bool = False
    known_words: FileName | None = None
    quantisation: Quantisation
    decoding: Decoding
    calibration: Calibration | None = None
    default_objective: str | None = None
    actors: tuple[Actor, ...] = ()
    scores: tuple[Score, ...] = ()
    files: dict[FileName, FileFacts]
    provenance: Provenance = Provenance()

    @model_validator(mode="after")
    def parts_fit_together(self) -> Self:
        problems: list[str] = []
        needed = {*GRAPH_NAMES, GOLDEN_NAME, self.tokenizer.source, self.tokenizer.target}
        needed |= {self.known_words} if self.known_words else set()
        problems += [f"files lacks {name}" for name in sorted(needed - self.files.keys())]
        names = [actor.name for actor in self.actors]
        if len(set(names)) != len(names):
            problems.append(f"actors share a name: {names}")
        if self.default_objective is not None and self.default_objective not in names:
            problems.append(f"default_objective {self.default_objective!r} is not one of the actors {names}")
        end = 0
        for actor in sorted(self.actors, key=lambda actor: actor.units):
            start, stop = actor.units
            if start < end or stop <= start or stop > self.sizes.actor_units:
                problems.append(f"units {start}-{stop} of actor {actor.name!r} do not fit")
            end = max(end, stop)
        for field, identifier in self.special_ids:
            if identifier >= min(self.sizes.source_vocabulary, self.sizes.target_vocabulary):
                problems.append(f"special id {field} = {identifier} is outside the vocabulary")
        if problems:
            raise ValueError("; ".join(problems))
        return self

    @property
    def pair(self) -> tuple[str, str]:
        return self.source, self.target

    def actor_index(self, name: str) -> int | None:
        """Return the position of the actor called `name`, or None."""
        return next((index for index, actor in enumerate(self.actors) if actor.name == name), None)


class _Version(BaseModel):
    format: int


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of `folder`; raise `BundleRefused` with every problem at once."""
    path = folder / MANIFEST_NAME
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BundleRefused(folder, f"{MANIFEST_NAME} cannot be read: {error.strerror}") from None
    try:
        version = _Version.model_validate_json(raw).format
        if version != FORMAT:
            raise BundleRefused(
                folder,
                f"the bundle has format {version}, and this service reads format {FORMAT}: export it again or "
                "install the matching release",
            )
        return Manifest.model_validate_json(raw)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in detail['loc']) or 'manifest'}: {detail['msg']}"
            for detail in error.errors()
        )
        raise BundleRefused(folder, f"{MANIFEST_NAME}: {problems}") from None
