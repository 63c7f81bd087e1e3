"""What a model would garble goes to it as something that it copies: numbers, dates and names, found and replaced."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from service.text.anchors import Anchor, replaced
from service.text.loans import Loan
from service.text.opaque import Span


class Finder(Protocol):
    """Finds what is to be lent."""

    def find(self, sentence: str, anchors: Sequence[Anchor] = ()) -> list[tuple[int, int, Loan]]:
        """Start and end of each, in order, and its loan, that has no offset yet."""


@dataclass(frozen=True, slots=True)
class Lender:
    """Lends what its finders find; where they overlap, the first of them has it."""

    finders: Sequence[Finder]

    def lend(self, sentence: str, anchors: Sequence[Anchor] = ()) -> tuple[str, list[Anchor], list[Loan]]:
        """Put stand-ins in place; return the sentence, where its anchors are now, and the loans."""
        found: list[tuple[int, int, Loan]] = []
        for finder in self.finders:
            found += [
                (start, stop, loan)
                for start, stop, loan in finder.find(sentence, anchors)
                if not any(start < anchor.offset < stop for anchor in anchors)  # a tag cuts it
                and not any(start < other_stop and other_start < stop for other_start, other_stop, _ in found)
            ]
        found.sort(key=lambda one: one[0])
        spans = [Span(start, stop, loan.stand_in) for start, stop, loan in found]
        text, moved, offsets = replaced(sentence, spans, anchors)
        return text, moved, [replace(loan, offset=offset) for (_, _, loan), offset in zip(found, offsets, strict=True)]
