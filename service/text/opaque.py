"""Find what must not reach the model: addresses, names of files and of code, characters it has no piece for, and the
terms of a glossary."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

_EXTENSIONS = (
    "7z|apk|avi|bak|bmp|cfg|cpp|css|csv|deb|dll|docx?|epub|exe|flac|gif|gz|hpp|html?|ini|ipynb|iso|jar|jpe?g|js|json|md|mkv|"
    "mov|mp3|mp4|odp|ods|odt|ogg|onnx|pdf|php|png|pptx?|py|rar|rs|rtf|sh|sql|svg|tar|tex|tiff?|toml|ts|tsv|txt|wav|webm|webp|"
    "xlsx?|xml|xz|ya?ml|zip"
)
_DOMAINS = (
    "com|org|net|edu|gov|info|io|app|dev|eu|de|at|ch|uk|fr|nl|pl|cz|dk|ru|jp|cn|tv"  # none that is a word like it or no
)
# Written for machines, and for people to copy.  The look-behinds let each begin only where its run of characters
# begins, so that every run is read once.
_VERBATIM = re.compile(
    "|".join(
        (
            r"\[(?=[^\[\]\n]{1,300}+\]\()|\]\([^()\s]{1,2000}+\)",  # [text](address), of which the text is translated
            # $x$ and $E = mc^2$, but not $5 and $10
            r"\$(?=\w\$|[^$\n]{0,300}?[\\^_{}=])(?=\S)[^$\n]{1,300}(?<=\S)\$(?!\d)",
            r"(?:https?://|www\.)[^\s<>\"]*[\w/]",
            r"(?<![\w.+\-])[\w.+\-]++@[\w\-]++(?:\.[\w\-]++)+",  # e-mail
            r"(?<![\w.@\-])[\w.\-]+\.(?:" + _DOMAINS + r")(?![\w\-])(?:/(?:[^\s<>\"]*[\w/])?)?",  # example.org/a
            r"`[^`\n]+`",
            r"</?[A-Za-z][\w:\-]*+(?:\s[^<>]*+)?/?>",  # <b>, </a>: markup in what is called plain text
            r"&(?:[A-Za-z]\w{1,30}|#\d{1,7}|#x[\dA-Fa-f]{1,6});",  # &amp;
            r"\$?\{\{?[\w.:\-]{1,80}\}\}?",  # {name}, {{count}}, ${HOME}: places that a program fills
            r"(?<![\w%])%(?:\(\w{1,80}\)|\d{1,2}\$)?[sd](?!\w)",  # %s, %(name)s, %1$d
            r"(?<!\w)[A-Za-z]:\\(?:[^\s<>\"|?*]*[\w\\])?",
            r"(?<![\w./\\\-~])[\w./\\\-~]+\.(?i:" + _EXTENSIONS + r")(?!\w)",  # report.pdf, src/main.py
            r"(?<![\w./\\\-~<])(?:~|\.{1,2})?(?:/[\w.+\-]*\w)+/?",  # /usr/bin, ~/notes
            # snake_case, but not the German Lehrer_innen
            r"(?<!\w)(?!\w+_in(?:nen)?(?!\w))\w*[^\W_]_+[^\W_]\w*(?:\(\))?",
            r"(?<!\w)[A-Za-z]\w*\(\)",
            r"(?<![\w@#&/])[@#][^\W\d_]\w*",  # @somebody, #something
            r"(?<![\w.])[vV]\d++(?:\.\d++)+",  # v1.2
            r"(?<=[ \u00a0])[ \u00a0]+",  # spaces behind a space, which would be words to the model
            r"(?<!\w)[A-Z]{2}\d{2}(?:[ ]?[A-Z\d]{4}){3,7}(?:[ ]?[A-Z\d]{1,3})?(?!\w)",  # an account: DE89 3704 0044 …
            r"(?<!\S)(?:[:;=]['’]?-?[()DPp|*]|<3|\^\^)(?![\w(])",  # :-), ;), :'(, <3
            r"(?<![\w\-])(?=[\d\-]*[A-Z])(?=[A-Z\-]*\d[A-Z\-]*\d)[A-Z\d]++(?:-[A-Z\d]++)*+(?![\w\-])",  # AB-1234
        )
    )
)
# Places where a line may be broken, or must not be, and signs of an encoding: of the source, and of no use elsewhere.
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]+")
# What all of it has something of, and most sentences have not.
_HINT = re.compile("[:;=^][-'’()DPp|*^]|[/\\\\`_@#<&{%$\\d\u00ad\u200b\u2060\ufeff]|[ \u00a0]{2}|\\.\\w|\\(\\)|\\]\\(")
_ZERO_WIDTH_JOINER = "\u200d"
# The unit of a number is lent with it (`service.text.numbers`), though no model may know the sign.
_DEGREES = re.compile("(?:(?<=\\d)|(?<=\\d[ \u00a0\u202f]))°[CF](?!\\w)")

Knows = Callable[[str], bool]


class Span(NamedTuple):
    """Part of a sentence, and what stands in its place in the translation."""

    start: int
    stop: int
    literal: str


class Glossary:
    """Terms and their translations, by exact spelling and whole words; a term that is its own translation is kept."""

    def __init__(self, terms: Mapping[str, str]) -> None:
        self._terms = dict(terms)
        longest_first = sorted(self._terms, key=len, reverse=True)
        self._pattern = re.compile("|".join(f"(?<!\\w){re.escape(term)}(?!\\w)" for term in longest_first) or r"(?!)")

    def find(self, sentence: str) -> Iterator[Span]:
        if not self._terms:
            return
        for match in self._pattern.finditer(sentence):
            yield Span(*match.span(), self._terms[match[0]])


NO_GLOSSARY = Glossary({})


def find_spans(sentence: str, knows: Knows, glossary: Glossary = NO_GLOSSARY) -> list[Span]:
    """The spans to lift, in order and apart from each other."""
    spans: list[Span] = []
    position = 0
    for start, stop, literal in [*_fixed_spans(sentence, glossary), Span(len(sentence), len(sentence), "")]:
        spans.extend(_unknown_spans(sentence, position, start, knows))
        if stop > start:
            spans.append(Span(start, stop, literal))
        position = stop
    return spans


def _fixed_spans(sentence: str, glossary: Glossary) -> list[Span]:
    """Terms of the glossary, what is copied and what is dropped; where they overlap, the first of these counts."""
    spans = list(glossary.find(sentence))
    if not _HINT.search(sentence):
        return spans
    taken = bytearray(len(sentence))
    for start, stop, _ in spans:
        taken[start:stop] = b"x" * (stop - start)
    for pattern in (_VERBATIM, _INVISIBLE):
        for match in pattern.finditer(sentence):
            start, stop = match.span()
            if not any(taken[start:stop]):
                spans.append(Span(start, stop, _INVISIBLE.sub("", match[0])))
                taken[start:stop] = b"x" * (stop - start)
    return sorted(spans)


def _unknown_spans(sentence: str, start: int, stop: int, knows: Knows) -> Iterator[Span]:
    """Runs of unknown characters in sentence[start:stop]; of a word with an unknown letter, the whole word."""
    between = sentence[start:stop]
    if not between or (max(between) < "\u0300" and all(map(knows, set(between)))):
        return  # nearly always: characters that stand alone, and are known
    begin = end = start  # of the run that is being gathered
    for cluster_start, cluster_stop in _clusters(sentence, start, stop):
        if cluster_start < end:
            continue
        cluster = sentence[cluster_start:cluster_stop]
        if cluster.isspace() or knows(cluster) or _DEGREES.match(sentence, cluster_start):
            continue
        if cluster[0].isalnum():
            # Half a word is no word: it would be translated as another one.
            cluster_start, cluster_stop = _word_around(sentence, cluster_start, cluster_stop, end, stop)
        if cluster_start > end:
            if end > begin:
                yield Span(begin, end, sentence[begin:end])
            begin = cluster_start
        end = cluster_stop
    if end > begin:
        yield Span(begin, end, sentence[begin:end])


def _word_around(sentence: str, start: int, stop: int, lowest: int, highest: int) -> tuple[int, int]:
    """The word that sentence[start:stop] is in, with its accents, within bounds."""
    while start > lowest and (sentence[start - 1].isalnum() or unicodedata.combining(sentence[start - 1])):
        start -= 1
    while stop < highest and (sentence[stop].isalnum() or unicodedata.combining(sentence[stop])):
        stop += 1
    return start, stop


def _clusters(sentence: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Characters with what modifies them: accents, variation selectors, skin tones, joined emoji."""
    at = start
    while at < stop:
        end = at + 1
        while end < stop and (_modifies(sentence[end]) or sentence[end - 1] == _ZERO_WIDTH_JOINER):
            end += 1
        yield at, end
        at = end


def _modifies(character: str) -> bool:
    if character < "\u0300":
        return False
    return (
        unicodedata.category(character) in ("Mn", "Me")
        or character == _ZERO_WIDTH_JOINER
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )
