"""Dates of a day and a month: a model copies some faithfully and garbles others, so it is lent one of the former.

    "Wir treffen uns am 3. Mai."         the model gets  "Wir treffen uns am 24. September."
    "We'll meet on the 24th September."  the caller gets "We'll meet on 3 May."

A date comes back in one spelling, "3 May" or "3. Mai", however it was written and whatever the model has made of it:
the day before its month or behind it, an article, the month twice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

_SPACE = "[ \u00a0\u202f]"
_BEGINS = r"(?<![\w.,:/–-])"
_DAY = r"0?[1-9]|[12]\d|3[01]"
_ORDINAL = "(?:st|nd|rd|th|ST|ND|RD|TH)"
_ENGLISH = "January|February|March|April|May|June|July|August|September|October|November|December"
_GERMAN = "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
# Behind "May 3", which may also be a month and a number of things: "in May 3 people came".
_AFTER_DATE = (
    "a|after|and|are|as|at|because|before|but|by|for|from|he|her|his|if|in|is|it|my|of|on|or|our|she|so|that|the|there|they|this|"
    "through|till|to|until|was|we|were|when|which|will|with|you"
)


class Date(NamedTuple):
    """A day of some year; `month` 0 is January."""

    day: int
    month: int


# Of those that the shipped models copy best in either direction, with days that are no stand-ins of numbers.
STAND_INS = (Date(24, 8), Date(21, 0), Date(26, 10), Date(23, 3), Date(28, 1), Date(25, 9))


@dataclass(frozen=True, slots=True)
class LentDate:
    """How a date that was lent may look in a translation."""

    whole: re.Pattern[str]  # its month, and its day where the model has kept it
    day: re.Pattern[str]  # its day, where the month is lost
    words: frozenset[str]  # it is made of, and their beginnings, in small letters
    written: str  # as it should look

    def without_unfinished(self, translation: str) -> str:
        """A translation that is still being made, up to what may be part of the date."""
        words = translation.split(" ")
        while words and words[-1].rstrip(".:,").lower() in self.words:
            words.pop()
        return " ".join(words)


@dataclass(frozen=True, eq=False)
class Calendar:
    """How a language writes dates."""

    months: tuple[str, ...]
    found: re.Pattern[str]  # a date in a source, with the groups day1, month1 or day2, month2
    form: str  # how we write one
    before: str  # what a translation may have before a day, as a pattern; {} is the day
    behind: str  # and where the month came first
    words: tuple[str, ...]  # of both

    def find(self, sentence: str) -> Iterator[tuple[int, int, Date]]:
        """Start, end and date of each date."""
        for match in self.found.finditer(sentence):
            day, month = match["day1"] or match["day2"], match["month1"] or match["month2"]
            yield *match.span(), Date(int(day), self.months.index(month.capitalize()))

    def write(self, date: Date) -> str:
        return self.form.format(day=date.day, month=self.months[date.month])

    def begins_with_month(self, text: str) -> bool:
        """Whether a day could stand before the text."""
        word = re.match(r"[^\W\d_]+", text)
        return word is not None and word[0].capitalize() in self.months

    def names(self, date: Date, sentence: str) -> bool:
        """Whether a sentence has the date's month already."""
        return self.months[date.month].lower() in sentence.lower()

    @cache  # noqa: B019 - a few dates of two calendars that live as long as the process
    def lent(self, date: Date) -> LentDate:
        """What may become of a date that stood in the source of a translation into this language."""
        month = self.months[date.month]
        before, behind = self.before.format(date.day), self.behind.format(date.day)
        words = (*self.words, month, *(f"{date.day}{end}" for end in ("st", "nd", "rd", "th", ":00")))
        begun = frozenset(word[:length].lower() for word in words for length in range(len(word) + 1))
        return LentDate(
            re.compile(rf"(?:{before}[.:,]?(?: of)? )?\b{month}\b(?: {behind})?(?: {month}\b)?", re.IGNORECASE),
            re.compile(rf"{before}(?::00)?(?![\d:]|[.,]\d)", re.IGNORECASE),
            begun,
            self.write(date),
        )


def _either(months: str) -> str:
    """Months as they are written, and in capitals."""
    return f"{months}|{months.upper()}"


CALENDARS = {
    "de": Calendar(
        months=tuple(_GERMAN.split("|")),
        found=re.compile(
            rf"{_BEGINS}(?P<day1>{_DAY})\.{_SPACE}?(?P<month1>{_either(_GERMAN)})(?!\w)(?P<day2>)(?P<month2>)"
        ),
        form="{day}. {month}",
        before=r"(?<![\d.,:]){}",
        behind=r"{}(?![\w:]|[.,]\d)",
        words=(),
    ),
    "en": Calendar(
        months=tuple(_ENGLISH.split("|")),
        found=re.compile(
            rf"{_BEGINS}(?:(?:[Tt]he{_SPACE})?(?P<day1>{_DAY}){_ORDINAL}?{_SPACE}(?:of{_SPACE})?(?P<month1>{_either(_ENGLISH)})"
            rf"|(?P<month2>{_either(_ENGLISH)}){_SPACE}(?:the{_SPACE})?(?P<day2>{_DAY})(?:{_ORDINAL}|(?!\d)"
            # A year, the end of the sentence or of a part of it, a name, or a word that goes on behind a date.
            rf"(?=,?{_SPACE}\d{{4}}(?!\d)|\W*$|[,;:!?)](?!\d)|{_SPACE}(?:[A-Z(–]|(?:{_AFTER_DATE})\b))))"
            rf"(?!\w)(?:,(?={_SPACE}\d{{4}}(?!\d)))?"  # the comma before a year, which goes with this order
        ),
        form="{day} {month}",
        before=rf"(?:\bthe )?(?<![\d.,:]){{}}{_ORDINAL}?",
        behind=rf"(?:the )?{{}}{_ORDINAL}?(?![\w:]|[.,]\d)",
        words=("the", "of"),
    ),
}
