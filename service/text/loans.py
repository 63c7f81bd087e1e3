"""What a model is lent in place of what it would garble, and how the caller gets his own back.

    "Das kostet 1.299,99 Euro."    the model gets  "Das kostet 48 Euro."
    "That costs 48 euros."         the caller gets "That costs 1,299.99 euros."

`service.text.numbers`, `dates` and `names` find what to lend, `lending` puts them together.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

from service.text.anchors import Anchor
from service.text.dates import LentDate

_LAST_WORD = re.compile(r"\w+$")


class Kind(Enum):
    """What is lent, and how a number looks where a model has misread it."""

    LONG = re.compile(r"(?<![\d.,:])\d{2,3}(?![\d:]|[.,]\d)")  # as its stand-in
    TIME = re.compile(r"(?<![\d.,:])\d{1,2}[:.]+\d{1,2}(?![\d:]|[.,]\d)")
    SHORT = re.compile(r"(?<![\d.,:])\d{2,4}(?![\d:]|[.,]\d)")  # where it is missing, it may be written in words
    DATE = re.compile(r"(?!)")  # as its own `LentDate` says
    NAME = re.compile(r"[^\s\S]")  # any word might be it: no look of its own


@dataclass(frozen=True, slots=True)
class Loan:
    """A number or a name of a sentence, and what stands in its place, at `offset` of what the model gets."""

    offset: int
    stand_in: str
    literal: str  # as the target language writes it
    kind: Kind = Kind.LONG
    date: LentDate | None = None

    @property
    def anchor(self) -> Anchor:
        """It as an anchor, for a translation that has lost its stand-in."""
        return Anchor(self.offset, self.literal, has_space_before=True, has_space_after=True)


def reclaim(translation: str, lent: str, loans: Sequence[Loan]) -> str:
    """The translation with lost stand-ins in the places of numbers that were not in what the model got.

    A model that misreads 48 writes 68, perhaps twice: the first such number becomes the stand-in again, others like it
    go.  A loan for which there is no such number stays lost.
    """
    for loan in loans:
        if not _is_missing(loan, translation):
            continue
        if loan.date:
            translation = loan.date.day.sub(loan.date.written, translation, count=1)
            continue
        if loan.kind is Kind.NAME:  # a model that misreads Smith writes Hmith
            translation = re.sub(
                rf"(?<!\w)\w{{1,2}}{loan.stand_in[1:]}(?=s?(?!\w))", loan.stand_in, translation, count=1
            )
            continue
        pattern = loan.kind.value
        known = {*pattern.findall(lent), *(one.stand_in for one in loans)}
        strange = (match for match in pattern.finditer(translation) if match[0] not in known)
        if loan.kind is Kind.SHORT:
            strange = (match for match in strange if len(match[0]) == len(loan.stand_in))
        found = next(strange, None)
        if found is not None:
            again = re.compile(rf" ?(?<![\d.,:]){re.escape(found[0])}(?![\d:]|[.,]\d)")
            head, tail = translation[: found.start()], translation[found.end() :]
            translation = head + loan.stand_in + again.sub("", tail)
    return translation


def repay(translation: str, loans: Sequence[Loan]) -> str:
    """Put what is the caller's in the places of its stand-ins."""
    for loan in loans:
        translation = _pattern(loan).sub(partial(_returned, loan), translation)
    return translation


def repay_pieces(pieces: Sequence[str], loans: Sequence[Loan]) -> list[str]:
    """The same for a translation in pieces: a literal is in the first piece of its stand-in."""
    characters = [list(piece) for piece in pieces]
    places = [(index, at) for index, piece in enumerate(pieces) for at in range(len(piece))]
    text = "".join(pieces)
    for loan in loans:
        for match in _pattern(loan).finditer(text):
            for position in range(*match.span()):
                index, at = places[position]
                characters[index][at] = _returned(loan, match) if position == match.start() else ""
    return ["".join(piece) for piece in characters]


def is_lost(loan: Loan, translation: str) -> bool:
    """Whether the stand-in is not in the translation, so that the literal must be set down like an anchor."""
    return loan.kind is not Kind.SHORT and _is_missing(loan, translation)


def _is_missing(loan: Loan, translation: str) -> bool:
    return not _pattern(loan).search(translation)


def without_unfinished(translation: str, loans: Sequence[Loan]) -> str:
    """A translation that is still being made, up to what may become a stand-in."""
    for loan in loans:
        if loan.date:
            translation = loan.date.without_unfinished(translation)
        elif loan.kind is Kind.NAME:
            last = _LAST_WORD.search(translation)
            if last and loan.stand_in.lower().startswith(last[0].lower()):
                translation = translation[: last.start()]
    return translation.rstrip("0123456789:") if loans else translation


def _returned(loan: Loan, match: re.Match[str]) -> str:
    return loan.literal.upper() if match[0].isupper() else loan.literal


def _pattern(loan: Loan) -> re.Pattern[str]:
    if loan.date:
        return loan.date.whole
    if loan.kind is Kind.NAME:
        # In the genitive, too, and in small letters, where the model takes it for a thing.
        return re.compile(rf"(?<!\w)(?i:{loan.stand_in})(?=s?(?!\w))")
    written = loan.stand_in.replace(":", "[:.]")  # some write 18.30
    return re.compile(rf"(?<!\d)(?<!\d[.,]){written}(?!\d|[.,]\d)")
