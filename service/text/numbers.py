"""Long numbers: a model copies short ones faithfully and garbles others, so it is lent short ones in their place.

    "Das kostet 1.299,99 Euro."    the model gets  "Das kostet 48 Euro."
    "That costs 48 euros."         the caller gets "That costs 1,299.99 euros."

A number comes back as the target language writes it: the decimal mark and the mark of thousands change places.  What is
no amount (a date, a version, an identifier) comes back as it was.  Times and short numbers stand for themselves: the
model copies them nearly always, and where it has misread one (2012 as 1012), that is put right.  Dates such as "3. Mai"
are lent as a whole (`service.text.dates`), and so are measures and what is below zero: "75 kg", "-5".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from service.text.anchors import Anchor
from service.text.dates import CALENDARS, STAND_INS
from service.text.loans import Kind, Loan

_SPACES = " \u00a0\u202f"
# Groups of thousands, decimals, dates, or five digits and more; not part of a word, a time, a path, or the end of a
# telephone number whose beginning is not matched.
_HALF_DAY = rf"[{_SPACES}]?(?i:[ap]\.?m)\b"
_LONG = (
    rf"(?<![\w.,:/])(?!(?<=\d[{_SPACES}])\d{{3}}(?!\d))"
    rf"(?:\d{{4}}-\d\d-\d\d(?![\w-])|\d{{1,3}}+(?:[{_SPACES}]\d{{3}}(?!\d))++(?:[.,]\d++)?+|\d++(?:[.,]\d++)++|\d{{5,}}+|\d{{1,4}}[a-f](?!\w))"
    rf"(?!:|[.,/]\d|{_HALF_DAY})"
)
_TIME = rf"(?<![\w.,:/-])(?:[01]?\d|2[0-4]):[0-5]\d(?![\w:-]|[.,/]\d|{_HALF_DAY})"
# With units that are written alike everywhere.
_UNITS = (
    "[kmµ]?g|[kcmµn]?m|[mcd]?[lL]|ha|km/h|m/s|mph|°[CF]|[kMG]?W|[kMG]?Wh|k?V|mAh|[kMG]?Hz|[kKMGT]B|[kKMGT]i?B/s|[kMG]bit/s|k?cal|kJ|"
    "hPa|dB|dpi|px|min|h|ms|s"
)
_AMOUNT = rf"(?:\d{{1,3}}+(?:[{_SPACES}]\d{{3}}(?!\d))++(?:[.,]\d++)?+|\d++(?:[.,]\d++)*+)"
_MEASURE = (
    rf"(?<![\w.,:/−-])[−-]?{_AMOUNT}(?:[{_SPACES}]?[–-][{_SPACES}]?{_AMOUNT})?[{_SPACES}]?(?:{_UNITS})(?![\w/²³-])"
    rf"|(?<![\w.,:/−–)\]-])[−-]{_AMOUNT}(?![\w:/-]|[.,]\d)"
)
_SHORT = r"(?<![\w.,:/-])\d{2,4}(?![\w:/-]|[.,]\d)"
_LENT = re.compile(f"(?P<time>{_TIME})|(?P<measure>{_MEASURE})|(?:{_LONG})|(?P<short>{_SHORT})")
_ONE_AMOUNT = re.compile(_AMOUNT)
_NUMBER = re.compile(r"\d+")
_SPACE = re.compile(f"[{_SPACES}]")
_LAST_WORD = re.compile(r"(\w+)[ \u00a0]$")
_NAME = re.compile(r"[A-Z][a-z]+")  # Windows 8.1; the first word of a sentence may be any
_TECHNICAL = re.compile(r"[A-Z]{2,}|[a-z]+[A-Z]\w*")  # USB 3.0, macOS 10.15
_CURRENCIES = frozenset(("USD", "EUR", "GBP", "CHF", "JPY", "AUD", "CAD", "SEK", "NOK", "DKK", "PLN", "CZK"))
_LABELS = frozenset(("version", "release", "chapter", "section", "figure", "table"))
# Two digits that mean nothing by themselves.
_STAND_INS = tuple(str(number) for number in (48, 63, 57, 72, 36, 85, 94, 29, 67, 83, 46, 75, 38, 92, 54, 87, 43, 69))


class _Marks(NamedTuple):
    decimal: str
    thousands: str


_POINT, _COMMA = _Marks(".", ","), _Marks(",", ".")
# Languages that write both marks; others group by spaces, or in ways of their own.
_MARKS = {"en": _POINT} | dict.fromkeys(("da", "de", "el", "es", "id", "it", "nl", "pt", "sl", "tr"), _COMMA)


@dataclass(frozen=True, slots=True)
class Numbers:
    """How numbers are written in two languages; of a language that is not known here, no number is touched."""

    source: str
    target: str

    def find(self, sentence: str, anchors: Sequence[Anchor] = ()) -> list[tuple[int, int, Loan]]:
        """Start and end of what is lent, in order, and its loan, that has no offset yet."""
        if self.source not in _MARKS or self.target not in _MARKS or not _NUMBER.search(sentence):
            return []
        found = list(self._find_dates(sentence))
        stand_ins = _free_stand_ins(sentence, anchors)
        for match in _LENT.finditer(sentence):
            start, stop = match.span()
            if any(start < other_stop and other_start < stop for other_start, other_stop, _ in found):
                continue  # the day of a date
            kind = Kind.TIME if match["time"] else Kind.SHORT if match["short"] else Kind.LONG
            stand_in = next(stand_ins, None) if kind is Kind.LONG else match[0]
            if stand_in is None:
                break
            number = match[0]
            if match["measure"]:
                number = _ONE_AMOUNT.sub(lambda amount: self._written(amount[0], ""), number)
            elif kind is Kind.LONG:
                number = self._written(number, sentence[:start])
            found.append((start, stop, Loan(0, stand_in, number, kind)))
        return sorted(found, key=lambda one: one[0])

    def _find_dates(self, sentence: str) -> Iterator[tuple[int, int, Loan]]:
        source, target = CALENDARS.get(self.source), CALENDARS.get(self.target)
        if source is None or target is None:
            return
        dates = list(source.find(sentence))
        numbers = {*_NUMBER.findall(sentence)} if dates else ()
        free = (one for one in STAND_INS if str(one.day) not in numbers and not source.names(one, sentence))
        for (start, stop, date), stand_in in zip(dates, free, strict=False):
            written = source.write(stand_in)
            if sentence[start:stop].isupper():
                written = written.upper()
            yield start, stop, Loan(0, written, target.write(date), Kind.DATE, target.lent(stand_in))

    def _written(self, number: str, before: str) -> str:
        """The number as the target language writes it, behind these words of the source."""
        source, target = _MARKS[self.source], _MARKS[self.target]
        whole, _, decimals = number.partition(source.decimal)
        if decimals and _SPACE.search(whole):  # 1 299,99; without decimals, 12 300 may be two numbers, and stays
            return _SPACE.sub(target.thousands, whole) + target.decimal + decimals
        if source == target or not _is_amount(number, source) or (source is _POINT and _is_label(number, before)):
            return number
        return number.translate(str.maketrans("".join(source), "".join(target)))


def _free_stand_ins(sentence: str, anchors: Sequence[Anchor]) -> Iterator[str]:
    """Stand-ins that neither the sentence nor anything that was lifted out of it holds."""
    taken = {*_NUMBER.findall(sentence), *(one for anchor in anchors for one in _NUMBER.findall(anchor.literal))}
    return (stand_in for stand_in in _STAND_INS if stand_in not in taken)


def _is_amount(number: str, marks: _Marks) -> bool:
    decimal, thousands = map(re.escape, marks)
    return bool(re.fullmatch(rf"\d{{1,3}}(?:{thousands}\d{{3}})+(?:{decimal}\d+)?|\d+{decimal}\d+", number))


def _is_label(number: str, before: str) -> bool:
    """Whether a number such as 3.12 names something: Python 3.12, USB 3.0, section 4.2."""
    word = _LAST_WORD.search(before)
    if word is None or number.count(".") != 1 or "," in number:
        return False
    if word[1].lower() in _LABELS or (_TECHNICAL.fullmatch(word[1]) and word[1] not in _CURRENCIES):
        return True
    return word.start() > 0 and bool(_NAME.fullmatch(word[1]))
