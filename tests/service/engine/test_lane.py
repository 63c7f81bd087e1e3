"""Rows in their slots: joining, leaving, closing the holes, following the lengths."""

from collections.abc import Sequence

import numpy as np
import pytest

from service.engine.lane import Lane, Tenant
from service.engine.search import DONE, GO_ON, Moves, Search, Step, Verdict
from service.engine.sessions import Encoder, open_session
from service.engine.stepper import Stepper
from service.engine.types import Hypothesis


class Scripted(Search):
    """Does what it is told, one verdict a step, and remembers what each of its rows saw."""

    def __init__(self, rows: int, verdicts: Sequence[Verdict]) -> None:
        self.rows = rows
        self._verdicts = list(verdicts)
        self.seen: list[list[np.ndarray]] = []

    def advance(self, step: Step, slots: Sequence[int]) -> Verdict:
        self.seen.append([step.log_probabilities[slot].copy() for slot in slots])
        return self._verdicts.pop(0)

    def hypotheses(self) -> tuple[Hypothesis, ...]:
        return ()


@pytest.fixture
def lane(model) -> Lane:
    return Lane(Stepper(open_session(model.step, 1), model.shape, 12, True), model.shape, 32, 12)


@pytest.fixture
def place(model, lane):
    encoder = Encoder(open_session(model.encoder, 1), model.shape, 8)

    def placed(search: Search, length: int, seed: int = 0) -> Tenant:
        ids = (*np.random.default_rng(seed).integers(4, 60, length - 1).tolist(), 3)
        encoded = encoder.encode([ids])
        tenant = Tenant(search, length)
        lane.place(tenant, encoded.keys[0], encoded.values[0], encoded.states[0], np.zeros(16, np.float32))
        return tenant

    return placed


def test_a_freed_slot_goes_to_the_next_newcomer_and_the_rest_moves_up(lane, place) -> None:
    first = place(Scripted(1, [DONE]), 5)
    second = place(Scripted(1, [GO_ON] * 3), 5)
    third = place(Scripted(1, [GO_ON] * 3), 5)
    assert lane.step() == [first]
    newcomer = place(Scripted(1, [GO_ON] * 2), 5)
    assert (newcomer.slots, second.slots, third.slots) == ([0], [1], [2])
    lane.remove(newcomer)
    assert lane.rows == 2
    lane.step()
    assert sorted(second.slots + third.slots) == [0, 1]


def test_moves_follow_parents_and_release_the_other_rows(lane, place) -> None:
    """Rows 0 and 2 go on, both from row 1's state and with one word: from then on they see the same."""
    search = Scripted(3, [Moves([0, 1, 2], [0, 1, 2], [10, 20, 30]), Moves([0, 2], [1, 1], [7, 7]), DONE])
    place(search, 6)
    lane.step()
    lane.step()
    assert lane.rows == 2
    lane.step()
    assert lane.rows == 0
    equal_start, different, equal_again = search.seen
    assert all(np.array_equal(row, equal_start[0]) for row in equal_start)
    assert not np.array_equal(different[0], different[1])
    assert len(equal_again) == 2
    assert np.array_equal(equal_again[0], equal_again[1])


def test_the_width_grows_with_a_long_newcomer_and_shrinks_after_it_has_left(lane, place) -> None:
    place(Scripted(1, [GO_ON] * 60), 5)
    assert lane.width == 8
    long = place(Scripted(1, [GO_ON] * 2 + [DONE]), 30)
    assert lane.width == 32
    while long.slots:
        lane.step()
    assert lane.width == 32
    for _ in range(16):
        lane.step()
    assert lane.width == 8


def test_an_empty_lane_takes_the_width_of_its_next_search(lane, place) -> None:
    place(Scripted(1, [DONE]), 30)
    lane.step()
    place(Scripted(1, [DONE]), 3)
    assert lane.width == 4


def test_a_row_sees_the_same_whatever_happens_around_it(lane, place, model) -> None:
    alone = Scripted(1, [GO_ON] * 20 + [DONE])
    place(alone, 7, seed=1)
    while lane.rows:
        lane.step()
    watched = Scripted(1, [GO_ON] * 20 + [DONE])
    place(Scripted(1, [GO_ON] * 3 + [DONE]), 20, seed=2)
    place(Scripted(4, [GO_ON] * 5 + [Moves([0, 3], [1, 1], [5, 6]), GO_ON, DONE]), 9, seed=3)
    place(watched, 7, seed=1)
    for step in range(21):
        if step in (4, 9, 13):
            place(Scripted(1, [GO_ON] * step + [DONE]), 3 + 2 * step, seed=step)
        lane.step()
    assert len(watched.seen) == len(alone.seen) == 21
    for [one], [other] in zip(watched.seen, alone.seen, strict=True):
        assert one.tobytes() == other.tobytes()
