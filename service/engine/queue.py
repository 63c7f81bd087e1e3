"""The queue in front of a batch: bounded by tokens, fair between callers.

Not thread-safe by itself: the engine holds its lock around every call.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable

from service.engine.ticket import Ticket


class FairQueue:
    """Callers take turns, one job each; a caller's own jobs keep their order."""

    def __init__(self, limit_tokens: int) -> None:
        self.limit_tokens = limit_tokens
        self.queued_tokens = 0
        self._size = 0
        self._by_caller: OrderedDict[str, deque[Ticket]] = OrderedDict()  # the first one's turn is next

    def __len__(self) -> int:
        return self._size

    def has_room(self, cost: int) -> bool:
        """Tell whether `cost` more tokens fit.  Into an empty queue anything fits, or a big list would never get in."""
        return self.queued_tokens == 0 or self.queued_tokens + cost <= self.limit_tokens

    def add(self, tickets: Iterable[Ticket]) -> None:
        """Queue tickets of one or several callers behind those callers' earlier ones."""
        for ticket in tickets:
            self._by_caller.setdefault(ticket.job.caller, deque()).append(ticket)
            self.queued_tokens += ticket.cost
            self._size += 1

    def peek(self) -> Ticket | None:
        """Return the ticket whose turn it is, without taking it."""
        for tickets in self._by_caller.values():
            return tickets[0]
        return None

    def pop(self) -> Ticket:
        """Take the ticket whose turn it is; its caller goes to the end of the line."""
        caller, tickets = next(iter(self._by_caller.items()))
        ticket = tickets.popleft()
        if tickets:
            self._by_caller.move_to_end(caller)
        else:
            del self._by_caller[caller]
        self.queued_tokens -= ticket.cost
        self._size -= 1
        return ticket

    def sweep(self, now: float) -> list[Ticket]:
        """Take out and return every ticket that is cancelled or past its deadline."""
        gone = [
            ticket
            for tickets in self._by_caller.values()
            for ticket in tickets
            if ticket.is_cancelled or ticket.is_expired(now)
        ]
        self.remove(gone)
        return gone

    def remove(self, gone: Iterable[Ticket]) -> int:
        """Take `gone` out and return how many that were; tickets that are not queued (any more) are ignored."""
        by_caller: dict[str, set[Ticket]] = {}
        for ticket in gone:
            by_caller.setdefault(ticket.job.caller, set()).add(ticket)
        removed = 0
        for caller, leaving in by_caller.items():
            tickets = self._by_caller.get(caller, ())
            staying = deque(ticket for ticket in tickets if ticket not in leaving)
            removed += len(tickets) - len(staying)
            self.queued_tokens -= sum(ticket.cost for ticket in tickets if ticket in leaving)
            if staying:
                self._by_caller[caller] = staying
            elif tickets:
                del self._by_caller[caller]
        self._size -= removed
        return removed

    def clear(self) -> list[Ticket]:
        """Take out and return everything."""
        tickets = [ticket for waiting in self._by_caller.values() for ticket in waiting]
        self._by_caller.clear()
        self.queued_tokens = 0
        self._size = 0
        return tickets
