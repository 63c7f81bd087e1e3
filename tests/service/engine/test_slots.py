import numpy as np
import pytest

from service.engine.slots import Slots, padded


def filled(slots: Slots, slot: int, mark: float, length: int) -> None:
    K, W = 8, 104  # of the fixture's model
    slots.write(
        slot,
        keys=np.full((length, K), mark, np.float32),
        values=np.full((length, W), mark, np.float32),
        state=np.full(24, mark, np.float32),
        gain=np.full(16, mark, np.float32),
        source_length=length,
    )


def assert_holds(slots: Slots, slot: int, mark: float, length: int) -> None:
    inputs = slots.inputs()
    for name in ("keys", "values"):
        row = inputs[name][slot]
        assert (row[:length] == mark).all()
        assert (row[length:] == 0).all()
    assert (inputs["source_bias"][slot] == [0.0] * length + [np.float32(-1e9)] * (slots.width - length)).all()
    assert (inputs["state"][slot] == mark).all()
    assert (inputs["actor_gain"][slot] == mark).all()
    assert inputs["previous_ids"][slot] == 2


@pytest.mark.parametrize("widths", [(8, 32), (32, 8), (8, 12, 32, 16, 8), (12, 8, 24)])
def test_rows_survive_every_change_of_width(model, widths: tuple[int, ...]) -> None:
    slots = Slots(model.shape, max_width=32, capacity=6)
    slots.set_width(widths[0], rows=0)
    for slot in range(5):
        filled(slots, slot, mark=slot + 1.0, length=4 + slot)
    for width in widths:
        slots.set_width(width, rows=5)
        assert slots.width == width
        for slot in range(5):
            assert_holds(slots, slot, slot + 1.0, length=4 + slot)


def test_a_slot_that_is_overwritten_keeps_nothing_of_the_old_row(model) -> None:
    slots = Slots(model.shape, max_width=32, capacity=2)
    slots.set_width(16, rows=0)
    filled(slots, 0, mark=9.0, length=15)
    filled(slots, 0, mark=2.0, length=3)
    assert_holds(slots, 0, 2.0, length=3)


def test_released_slots_are_empty_and_can_be_used_again(model) -> None:
    slots = Slots(model.shape, max_width=32, capacity=4)
    slots.set_width(8, rows=0)
    filled(slots, 0, mark=1.0, length=8)
    keys = slots.inputs()["keys"]
    slots.release()
    assert (keys == 0).all()
    filled(slots, 0, mark=3.0, length=5)
    assert_holds(slots, 0, 3.0, length=5)


def test_a_moved_row_is_the_same_in_its_new_slot(model) -> None:
    slots = Slots(model.shape, max_width=32, capacity=4)
    slots.set_width(8, rows=0)
    filled(slots, 0, mark=1.0, length=5)
    filled(slots, 3, mark=4.0, length=7)
    slots.move(3, 0)
    assert_holds(slots, 0, 4.0, length=7)


def test_widths_are_even_and_few() -> None:
    assert [padded(length) for length in (1, 4, 5, 33, 40, 65, 199, 200)] == [4, 4, 8, 40, 40, 80, 208, 208]
    assert all(padded(length) % 2 == 0 and padded(length) >= length for length in range(1, 500))
    assert len({padded(length) for length in range(1, 201)}) == 21
