"""Abbreviations, written out: models have read "zum Beispiel" thousands of times, and "z. B." hardly ever.

    "Nimm Obst mit, z. B. Äpfel usw."    the model gets    "Nimm Obst mit, zum Beispiel Äpfel und so weiter."

Only those that mean one thing.  The point of one that ends a sentence is the sentence's, too, and stays.
"""

import re
from collections.abc import Mapping, Sequence
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
    },
}
_SPACE = "[ \u00a0\u202f]?"


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
        words = _words(language)[_without_spaces(match[0])]
        is_first = not sentence[:start].strip()
        ends = match[0].endswith(".") and not any(character.isalnum() for character in sentence[stop:])
        written = (words[:1].upper() if is_first else words[:1]) + words[1:] + ("." if ends else "")
        spans.append(Span(start, stop, written))
    text, moved, _ = replaced(sentence, spans, anchors)
    return text, moved


@cache
def _words(language: str) -> dict[str, str]:
    return {_without_spaces(short): words for short, words in _WRITTEN_OUT[language].items()}


@cache
def _pattern(language: str) -> re.Pattern[str] | None:
    """Any abbreviation of the language as a word of its own, with spaces in it or without; None where we know none."""
    if language not in _WRITTEN_OUT:
        return None
    longest_first = sorted(_WRITTEN_OUT[language], key=len, reverse=True)
    spelt = "|".join(_SPACE.join(map(re.escape, short.split(" "))) for short in longest_first)
    return re.compile(rf"(?<![\w.@/-])(?:{spelt})(?!\w)")


def _without_spaces(abbreviation: str) -> str:
    return re.sub(r"\s", "", abbreviation)
