import pytest

from service.engine.queue import FairQueue
from service.engine.ticket import Ticket
from service.engine.types import Job


def ticket(caller: str, tokens: int = 2, rows: int = 1, deadline: float | None = None) -> Ticket:
    job = Job((1,) * tokens, (), caller=caller, deadline=deadline)
    return Ticket(job, rows, submitted_at=0.0, loop=None, answer=None)


@pytest.fixture
def queue() -> FairQueue:
    return FairQueue(limit_tokens=20)


def test_callers_take_turns_and_keep_their_own_order(queue) -> None:
    a1, a2, a3, b1, c1 = (ticket(caller) for caller in "aaabc")
    queue.add([a1, a2, a3, b1, c1])
    assert [queue.pop() for _ in range(5)] == [a1, b1, c1, a2, a3]
    assert len(queue) == queue.queued_tokens == 0


def test_a_caller_that_comes_later_waits_for_one_job_of_each_other(queue) -> None:
    a1, a2, b1 = ticket("a"), ticket("a"), ticket("b")
    queue.add([a1, a2])
    queue.add([b1])
    assert [queue.pop(), queue.pop(), queue.pop()] == [a1, b1, a2]


def test_room_is_counted_in_tokens_times_rows(queue) -> None:
    queue.add([ticket("a", tokens=3, rows=5)])
    assert queue.queued_tokens == 15
    assert queue.has_room(5)
    assert not queue.has_room(6)


def test_anything_fits_into_an_empty_queue(queue) -> None:
    assert queue.has_room(1000)


def test_sweeping_takes_out_the_cancelled_and_the_late(queue) -> None:
    cancelled, late, early, other = ticket("a"), ticket("a", deadline=5.0), ticket("b", deadline=9.0), ticket("b")
    queue.add([cancelled, late, early, other])
    cancelled.is_cancelled = True
    assert queue.sweep(now=5.0) == [cancelled, late]
    assert (len(queue), queue.queued_tokens) == (2, 4)
    assert queue.peek() is early


def test_removing_what_is_not_queued_changes_nothing(queue) -> None:
    kept = ticket("a")
    queue.add([kept])
    assert queue.remove([ticket("a"), ticket("z")]) == 0
    assert queue.clear() == [kept]
    assert queue.peek() is None
