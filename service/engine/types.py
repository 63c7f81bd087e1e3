"""What goes into the engine and what comes out: plain frozen data, shared by the engine and the API.

The engine (`service.engine.engine.Engine`, one per language pair) is used like this:

    engine.start()
    output = await engine.submit(job)             # raises an `EngineError`
    outputs = await engine.submit_all(jobs)       # all of them are admitted, or none
    engine.stats()                                # EngineStats, cheap, any thread
    await engine.close(drain=True)                # finish what was admitted, take no more

Cancelling the task that awaits `submit` takes its rows out of the batch at the next step.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

MAX_BEAM_SIZE = 10
MAX_NPAD_SAMPLES = 16

# (token id, log-probability, influence or None), called on the submitter's event loop for every token of a greedy
# job as soon as it is decided.  Beam and NPAD decide at the end, so they never call it.
OnToken = Callable[[int, float, float | None], None]


@dataclass(frozen=True, slots=True)
class Greedy:
    """The likeliest word at every step: what actors are trained for."""


@dataclass(frozen=True, slots=True)
class Beam:
    """Beam search; hypotheses compete by log-probability / length ** length_alpha."""

    size: int = 5
    alternatives: int = 1  # hypotheses to return, best first; 1 … size
    length_alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class Npad:
    """Noisy parallel approximate decoding (Cho 2016): greedy from noisy states, the likeliest result wins.

    One of the `samples` is free of noise.  Equal jobs with an equal seed give equal answers.
    """

    samples: int = 10
    sigma: float = 0.3  # standard deviation of the noise at step 1; sigma / t at step t
    alternatives: int = 1  # distinct results to return, best first; 1 … samples
    seed: int = 0


Decoder = Greedy | Beam | Npad


@dataclass(frozen=True, slots=True)
class Job:
    """One sentence to decode."""

    source_ids: tuple[int, ...]  # ends with eos
    gains: tuple[float, ...]  # a weight for each actor of the bundle, in the manifest's order; all 0 = no actor
    decoder: Decoder = field(default_factory=Greedy)
    explain: bool = False  # also measure each token's influence
    deadline: float | None = None  # time.monotonic() after which nobody wants the answer
    caller: str = ""  # jobs of different callers take turns
    on_token: OnToken | None = None
    has_guard: bool = True  # stop an output that falls into a loop (off only to replay golden examples)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One translation.

    `token_log_probabilities` has one entry for each id and, unless the output was cut, one more for `eos`, so it is
    never empty.  They are those of the decoder: with an actor, of the model as the actor nudges it; but NPAD's are
    always those of the frozen model, by which it chooses.
    `influence` (with `explain`) has as many entries: KL(p_without_actor || p_with_actor) in nats at each step.
    """

    ids: tuple[int, ...]  # without eos
    token_log_probabilities: tuple[float, ...]
    is_truncated: bool = False  # the length bound was hit
    is_repetitive: bool = False  # the repetition guard stopped a loop
    influence: tuple[float, ...] | None = None

    @property
    def log_probability(self) -> float:
        return sum(self.token_log_probabilities)

    @property
    def score(self) -> float:
        """Mean token log-probability."""
        return self.log_probability / len(self.token_log_probabilities)


@dataclass(frozen=True, slots=True)
class Output:
    """What became of a job."""

    hypotheses: tuple[Hypothesis, ...]  # best first, never empty
    queue_s: float  # from submit to the encoder
    decode_s: float  # from the encoder to the last token

    @property
    def best(self) -> Hypothesis:
        return self.hypotheses[0]


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How much one pair's engine may use."""

    threads: int = 1  # onnxruntime intra-op threads of each session
    max_rows: int = 32  # rows of one batch
    queue_tokens: int = 50_000  # source tokens times rows waiting in the queue, before `Overloaded`
    encode_group: int = 8  # newcomers encoded together
    encode_patience: int = 4  # turns a newcomer may wait for company while the batch is busy
    rows_together: bool = True  # False: one row a call, for a processor on which batch mates change a row's bits


@dataclass(frozen=True, slots=True)
class EngineStats:
    """A snapshot for metrics; counters only ever grow."""

    queued_jobs: int
    queued_tokens: int
    active_jobs: int
    active_rows: int
    steps: int  # calls of the step graph
    row_steps: int  # rows those calls advanced
    tokens: int  # tokens of finished hypotheses
    encoded: int  # sentences encoded
    finished: int
    cancelled: int
    expired: int
    overloaded: int
    batch_sizes: dict[int, int]  # rows of a step: how many steps had that many
    tokens_per_s: float  # recent decoding throughput in rows advanced per second
