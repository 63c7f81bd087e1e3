"""Split a text into sentences and put their translations back, byte for byte.

    segments = split("  Hello there. \n\nHow are you?", language="en")
    rejoin(segments, ["Hallo.", "Wie geht's?"])  ==  "  Hallo. \n\nWie geht's?"

A segment is a sentence or the exact text between two sentences: spaces, line breaks, bullets, and whatever has no
letter in it.  Joining all segments gives the text that was split, whatever the text is.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import sentencex

from service.text.abbreviations import goes_on
from service.text.dates import CALENDARS

# Line breaks and tabs, which part cells, are never moved, so a sentence never spans one.  \v \f \x1c-\x1e \x85 and the
# Unicode separators are breaks for str.splitlines, and inside a sentence no tokeniser keeps them.
BREAK = re.compile(r"([\t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+)")

# Between fences is code, and between the bars of a table's row are cells (Markdown).
_FENCED = re.compile(r"(^ {0,3}```[^`\n]*\n.*?^ {0,3}```[^\n]*$)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"\s*\|.*\|\s*")
_BAR = re.compile(r"(\|)")

# What may stand before the first or after the last word of a sentence without being part of it: white space, and at
# the front a bullet or a number of a list.
_FRONT = re.compile(r"\s*(?:(?:[-*+•‣◦▪·–—>#]+|\(?\d{1,3}[.)])\s+)*", re.UNICODE)

# Not a number of a list, nor the end of a sentence, where a month goes on: "3. Mai", "3. MAI".
_DAY_AND_POINT = ("de",)  # languages that write a day so
_ENDS_IN_DAY = re.compile(r"(?<!\w)\d{1,2}\.\s*$")

# sentencex sees the end of a sentence where the next one begins with a letter: not in "How much? 12.50 euros."
_BEFORE_NUMBER = re.compile(r"(?<=[?!])(\s+)(?=\d)")

# Where an over-long sentence may be cut, best first: after a clause, after a comma, between two words.
_CUTS = (re.compile(r"[;:!?.…—]\s+"), re.compile(r",\s+|[،、，；：。！？]\s*"), re.compile(r"\s+"))


TokenCount = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence to translate, or text to keep."""

    text: str
    is_sentence: bool


def split(text: str, language: str, count: TokenCount, limit: int, keeps_lines: bool = True) -> list[Segment]:
    """Cut `text` into segments whose concatenation is `text`.

    No sentence has more than `limit` tokens by `count`: a longer one is cut between clauses or words.  In HTML a line
    break is a space like any other, so there `keeps_lines` is False.
    """
    segments: list[Segment] = []
    for line, is_running in _running_text(text) if keeps_lines else [(text, True)]:
        if not is_running or not has_letter(line):
            _append(segments, line)
            continue
        for piece in _sentences(line, language):
            start = _start(piece, language)
            _append(segments, piece[:start])
            for part in cut_long(piece[start:], count, limit):
                core = part.strip()
                at = part.find(core)
                _append(segments, part[:at])
                _append(segments, core, is_sentence=has_letter(core))
                _append(segments, part[at + len(core) :])
    return segments


def rejoin(segments: Sequence[Segment], translations: Iterable[str]) -> str:
    """The text with each sentence replaced by its translation, in order."""
    remaining = iter(translations)
    return "".join(next(remaining) if segment.is_sentence else segment.text for segment in segments)


def has_letter(text: str) -> bool:
    """Whether there is anything to translate: numbers, punctuation and emoji mean the same everywhere."""
    return any(character.isalpha() for character in text)


def _running_text(text: str) -> Iterator[tuple[str, bool]]:
    """Lines and cells, with what is between them, and whether sentences may be found there: not in code."""
    for index, block in enumerate(_FENCED.split(text) if "```" in text else [text]):
        if index % 2:
            yield block, False
            continue
        for line in BREAK.split(block):
            for cell in _BAR.split(line) if "|" in line and _ROW.fullmatch(line) else [line]:
                yield cell, True


def cut_long(sentence: str, count: TokenCount, limit: int) -> list[str]:
    """Cut a sentence into parts of at most `limit` tokens, near its middle and at the best boundary there is."""
    if count(sentence) <= limit or len(sentence) < 2:
        return [sentence]
    at = _cut_near_middle(sentence)
    return cut_long(sentence[:at], count, limit) + cut_long(sentence[at:], count, limit)


def _start(piece: str, language: str) -> int:
    """Where the sentence begins behind white space, a bullet or a number of a list."""
    front = _FRONT.match(piece)
    start = front.end() if front else 0
    day = _ENDS_IN_DAY.search(piece[:start])
    return day.start() if day and _is_month(piece[start:], language) else start


def _is_month(text: str, language: str) -> bool:
    return language in _DAY_AND_POINT and CALENDARS[language].begins_with_month(text)


def _sentences(line: str, language: str) -> list[str]:
    """sentencex, guarded: should it ever lose a character, the line stays whole."""
    pieces: list[str] = sentencex.segment(language, line)
    if "".join(pieces) != line:
        return [line]
    whole: list[str] = []
    for piece in pieces:
        if whole and _is_one(whole[-1], piece, language):
            whole[-1] += piece
        else:
            whole.append(piece)
    return [part for piece in whole for part in _BEFORE_NUMBER.split(piece)]


def _is_one(first: str, second: str, language: str) -> bool:
    """Whether a point between two pieces ends no sentence: "am 3. | Mai", "ca. | 5 Euro"."""
    return goes_on(first, language) or (bool(_ENDS_IN_DAY.search(first)) and _is_month(second, language))


def _cut_near_middle(sentence: str) -> int:
    """The best place to cut in the middle half; about the middle of a text without any boundary."""
    middle = len(sentence) // 2
    for pattern in _CUTS:
        places = [match.end() for match in pattern.finditer(sentence, middle // 2, middle + middle // 2)]
        if places:
            return min(places, key=lambda place: (abs(place - middle), -place))
    # Never between a letter and its accents, unless there is nothing but accents.
    at = middle
    while at < len(sentence) and unicodedata.combining(sentence[at]):
        at += 1
    return at if at < len(sentence) else middle


def _append(segments: list[Segment], text: str, is_sentence: bool = False) -> None:
    if text:
        segments.append(Segment(text, is_sentence))
