"""The worker: encodes newcomers, steps the lanes, collects what is done.  Plain synchronous code of one thread."""

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnxruntime as ort

from service.engine.errors import Cancelled, DeadlineExceeded, EngineError, EngineFailed
from service.engine.greedy import Report
from service.engine.grouping import group_by_length
from service.engine.lane import Lane, Tenant
from service.engine.probabilities import Floats
from service.engine.searches import MAX_SEARCH_ROWS, start_search
from service.engine.sessions import Encoder
from service.engine.shape import ModelShape
from service.engine.slots import padded
from service.engine.statistics import Statistics
from service.engine.stepper import Stepper
from service.engine.ticket import Ticket
from service.engine.types import EngineSettings, Hypothesis, Output

logger = logging.getLogger(__name__)

LANE_WIDTHS = (32, 64, 128)  # and the longest source of the bundle

# Rows of long sources count more: this bounds the memory of the lanes, and how long a turn can take.
POSITIONS_PER_ROW = 64

ReportOf = Callable[[Ticket], Report | None]


@dataclass(slots=True)
class Room:
    """Rows and source positions that are free in the batch."""

    rows: int
    positions: int
    is_idle: bool

    def take(self, ticket: Ticket) -> bool:
        """Take the ticket's share and return True; or False when it does not fit.  An idle engine takes any first."""
        rows = ticket.rows
        positions = rows * padded(len(ticket.job.source_ids))
        if not self.is_idle and (rows > self.rows or positions > self.positions):
            return False
        self.rows -= rows
        self.positions -= positions
        self.is_idle = False
        return True


