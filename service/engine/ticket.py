"""A ticket: one admitted job on its way through the engine, and the promise of an answer."""

import asyncio
from dataclasses import dataclass, field

from service.engine.errors import EngineError
from service.engine.types import Job, Output


@dataclass(slots=True, eq=False)
class Ticket:
    """Made on the submitter's event loop; from then on only the engine's thread changes it.

    The one exception is `is_cancelled`, which the submitter sets and the engine reads once a step.
    """

    job: Job
    rows: int
    submitted_at: float
    loop: asyncio.AbstractEventLoop
    answer: "asyncio.Future[Output]"
    is_cancelled: bool = False
    started_at: float = field(default=0.0)
    result: Output | EngineError | None = None

    @property
    def cost(self) -> int:
        """What the job weighs in the queue: source tokens times rows."""
        return len(self.job.source_ids) * self.rows

    def is_expired(self, now: float) -> bool:
        return self.job.deadline is not None and now >= self.job.deadline

    def deliver(self) -> None:
        """Hand the result to the submitter; runs on its event loop."""
        if self.answer.done():
            return
        if isinstance(self.result, Output):
            self.answer.set_result(self.result)
        elif self.result is not None:
            self.answer.set_exception(self.result)
