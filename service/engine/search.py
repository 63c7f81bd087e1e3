"""A search: the state machine that turns one job's steps into hypotheses.

A search owns one or several rows of a batch.  At every step the batch computes, for all rows of all searches together,
the log-probabilities and the next states; then each search looks at its own rows and says what they do next.

Shapes:  R rows of the batch · V vocabulary · H decoder state
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from service.engine.probabilities import Floats
from service.engine.types import Hypothesis


@dataclass(slots=True)
class Step:
    """What one step of a batch gave; a search reads the slots that are its own."""

    log_probabilities: Floats  # [R, V]
    tokens: list[int]  # [R]: the likeliest token of each row
    best: list[float]  # [R]: the log-probabilities of those tokens


class Verdict:
    """What becomes of a search's rows after a step."""

    __slots__ = ()


class GoOn(Verdict):
    """Every row goes on from its own next state, having said its likeliest token."""

    __slots__ = ()


class Done(Verdict):
    """The search is over: its rows leave the batch."""

    __slots__ = ()


@dataclass(slots=True)
class Moves(Verdict):
    """The rows `kept` go on, the others leave.

    Row `kept[i]` takes the next state of row `parents[i]` (plus `noise[i]`) and says `tokens[i]`.  Rows are counted
    within the search; `kept` is ascending and names no row twice.
    """

    kept: Sequence[int]
    parents: Sequence[int]
    tokens: Sequence[int]
    noise: Floats | None = None  # [len(kept), H]


GO_ON = GoOn()
DONE = Done()


class Search(ABC):
    """One job's way through the output space."""

    rows: int  # rows it starts with; it never has more

    def first_noise(self) -> Floats | None:
        """Return what to add to the first state of each row [rows, H], if anything."""
        return None

    def row_has_actor(self, row: int) -> bool:
        """Whether `row` decodes with the job's actors (a shadow row does not)."""
        return True

    @abstractmethod
    def advance(self, step: Step, slots: Sequence[int]) -> Verdict:
        """Take in a step; `slots[i]` is where row i of this search stands in the batch."""

    @abstractmethod
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """Return the result, best first; only after `DONE`."""
