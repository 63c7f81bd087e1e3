"""The engine of one language pair: an asynchronous front, and one thread that does all the work.

    submit ─► queue (bounded, fair) ─► thread: drop the gone ─► encode newcomers ─► step the lanes ─► answers
                                          ▲                                              │
                                          └──────────────── next turn ───────────────────┘

Rows join and leave at every turn.  Answers are handed back to the submitter's event loop.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence

import onnxruntime as ort

from service.engine.errors import Cancelled, EngineClosed, EngineFailed, Overloaded
from service.engine.greedy import Report
from service.engine.mailbox import Mailbox
from service.engine.promptness import wake_promptly
from service.engine.queue import FairQueue
from service.engine.searches import check, rows_of
from service.engine.shape import ModelShape
from service.engine.ticket import Ticket
from service.engine.types import EngineSettings, EngineStats, Job, OnToken, Output
from service.engine.worker import Worker, refusal

logger = logging.getLogger(__name__)

SWEEP_INTERVAL_S = 0.25  # how often the queue is searched for jobs that are too late
MAX_RETRY_AFTER_S = 120.0
# A sentence encoded alone costs more than twice as much as in a group, as long as the group's padded positions stay in
# the processor's cache.  A long group would also hold up the rows that are being decoded.
GOOD_GROUP = 6
MAX_GROUP_POSITIONS = 160
BUSY_ROWS = 8


class Engine:
    """Decodes jobs of one pair; see `service.engine.types` for how it is used."""

    def __init__(
        self,
        encoder: ort.InferenceSession,
        step: ort.InferenceSession,
        shape: ModelShape,
        settings: EngineSettings | None = None,
        *,
        name: str = "engine",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.shape = shape
        self.settings = settings or EngineSettings()
        self._clock = clock
        self._mailbox = Mailbox()
        self._worker = Worker(encoder, step, shape, self.settings, clock, self._report_of)
        self._queue = FairQueue(self.settings.queue_tokens)
        self._changed = threading.Condition()  # guards the queue and the flags
        self._is_closing = False
        self._is_draining = True
        self._has_quitters = False
        self._swept_at = 0.0
        self._waited_turns = 0
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread; jobs may be submitted from now on."""
        self._thread.start()

    async def submit(self, job: Job) -> Output:
        """Decode one job."""
        return (await self.submit_all([job]))[0]

    async def submit_all(self, jobs: Sequence[Job]) -> list[Output]:
        """Decode several jobs: all are admitted, or none.  The first failure gives up the others."""
        for job in jobs:
            check(job, self.shape)
        loop, now = asyncio.get_running_loop(), self._clock()
        tickets = [Ticket(job, rows_of(job), now, loop, loop.create_future()) for job in jobs]
        self._admit(tickets)
        try:
            return [await ticket.answer for ticket in tickets]
        finally:
            # Cancelling the awaiting task cancels the future it awaits: unanswered is what has no result.
            unanswered = [ticket for ticket in tickets if not ticket.answer.done() or ticket.answer.cancelled()]
            self._give_up(unanswered)
            for ticket in tickets:  # a second failure is nobody's news: mark it as seen
                if not ticket.answer.cancelled():
                    ticket.answer.exception()

    async def close(self, drain: bool = True) -> None:
        """Take no more jobs; finish the admitted ones, or drop them when not `drain`; return when the thread ended."""
        with self._changed:
            self._is_closing = True
            self._is_draining = self._is_draining and drain
            self._changed.notify()
        if self._thread.ident is not None:
            await asyncio.to_thread(self._thread.join)

    def stats(self) -> EngineStats:
        """Return a snapshot for metrics."""
        statistics = self._worker.statistics
        return EngineStats(
            queued_jobs=len(self._queue),
            queued_tokens=self._queue.queued_tokens,
            active_jobs=self._worker.active_jobs,
            active_rows=self._worker.active_rows,
            steps=statistics.steps,
            row_steps=statistics.row_steps,
            tokens=statistics.tokens,
            encoded=statistics.encoded,
            finished=statistics.finished,
            cancelled=statistics.cancelled,
            expired=statistics.expired,
            overloaded=statistics.overloaded,
            batch_sizes=dict(statistics.batch_sizes.copy()),
            tokens_per_s=statistics.row_steps_per_s.per_s,
        )

    # On the submitter's side

    def _admit(self, tickets: list[Ticket]) -> None:
        cost = sum(ticket.cost for ticket in tickets)
        with self._changed:
            if self._is_closing:
                raise EngineClosed("the engine is closing and takes no more jobs")
            if not self._queue.has_room(cost):
                self._worker.statistics.overloaded += 1
                queued, limit = self._queue.queued_tokens, self._queue.limit_tokens
                excess = min(queued + cost - limit, queued)
                wait_s = excess / self._worker.statistics.drain_per_s.per_s
                raise Overloaded(
                    queued_tokens=queued, limit_tokens=limit, retry_after_s=min(max(wait_s, 0.1), MAX_RETRY_AFTER_S)
                )
            self._queue.add(tickets)
            self._changed.notify()

    def _give_up(self, tickets: list[Ticket]) -> None:
        if not tickets:
            return
        with self._changed:
            for ticket in tickets:
                ticket.is_cancelled = True
                ticket.answer.cancel()
            self._has_quitters = True
            self._worker.statistics.cancelled += self._queue.remove(tickets)
            self._changed.notify()

    # On the engine's thread

    def _run(self) -> None:
        wake_promptly()
        statistics = self._worker.statistics
        while self._wait_for_work():
            started, row_steps = self._clock(), statistics.row_steps
            cost = 0
            try:
                cost = self._turn()
            except Exception as error:  # a bug of ours: whoever is in the batch must hear of it, and the rest go on
                logger.exception("a turn of the engine failed")
                self._answer(self._worker.drop_all(EngineFailed(f"decoding failed: {error}")))
            self._mailbox.flush()
            statistics.count_turn(statistics.row_steps - row_steps, cost, self._clock() - started)

    def _wait_for_work(self) -> bool:
        """Sleep until there is something to do; tell whether to go on at all."""
        if self._worker.active_jobs:
            return True
        with self._changed:
            while not len(self._queue):
                if self._is_closing:
                    return False
                self._changed.wait()
            return True

    def _turn(self) -> int:
        """Do everything once; return the queue cost of the jobs that left the queue."""
        if self._is_closing and not self._is_draining:
            self._drop_everything()
            return 0
        if self._has_quitters or self._worker.is_late():
            self._has_quitters = False  # first: who quits while we look is found at the next turn
            self._answer(self._worker.drop_gone())
        newcomers = self._take_newcomers()
        if newcomers:
            self._answer(self._worker.take_in(newcomers))
        self._answer(self._worker.step())
        return sum([ticket.cost for ticket in newcomers])

    def _take_newcomers(self) -> list[Ticket]:
        """Take jobs, in the order of the queue, as long as there are rows for them and they make a good group."""
        newcomers: list[Ticket] = []
        if not len(self._queue):  # without the lock: what arrives just now joins at the next turn
            return newcomers
        with self._changed:
            self._sweep(self._clock())
            if self._is_worth_waiting():
                return newcomers
            room, positions = self._worker.room(), 0
            while (head := self._queue.peek()) is not None and len(newcomers) < self.settings.encode_group:
                positions += len(head.job.source_ids)
                if (newcomers and positions > MAX_GROUP_POSITIONS) or not room.take(head):
                    break
                newcomers.append(self._queue.pop())
        return newcomers

    def _is_worth_waiting(self) -> bool:
        """Whether to let newcomers wait a turn for company: cheap when the batch is busy, and bounded."""
        is_lonely = 0 < len(self._queue) < GOOD_GROUP and self._worker.active_rows >= BUSY_ROWS
        self._waited_turns = self._waited_turns + 1 if is_lonely else 0
        if self._waited_turns > self.settings.encode_patience:
            self._waited_turns = 0
        return self._waited_turns > 0

    def _sweep(self, now: float) -> None:
        """Answer queued jobs that are too late.  (Cancelled ones leave the queue by themselves.)"""
        head = self._queue.peek()
        is_due = now - self._swept_at >= SWEEP_INTERVAL_S or (head is not None and head.is_expired(now))
        if is_due:
            self._swept_at = now
            gone = self._queue.sweep(now)
            for ticket in gone:
                ticket.result = refusal(ticket, now)
            self._answer(gone)

    def _drop_everything(self) -> None:
        error = Cancelled("the engine was closed")
        with self._changed:
            waiting = self._queue.clear()
        for ticket in waiting:
            ticket.result = error
        self._answer(waiting + self._worker.drop_all(error))

    def _answer(self, tickets: Sequence[Ticket]) -> None:
        for ticket in tickets:
            self._worker.statistics.count_answer(ticket.result)
            self._mailbox.post(ticket.loop, ticket.deliver)

    def _report_of(self, ticket: Ticket) -> Report | None:
        on_token = ticket.job.on_token
        if on_token is None:
            return None

        def report(token: int, log_probability: float, influence: float | None) -> None:
            self._mailbox.post(ticket.loop, _call, on_token, ticket, token, log_probability, influence)

        return report


def _call(on_token: OnToken, ticket: Ticket, token: int, log_probability: float, influence: float | None) -> None:
    if ticket.is_cancelled:
        return
    try:
        on_token(token, log_probability, influence)
    except Exception:  # the caller's bug must not cost the other callers in the envelope their answers
        logger.exception("on_token failed")
