"""A lane: rows of similar source length in fixed slots, stepped together.

Attention reads all padded positions of every row, so one long sentence in a batch would slow down all the short ones.
Rows are therefore kept in a few lanes by source length, and each lane makes its own steps.  The rows of a lane always
fill its first slots: a batch of three rows pays for three.

Shapes:  R rows in use · S the lane's width · K key · W values · H state · V vocabulary · U actor units
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnxruntime as ort

from service.engine.probabilities import Array, Floats, Ints, log_normalisers
from service.engine.search import DONE, GO_ON, Moves, Search, Step
from service.engine.sessions import StepBuffers, bind_step
from service.engine.shape import ModelShape


@dataclass(slots=True, eq=False)
class Tenant:
    """A search that lives in a lane, and the slots of its rows."""

    search: Search
    slots: list[int] = field(default_factory=list)


class Lane:
    """Fixed slots for rows whose source has at most `width` tokens."""

    def __init__(
        self,
        session: ort.InferenceSession,
        shape: ModelShape,
        buffers: StepBuffers,
        width: int,
        capacity: int,
        rows_together: bool = True,
    ) -> None:
        self.width = width
        self.capacity = capacity
        self._session = session
        self._shape = shape
        self._buffers = buffers
        self._rows_together = rows_together
        self._previous_ids: Ints = np.zeros(capacity, np.int64)
        self._states: Floats = np.zeros((capacity, shape.state), np.float32)
        # Pages are touched only as slots come into use: a lane nobody needs costs next to nothing.
        self._keys: Floats = np.zeros((capacity, width, shape.key), np.float32)
        self._values: Floats = np.zeros((capacity, width, shape.values), np.float32)
        self._mask: Floats = np.zeros((capacity, width), np.float32)
        self._inputs: dict[str, Array] = {
            "previous_ids": self._previous_ids,
            "state": self._states,
            "keys": self._keys,
            "values": self._values,
            "source_mask": self._mask,
        }
        if shape.actor_units:
            self._inputs["actor_gain"] = np.zeros((capacity, shape.actor_units), np.float32)
        self._bindings: dict[tuple[int, int], ort.IOBinding] = {}  # by first and last slot
        self._owners: list[Tenant | None] = []  # of each slot in use; None is a hole until `compact`
        self._holes: list[int] = []

    @property
    def rows(self) -> int:
        """Rows in use."""
        return len(self._owners) - len(self._holes)

    def place(
        self, search: Search, gain: Floats, keys: Floats, values: Floats, state: Floats, source_length: int
    ) -> Tenant:
        """Give `search` its slots; `keys` [S', K] and `values` [S', W] are one encoded source, S' ≥ source_length."""
        tenant = Tenant(search)
        used = min(len(keys), self.width)
        noise = search.first_noise()
        for row in range(search.rows):
            slot = self._take_slot(tenant)
            tenant.slots.append(slot)
            self._keys[slot, :used] = keys[:used]
            self._keys[slot, used:] = 0.0
            self._values[slot, :used] = values[:used]
            self._values[slot, used:] = 0.0
            self._mask[slot, :source_length] = 1.0
            self._mask[slot, source_length:] = 0.0
            self._states[slot] = state if noise is None else state + noise[row]
            self._previous_ids[slot] = self._shape.bos_id
            if self._shape.actor_units:
                self._inputs["actor_gain"][slot] = gain if search.row_has_actor(row) else 0.0
        return tenant

    def remove(self, tenant: Tenant) -> None:
        """Take a search out of the batch; its slots are holes until a newcomer takes them or `compact` is called."""
        self._free(tenant.slots)
        tenant.slots = []

    def compact(self) -> None:
        """Close the holes by moving the last rows into them."""
        while self._holes:
            last = len(self._owners) - 1
            tenant = self._owners.pop()
            if tenant is None:
                self._holes.remove(last)
                continue
            hole = self._holes.pop()
            for array in self._inputs.values():
                array[hole] = array[last]
            self._owners[hole] = tenant
            tenant.slots[tenant.slots.index(last)] = hole

    def step(self) -> list[Tenant]:
        """Advance every row by one token; return the searches that are done, already removed."""
        self.compact()
        rows = len(self._owners)
        if self._rows_together:
            self._run(0, rows)
        else:
            for row in range(rows):
                self._run(row, row + 1)
        tenants = dict.fromkeys(owner for owner in self._owners if owner is not None)
        return self._advance(rows, tenants)

    def _run(self, start: int, stop: int) -> None:
        binding = self._bindings.get((start, stop))
        if binding is None:
            binding = bind_step(self._session, self._inputs, self._buffers, start, stop)
            self._bindings[start, stop] = binding
        self._session.run_with_iobinding(binding)

    def _advance(self, rows: int, tenants: Iterable[Tenant]) -> list[Tenant]:
        logits = self._buffers.logits[:rows]
        next_states = self._buffers.next_states[:rows]
        tokens = logits.argmax(axis=1)
        normalisers = log_normalisers(logits, self._buffers.scratch[:rows])
        best = logits[np.arange(rows), tokens] - normalisers
        step = Step(logits, normalisers, tokens.tolist(), best.tolist())
        # What most rows do: go on from their own next state with their likeliest token.
        self._previous_ids[:rows] = tokens
        self._states[:rows] = next_states
        done = []
        for tenant in tenants:
            verdict = tenant.search.advance(step, tenant.slots)
            if verdict is GO_ON:
                continue
            if verdict is DONE:
                done.append(tenant)
            elif isinstance(verdict, Moves):
                self._move(tenant, verdict, next_states)
        for tenant in done:
            self.remove(tenant)
        return done

    def _move(self, tenant: Tenant, moves: Moves, next_states: Floats) -> None:
        kept = [tenant.slots[row] for row in moves.kept]
        states = next_states[[tenant.slots[row] for row in moves.parents]]
        self._states[kept] = states if moves.noise is None else states + moves.noise
        self._previous_ids[kept] = moves.tokens
        if len(kept) < len(tenant.slots):
            self._free(set(tenant.slots).difference(kept))
        tenant.slots = kept

    def _take_slot(self, tenant: Tenant) -> int:
        if self._holes:
            slot = self._holes.pop()
            self._owners[slot] = tenant
            return slot
        assert len(self._owners) < self.capacity, "the worker admits no more rows than the lane has slots"
        self._owners.append(tenant)
        return len(self._owners) - 1

    def _free(self, slots: Iterable[int]) -> None:
        for slot in slots:
            self._owners[slot] = None
            self._holes.append(slot)


def lane_widths(max_source_tokens: int, widths: Sequence[int]) -> tuple[int, ...]:
    """Return the widths of the lanes for a bundle: those of `widths` below its limit, and the limit itself."""
    limit = max_source_tokens + max_source_tokens % 2
    return (*(width for width in widths if width < limit), limit)
