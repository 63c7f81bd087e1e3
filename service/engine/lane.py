"""A lane: searches over sources of similar length, whose rows are stepped together.

Attention reads all padded positions of every row, so one long sentence in a batch would slow down all the short ones.
Searches are therefore kept in a few lanes by source length, and each lane makes its own steps.  The rows of a lane
always fill its first slots: a batch of three rows pays for three.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from service.engine.probabilities import Floats
from service.engine.search import DONE, GO_ON, Moves, Search
from service.engine.shape import ModelShape
from service.engine.slots import Slots, padded
from service.engine.stepper import BoundStep, Stepper

MAX_BOUND = 256  # a few kilobytes each
KEPT_WIDTH = 64  # an idle lane for longer sources than this gives its memory back
NARROW_EVERY = 16  # steps between looks at whether the width could shrink


@dataclass(slots=True, eq=False)
class Tenant:
    """A search that lives in a lane, and the slots of its rows."""

    search: Search
    source_length: int
    slots: list[int] = field(default_factory=list)


class Lane:
    """Fixed slots for rows whose source has at most `max_width` tokens."""

    def __init__(self, stepper: Stepper, shape: ModelShape, max_width: int, capacity: int) -> None:
        self.max_width = padded(max_width)
        self._capacity = capacity
        self._stepper = stepper
        self._slots = Slots(shape, self.max_width, capacity)
        self._no_gain: Floats = np.zeros(shape.actor_units, np.float32)
        self._bound: dict[tuple[int, int], BoundStep] = {}  # by width and rows
        self._owners: list[Tenant | None] = []  # of each slot in use; None is a hole until `compact`
        self._holes: list[int] = []
        self._tenants: dict[Tenant, None] = {}  # in the order they came
        self._steps = 0

    @property
    def rows(self) -> int:
        """Rows in use."""
        return len(self._owners) - len(self._holes)

    @property
    def width(self) -> int:
        """The padded source length at which the lane steps now."""
        return self._slots.width

    def place(self, tenant: Tenant, keys: Floats, values: Floats, state: Floats, gain: Floats) -> None:
        """Give a search its slots; `keys` [S, K], `values` [S, W] and `state` [H] are those of its source."""
        search, width = tenant.search, padded(tenant.source_length)
        self._tenants[tenant] = None
        if width > self.width or not self.rows:
            self._set_width(width)
        noise = search.first_noise()
        for row in range(search.rows):
            slot = self._take_slot(tenant)
            tenant.slots.append(slot)
            row_state = state if noise is None else state + noise[row]
            row_gain = gain if search.row_has_actor(row) else self._no_gain
            self._slots.write(slot, keys, values, row_state, row_gain, tenant.source_length)

    def remove(self, tenant: Tenant) -> None:
        """Take a search out of the batch; its slots are holes until a newcomer takes them or `compact` is called."""
        self._free(tenant.slots)
        tenant.slots = []
        self._tenants.pop(tenant, None)

    def compact(self) -> None:
        """Close the holes by moving the last rows into them."""
        while self._holes:
            last = len(self._owners) - 1
            tenant = self._owners.pop()
            if tenant is None:
                self._holes.remove(last)
                continue
            hole = self._holes.pop()
            self._slots.move(last, hole)
            self._owners[hole] = tenant
            tenant.slots[tenant.slots.index(last)] = hole

    def step(self) -> list[Tenant]:
        """Advance every row by one token; return the searches that are done, already removed."""
        if self._holes:
            self.compact()
        self._narrow()
        step = self._bind().run()
        done = []
        for tenant in self._tenants:
            verdict = tenant.search.advance(step, tenant.slots)
            if verdict is GO_ON:
                continue
            if verdict is DONE:
                done.append(tenant)
            elif isinstance(verdict, Moves):
                self._move(tenant, verdict)
        for tenant in done:
            self.remove(tenant)
        if not self.rows and self.max_width > KEPT_WIDTH:
            self._slots.release()
        return done

    def _bind(self) -> BoundStep:
        shape = (self._slots.width, len(self._owners))
        bound = self._bound.get(shape)
        if bound is None:
            if len(self._bound) >= MAX_BOUND:
                del self._bound[next(iter(self._bound))]
            bound = self._bound[shape] = self._stepper.bind(self._slots.inputs(), len(self._owners))
        return bound

    def _move(self, tenant: Tenant, moves: Moves) -> None:
        kept = [tenant.slots[row] for row in moves.kept]
        states = self._slots.states[[tenant.slots[row] for row in moves.parents]]
        self._slots.states[kept] = states if moves.noise is None else states + moves.noise
        self._slots.previous_ids[kept] = moves.tokens
        if len(kept) < len(tenant.slots):
            self._free(set(tenant.slots).difference(kept))
        tenant.slots = kept

    def _narrow(self) -> None:
        """Shrink the width now and then, when it has become much more than the rows need."""
        self._steps += 1
        if self._steps % NARROW_EVERY:
            return
        needed = padded(max(tenant.source_length for tenant in self._tenants))
        if self.width - needed > needed // 4:
            self._set_width(needed)

    def _set_width(self, width: int) -> None:
        if not self.rows:
            self._owners, self._holes = [], []
        if width != self.width:
            self._slots.set_width(width, len(self._owners))

    def _take_slot(self, tenant: Tenant) -> int:
        if self._holes:
            slot = self._holes.pop()
            self._owners[slot] = tenant
            return slot
        assert len(self._owners) < self._capacity, "the worker admits no more rows than the lane has slots"
        self._owners.append(tenant)
        return len(self._owners) - 1

    def _free(self, slots: Iterable[int]) -> None:
        for slot in slots:
            self._owners[slot] = None
            self._holes.append(slot)
