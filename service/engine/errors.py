"""Everything that can go wrong between handing a job to the engine and getting its output.

    EngineError
    ├── Overloaded         the queue is full; try again after `retry_after_s`
    ├── DeadlineExceeded   the job's deadline passed before it was done
    ├── Cancelled          the caller gave up, or the engine was closed without draining
    ├── EngineClosed       the engine takes no more jobs
    ├── EngineFailed       the engine's thread met a bug or a broken graph; the job is lost, the engine goes on
    ├── SourceTooLong      more source tokens than the bundle was made for; split the text
    └── BadJob             a job that does not fit the bundle (number of gains, ids out of range, beam size)

Facts in the constructor, nothing about HTTP: the edge maps each class to a status.
"""


class EngineError(Exception):
    """Base of the tree."""


class Overloaded(EngineError):
    """The queue cannot take the job's tokens now."""

    def __init__(self, *, queued_tokens: int, limit_tokens: int, retry_after_s: float) -> None:
        self.queued_tokens = queued_tokens
        self.limit_tokens = limit_tokens
        self.retry_after_s = retry_after_s
        super().__init__(
            f"{queued_tokens} of {limit_tokens} tokens are queued: too many to take this job; "
            f"try again in {retry_after_s:.1f} s"
        )


class DeadlineExceeded(EngineError):
    """The deadline passed; `waited_s` is how long the job was with the engine."""

    def __init__(self, *, waited_s: float) -> None:
        self.waited_s = waited_s
        super().__init__(f"the deadline passed after {waited_s:.2f} s")


class Cancelled(EngineError):
    """The job was taken out before it was done."""


class EngineClosed(EngineError):
    """The engine has been closed and takes no more jobs."""


class EngineFailed(EngineError):
    """A step failed in a way that no job can cause by itself."""


class SourceTooLong(EngineError):
    """More source tokens than the bundle was made for."""

    def __init__(self, *, tokens: int, limit: int) -> None:
        self.tokens = tokens
        self.limit = limit
        super().__init__(f"the source has {tokens} tokens; at most {limit} are allowed: split it")


class BadJob(EngineError):
    """A job that does not fit the bundle."""
