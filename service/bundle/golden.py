"""golden.jsonl: examples that a bundle must reproduce through the real engine before it is served.

The replay is also the self-test of batch invariance on this machine's processor: some examples are decoded once in the
company of all the others and once alone, and every bit of their log-probabilities must be the same.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.bundle.manifest import Manifest
from service.engine.engine import Engine
from service.engine.errors import EngineError
from service.engine.types import Beam, Decoder, Greedy, Job, Output

SCORE_TOLERANCE = 0.05
EXAMPLES_ALONE = 6


class GoldenExample(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    source_ids: tuple[int, ...] = Field(min_length=1)
    decoder: Literal["greedy", "beam"]
    objective: str | None
    output_ids: tuple[int, ...]
    output: str
    score: float


class GoldenMismatch(Exception):
    """What the engine did not reproduce; the loader turns it into a refusal."""


def parse_golden(raw: bytes) -> list[GoldenExample]:
    """Read the examples; raise `GoldenMismatch` for a line that is not one."""
    examples = []
    for number, line in enumerate(raw.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            examples.append(GoldenExample.model_validate_json(line))
        except ValidationError as error:
            detail = error.errors()[0]
            place = ".".join(str(part) for part in detail["loc"])
            raise GoldenMismatch(f"line {number}: {place}: {detail['msg']}") from None
    if not examples:
        raise GoldenMismatch("no examples; a bundle needs at least one")
    return examples


def golden_job(example: GoldenExample, manifest: Manifest) -> Job:
    """Return the job that must reproduce `example`."""
    names = [actor.name for actor in manifest.actors]
    if example.objective is not None and example.objective not in names:
        raise GoldenMismatch(f"{example.text!r} is for objective {example.objective!r}, but the actors are {names}")
    gains = tuple(float(name == example.objective) for name in names)
    decoder: Decoder = Greedy()
    if example.decoder == "beam":
        decoder = Beam(size=manifest.decoding.beam_size, length_alpha=manifest.decoding.length_alpha)
    # The guard belongs to the service; the examples show what the model itself says.
    return Job(example.source_ids, gains, decoder, has_guard=False)


async def replay(engine: Engine, manifest: Manifest, examples: Sequence[GoldenExample]) -> bool:
    """Raise `GoldenMismatch` unless the engine reproduces `examples`; return whether batch mates change no bit."""
    jobs = [golden_job(example, manifest) for example in examples]
    try:
        together = await engine.submit_all(jobs)
        for example, output in zip(examples, together, strict=True):
            _compare(example, output)
        alone = [await engine.submit(job) for job in jobs[:EXAMPLES_ALONE]]
    except EngineError as error:
        raise GoldenMismatch(f"the engine could not replay the examples: {error}") from error
    return all(one.hypotheses == many.hypotheses for one, many in zip(alone, together, strict=False))


def _compare(example: GoldenExample, output: Output) -> None:
    best = output.best
    asked = f"{example.decoder}, objective {example.objective}"
    if best.ids != example.output_ids:
        raise GoldenMismatch(f"{example.text!r} ({asked}) gives {list(best.ids)}, not {list(example.output_ids)}")
    if not abs(best.score - example.score) <= SCORE_TOLERANCE:
        raise GoldenMismatch(
            f"{example.text!r} ({asked}) scores {best.score:.4f}; {example.score:.4f} ± {SCORE_TOLERANCE} is expected"
        )