class Worker:
    """Owns the sessions and the rows."""

    def __init__(
        self,
        encoder: ort.InferenceSession,
        step: ort.InferenceSession,
        shape: ModelShape,
        settings: EngineSettings,
        clock: Callable[[], float],
        report_of: ReportOf,
    ) -> None:
        self._shape = shape
        self._settings = settings
        self._clock = clock
        self._report_of = report_of
        self._encode_group = settings.encode_group if settings.rows_together else 1
        self._encoder = Encoder(encoder, shape, self._encode_group)
        capacity = max(settings.max_rows, MAX_SEARCH_ROWS)
        stepper = Stepper(step, shape, capacity, settings.rows_together)
        limit = shape.max_source_tokens
        widths = (*(width for width in LANE_WIDTHS if width < limit), limit)
        self._lanes = [Lane(stepper, shape, width, capacity) for width in widths]
        self._active: dict[Tenant, tuple[Ticket, Lane]] = {}
        self._earliest_deadline = math.inf  # of the active jobs, or earlier
        self.statistics = Statistics()

    @property
    def active_rows(self) -> int:
        return sum(lane.rows for lane in self._lanes)

    @property
    def active_jobs(self) -> int:
        return len(self._active)

    def room(self) -> "Room":
        """Return what may join now."""
        positions = sum(len(tenant.slots) * padded(tenant.source_length) for tenant in self._active)
        max_rows = self._settings.max_rows
        return Room(max_rows - self.active_rows, max_rows * POSITIONS_PER_ROW - positions, not self._active)

    def take_in(self, tickets: Sequence[Ticket]) -> list[Ticket]:
        """Encode newcomers and give their searches rows; return the tickets for which that failed."""
        failed: list[Ticket] = []
        for group in group_by_length([len(ticket.job.source_ids) for ticket in tickets], self._encode_group):
            members = [tickets[index] for index in group]
            try:
                self._place(members)
            except Exception as error:
                failed += self._fail(members, error)
        return failed

    def _place(self, tickets: Sequence[Ticket]) -> None:
        now = self._clock()
        encoded = self._encoder.encode([ticket.job.source_ids for ticket in tickets])
        self.statistics.encoded += len(tickets)
        for row, ticket in enumerate(tickets):
            ticket.started_at = now
            if ticket.job.deadline is not None:
                self._earliest_deadline = min(self._earliest_deadline, ticket.job.deadline)
            search = start_search(ticket.job, self._shape, self._report_of(ticket))
            tenant = Tenant(search, len(ticket.job.source_ids))
            lane = next(lane for lane in self._lanes if lane.max_width >= tenant.source_length)
            self._active[tenant] = (ticket, lane)
            gain = self._gain(ticket.job.gains)
            lane.place(tenant, encoded.keys[row], encoded.values[row], encoded.states[row], gain)

    def step(self) -> list[Ticket]:
        """Advance every row by one token; return the tickets that are done, with their results."""
        done: list[Ticket] = []
        for lane in self._lanes:
            if not lane.rows:
                continue
            self.statistics.count_step(lane.rows)
            try:
                tenants = lane.step()
            except Exception as error:
                done += self._fail([ticket for ticket, home in self._active.values() if home is lane], error)
                continue
            now = self._clock()
            for tenant in tenants:
                ticket, _ = self._active.pop(tenant)
                ticket.result = self._output(ticket, tenant.search.hypotheses(), now)
                done.append(ticket)
        return done

    def _fail(self, tickets: Sequence[Ticket], error: Exception) -> Sequence[Ticket]:
        """Give up `tickets`, of which some may have rows, because of a fault that is not theirs."""
        logger.error("decoding failed", exc_info=error)
        failure = EngineFailed(f"decoding failed: {error}")
        for tenant in [tenant for tenant, (ticket, _) in self._active.items() if ticket in tickets]:
            self._drop(tenant, failure)
        for ticket in tickets:
            ticket.result = failure
        return tickets

    def is_late(self) -> bool:
        """Whether some job's deadline has passed."""
        return self._clock() >= self._earliest_deadline

    def drop_gone(self) -> list[Ticket]:
        """Take out the rows of jobs that were cancelled or are too late; return their tickets."""
        now = self._clock()
        gone = [tenant for tenant, (ticket, _) in self._active.items() if ticket.is_cancelled or ticket.is_expired(now)]
        dropped = [self._drop(tenant, refusal(self._active[tenant][0], now)) for tenant in gone]
        deadlines = [ticket.job.deadline for ticket, _ in self._active.values()]
        self._earliest_deadline = min((one for one in deadlines if one is not None), default=math.inf)
        return dropped

    def drop_all(self, error: EngineError) -> list[Ticket]:
        """Take out everything."""
        return [self._drop(tenant, error) for tenant in list(self._active)]

    def _drop(self, tenant: Tenant, error: EngineError) -> Ticket:
        ticket, lane = self._active.pop(tenant)
        lane.remove(tenant)
        ticket.result = error
        return ticket

    def _gain(self, weights: Iterable[float]) -> Floats:
        """Return the gain [U] of a row: each actor's weight on the hidden units that are its own."""
        gain: Floats = np.zeros(self._shape.actor_units, np.float32)
        for weight, (start, stop) in zip(weights, self._shape.units_of_actors, strict=True):
            gain[start:stop] = weight
        return gain

    def _output(self, ticket: Ticket, hypotheses: tuple[Hypothesis, ...], now: float) -> Output:
        if ticket.job.explain and hypotheses[0].influence is None:  # no actor, no influence
            hypotheses = tuple(
                replace(hypothesis, influence=(0.0,) * len(hypothesis.token_log_probabilities))
                for hypothesis in hypotheses
            )
        self.statistics.tokens += sum(len(hypothesis.token_log_probabilities) for hypothesis in hypotheses)
        return Output(hypotheses, ticket.started_at - ticket.submitted_at, now - ticket.started_at)


def refusal(ticket: Ticket, now: float) -> EngineError:
    """Return why a ticket that is gone was not finished."""
    if ticket.is_cancelled:
        return Cancelled("the caller gave up")
    return DeadlineExceeded(waited_s=now - ticket.submitted_at)
