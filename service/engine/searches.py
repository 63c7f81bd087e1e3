"""From a job to its search: the one place that knows every decoder."""

from service.engine.beam import BeamSearch
from service.engine.errors import BadJob, SourceTooLong
from service.engine.greedy import GreedySearch, Report
from service.engine.npad import NpadSearch, npad_rows
from service.engine.repetition import RepetitionGuard
from service.engine.search import Search
from service.engine.shape import ModelShape
from service.engine.types import MAX_BEAM_SIZE, MAX_NPAD_SAMPLES, Beam, Greedy, Job, Npad

MAX_SEARCH_ROWS = max(2 * MAX_BEAM_SIZE, npad_rows(MAX_NPAD_SAMPLES, has_actor=True, explain=True))


def has_actor(job: Job) -> bool:
    return any(job.gains)


def has_shadows(job: Job) -> bool:
    """Whether influence must be measured; without an actor it is known to be 0."""
    return job.explain and has_actor(job)


def rows_of(job: Job) -> int:
    """Return how many rows of the batch the job's search has."""
    match job.decoder:
        case Greedy():
            return 2 if has_shadows(job) else 1
        case Beam(size=size):
            return 2 * size if has_shadows(job) else size
        case Npad(samples=samples):
            return npad_rows(samples, has_actor(job), has_shadows(job))


def check(job: Job, shape: ModelShape) -> None:
    """Raise `BadJob` or `SourceTooLong` when the job cannot be decoded by this model."""
    ids = job.source_ids
    if not ids or ids[-1] != shape.eos_id:
        raise BadJob(f"source_ids must end with eos ({shape.eos_id})")
    if len(ids) > shape.max_source_tokens:
        raise SourceTooLong(tokens=len(ids), limit=shape.max_source_tokens)
    if min(ids) < 0 or max(ids) >= shape.source_vocabulary:
        raise BadJob(f"source_ids must be in 0 … {shape.source_vocabulary - 1}; given {min(ids)} … {max(ids)}")
    if len(job.gains) != len(shape.units_of_actors):
        raise BadJob(f"{len(job.gains)} gains for {len(shape.units_of_actors)} actors: give one each")
    _check_decoder(job)


def _check_decoder(job: Job) -> None:
    match job.decoder:
        case Greedy():
            return
        case Beam(size=size, alternatives=alternatives, length_alpha=alpha):
            if not 1 <= size <= MAX_BEAM_SIZE:
                raise BadJob(f"the beam size is {size}; it is 1 to {MAX_BEAM_SIZE}")
            if not 0 <= alpha <= 10:
                raise BadJob(f"length_alpha is {alpha}; it is 0 to 10")
            most = size
        case Npad(samples=samples, sigma=sigma, alternatives=alternatives, seed=seed):
            if not 1 <= samples <= MAX_NPAD_SAMPLES:
                raise BadJob(f"samples is {samples}; it is 1 to {MAX_NPAD_SAMPLES}")
            if not 0 <= sigma <= 10 or seed < 0:
                raise BadJob(f"sigma is {sigma} and seed {seed}; sigma is 0 to 10, and no seed is negative")
            most = samples
    if not 1 <= alternatives <= most:
        raise BadJob(f"alternatives is {alternatives}; this decoder finds 1 to {most}")


def start_search(job: Job, shape: ModelShape, report: Report | None) -> Search:
    """Return the search of a checked job; `report` hears the tokens of a greedy one."""
    max_steps = shape.longest_output(len(job.source_ids))
    match job.decoder:
        case Greedy():
            return GreedySearch(
                eos_id=shape.eos_id,
                max_steps=max_steps,
                guard=RepetitionGuard(job.source_ids) if job.has_guard else None,
                explain=has_shadows(job),
                report=report,
            )
        case Beam(size=size, alternatives=alternatives, length_alpha=alpha):
            return BeamSearch(
                size=size,
                alternatives=alternatives,
                length_alpha=alpha,
                eos_id=shape.eos_id,
                max_steps=max_steps,
                source_ids=job.source_ids,
                has_guard=job.has_guard,
                explain=has_shadows(job),
            )
        case Npad(samples=samples, sigma=sigma, alternatives=alternatives, seed=seed):
            return NpadSearch(
                samples=samples,
                sigma=sigma,
                alternatives=alternatives,
                seed=seed,
                state_size=shape.state,
                eos_id=shape.eos_id,
                max_steps=max_steps,
                source_ids=job.source_ids,
                has_actor=has_actor(job),
                has_guard=job.has_guard,
                explain=has_shadows(job),
            )
