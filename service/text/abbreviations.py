"""Abbreviations, written out: models have read "zum Beispiel" thousands of times, and "z. B." hardly ever.

    "Nimm Obst mit, z. B. Äpfel usw."    the model gets    "Nimm Obst mit, zum Beispiel Äpfel und so weiter."
    "Come at 6:30 p.m."                  the model gets    "Come at 18:30."

Only those that mean one thing.  The point of one that ends a sentence is the sentence's, too, and stays.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from service.text.anchors import Anchor, replaced
from service.text.opaque import Span

_WRITTEN_OUT: Mapping[str, Mapping[str, str]] = {
    "de": {
        "z. B.": "zum Beispiel",
        "d. h.": "das heißt",
        "u. a.": "unter anderem",
        "v. a.": "vor allem",
        "z. T.": "zum Teil",
        "u. U.": "unter Umständen",
        "i. d. R.": "in der Regel",
        "o. Ä.": "oder Ähnliches",
        "m. E.": "meines Erachtens",
        "u. v. m.": "und vieles mehr",
        "bspw.": "beispielsweise",
        "usw.": "und so weiter",
        "etc.": "und so weiter",
        "bzw.": "beziehungsweise",
        "ca.": "etwa",
        "evtl.": "eventuell",
        "ggf.": "gegebenenfalls",
        "inkl.": "einschließlich",
        "exkl.": "ausschließlich",
        "zzgl.": "zuzüglich",
        "sog.": "sogenannte",
        "vgl.": "vergleiche",
        "Mio.": "Millionen",
        "Mrd.": "Milliarden",
        "Std.": "Stunden",
        "Min.": "Minuten",
        "Nr.": "Nummer",
        "Tel.": "Telefon",
        "MfG": "Mit freundlichen Grüßen",
    },
    "en": {
        "e.g.": "for example",
        "i.e.": "that is",
        "etc.": "and so on",
        "approx.": "about",
        "incl.": "including",
        "excl.": "without",
        "vs.": "against",
        "w/o": "without",
        "ASAP": "as soon as possible",
        "asap": "as soon as possible",
        "btw": "by the way",
        "BTW": "by the way",
        "Mrs.": "Mrs",
        "U.S.": "USA",
        "U.S.A.": "USA",
        "U.K.": "UK",
    },
}
# Behind these a sentence may be over; behind the others it goes on.
_MAY_BE_LAST = frozenset(
    (
        "u. v. m.",
        "o. Ä.",
        "usw.",
        "etc.",
        "Mio.",
        "Mrd.",
        "Std.",
        "Min.",
        "ASAP",
        "asap",
        "btw",
        "BTW",
        "U.S.",
        "U.S.A.",
        "U.K.",
    )
)
_SPACE = "[ \u00a0\u202f]?"
_HALF_DAYS = {
    "en": rf"(?P<hour>0?[1-9]|1[0-2])(?::(?P<minute>[0-5]\d))?{_SPACE}(?P<half>[aApP])(?:\.{_SPACE}[mM]\.|[mM])"
}


def write_out(sentence: str, language: str, anchors: Sequence[Anchor] = ()) -> tuple[str, list[Anchor]]:
    """The sentence without abbreviations, and its anchors where they are now."""
    pattern = _pattern(language)
    if pattern is None:
        return sentence, list(anchors)
    spans = []
    for match in pattern.finditer(sentence):
        start, stop = match.span()
        if any(start < anchor.offset < stop for anchor in anchors):
            continue  # a tag cuts it
        words = _time(match) if match["time"] else _words(language)[_without_spaces(match[0])]
        is_first = not sentence[:start].strip()
        ends = match[0].endswith(".") and not any(character.isalnum() for character in sentence[stop:])
        written = (words[:1].upper() if is_first else words[:1]) + words[1:] + ("." if ends else "")
        spans.append(Span(start, stop, written))
    text, moved, _ = replaced(sentence, spans, anchors)
    return text, moved


def goes_on(text: str, language: str) -> bool:
    """Whether the text ends with an abbreviation behind which its sentence is not over."""
    last = _last(language)
    return last is not None and last.search(text) is not None


def _time(match: re.Match[str]) -> str:
    """6:30 p.m. as 18:30, for no language but English counts to twelve twice."""
    hour = int(match["hour"]) % 12 + (12 if match["half"] in "pP" else 0)
    return f"{hour}:{match['minute'] or '00'}"


@cache
def _words(language: str) -> dict[str, str]:
    return {_without_spaces(short): words for short, words in _WRITTEN_OUT[language].items()}


@cache
def _pattern(language: str) -> re.Pattern[str] | None:
    """Any abbreviation of the language as a word of its own, with spaces in it or without; None where we know none."""
    if language not in _WRITTEN_OUT:
        return None
    time = _HALF_DAYS.get(language, "(?!)(?P<hour>)(?P<minute>)(?P<half>)")
    return re.compile(rf"(?<![\w.,:@/-])(?:(?P<time>{time})|{_any_of(_WRITTEN_OUT[language])})(?!\w)")


@cache
def _last(language: str) -> re.Pattern[str] | None:
    going_on = [short for short in _WRITTEN_OUT.get(language, ()) if short not in _MAY_BE_LAST]
    return re.compile(rf"(?<![\w.@/-])(?:{_any_of(going_on)})\s*$") if going_on else None


def _any_of(abbreviations: Iterable[str]) -> str:
    longest_first = sorted(abbreviations, key=len, reverse=True)
    return "|".join(_SPACE.join(map(re.escape, short.split(" "))) for short in longest_first)


def _without_spaces(abbreviation: str) -> str:
    return re.sub(r"\s", "", abbreviation)
