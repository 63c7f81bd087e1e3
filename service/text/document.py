"""A text or an HTML page as sentences to translate and everything else, which comes back as it was.

document = read_text(text, language, tokeniser, limit)
document.sentences                  what the engine gets
document.rejoin(translations)       one translation for each sentence, in order
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Protocol

from service.text.anchors import Anchor, lift, set_down
from service.text.markup import Block, Raw, read
from service.text.numbers import Loan, Numbers, is_lost, repay, repay_pieces, without_unfinished
from service.text.opaque import NO_GLOSSARY, Glossary, Span, find_spans
from service.text.segmentation import Segment, has_letter, split
from service.text.shouting import is_shouted, lower_voice


class Vocabulary(Protocol):
    """What a document must know of the tokeniser."""

    def count(self, sentence: str) -> int: ...

    def knows(self, cluster: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as the engine gets it, and what was lifted out of it."""

    text: str
    source: str  # as it was written, but for what was lifted
    anchors: tuple[Anchor, ...]
    is_html: bool
    is_shouted: bool = False
    loans: tuple[Loan, ...] = ()

    def restore(self, translation: str) -> str:
        """The translation with the anchors and numbers in it, in capitals if the sentence was; in HTML, escaped."""
        text = self.text
        if self.is_shouted:
            text, translation = text.upper(), translation.upper()
        anchors, loans = self.anchors, self.loans
        if lost := [loan for loan in loans if is_lost(loan, translation)]:
            anchors = tuple(sorted((*anchors, *(loan.anchor for loan in lost)), key=lambda anchor: anchor.offset))
            loans = tuple(loan for loan in loans if loan not in lost)
        return repay(set_down(translation, text, anchors, _escaped if self.is_html else str), loans)

    def so_far(self, beginning: str) -> str:
        """The beginning of a translation as it may be shown already: numbers when they are whole, and no anchors."""
        return repay(without_unfinished(beginning, self.loans), self.loans)

    def restore_pieces(self, pieces: Sequence[str]) -> list[str]:
        """The pieces of a translation, with numbers in them."""
        return repay_pieces(pieces, self.loans)


@dataclass(frozen=True)
class Document:
    """Parts in order: kept text and sentences."""

    parts: Sequence[str | Sentence]

    @cached_property
    def sentences(self) -> list[Sentence]:
        return [part for part in self.parts if isinstance(part, Sentence)]

    def rejoin(self, translations: Iterable[str]) -> str:
        """The document with each sentence replaced by its translation."""
        return "".join(self.stream(translations))

    def stream(self, translations: Iterable[str]) -> Iterator[str]:
        """The parts of the translated document."""
        remaining = iter(translations)
        for part in self.parts:
            yield part if isinstance(part, str) else part.restore(next(remaining))


def read_text(
    text: str,
    language: str,
    vocabulary: Vocabulary,
    limit: int,
    glossary: Glossary = NO_GLOSSARY,
    target: str = "",
) -> Document:
    """Plain text: every line break and every space between sentences is kept.  `target` is the other language."""
    parts: list[str | Sentence] = []
    numbers = Numbers(language, target)
    for segment in split(text, language, vocabulary.count, limit):
        if segment.is_sentence:
            spans = find_spans(segment.text, vocabulary.knows, glossary)
            parts.append(_sentence(segment.text, spans, numbers) or _replaced(segment.text, spans))
        else:
            parts.append(segment.text)
    return Document(parts)


def read_html(
    html: str,
    language: str,
    vocabulary: Vocabulary,
    limit: int,
    glossary: Glossary = NO_GLOSSARY,
    target: str = "",
) -> Document:
    """HTML: only running text is translated, and inline tags go where their words went."""
    parts: list[str | Sentence] = []
    numbers = Numbers(language, target)
    for part in read(html):
        if isinstance(part, Raw):
            parts.append(part.text)
        else:
            segments = split(part.text, language, vocabulary.count, limit, keeps_lines=part.is_preformatted)
            parts.extend(
                _block_parts(part, segments, lambda text: find_spans(text, vocabulary.knows, glossary), numbers)
            )
    return Document(parts)


def _block_parts(
    block: Block, segments: list[Segment], find: Callable[[str], list[Span]], numbers: Numbers
) -> Iterator[str | Sentence]:
    """Share a block's tags out to its segments: inside a sentence they become anchors, elsewhere they are kept."""
    tags = deque(block.tags)
    start = 0
    for segment in segments:
        stop = start + len(segment.text)
        while tags and tags[0][0] <= start:
            yield tags.popleft()[1]
        inside: list[tuple[int, str]] = []
        while tags and tags[0][0] < stop:
            inside.append(tags.popleft())
        tags_inside = [(offset - start, tag) for offset, tag in inside]
        sentence = _sentence(segment.text, find(segment.text), numbers, tags_inside) if segment.is_sentence else None
        if sentence:
            yield sentence
        elif segment.is_sentence and not inside:
            yield _replaced_html(segment.text, find(segment.text), block.raw(start, stop))
        else:
            position = start
            for offset, tag in inside:
                yield block.raw(position, offset) + tag
                position = offset
            yield block.raw(position, stop)
        start = stop
    yield from (tag for _, tag in tags)


def _sentence(
    text: str, spans: list[Span], numbers: Numbers, tags: list[tuple[int, str]] | None = None
) -> Sentence | None:
    """Lift out what must not be translated; None if nothing else is left.  `tags` is None for plain text."""
    is_html = tags is not None
    lifted, anchors = lift(text, spans, tags or (), _escaped if is_html else str)
    if not has_letter(lifted):
        return None
    lent, anchors, loans = numbers.lend(lifted, anchors)
    shouted = is_shouted(lent)
    if shouted:
        lent = lower_voice(lent)
    return Sentence(lent, lifted, tuple(anchors), is_html, shouted, tuple(loans))


def _replaced(text: str, spans: list[Span]) -> str:
    """A text of nothing but spans, with what stands for them."""
    for start, stop, literal in reversed(spans):
        text = text[:start] + literal + text[stop:]
    return text


def _replaced_html(text: str, spans: list[Span], raw: str) -> str:
    """The same in HTML: as it was written, unless a glossary changes it."""
    replaced = _replaced(text, spans)
    return raw if replaced == text else _escaped(replaced)


def _escaped(text: str) -> str:
    return escape(text, quote=False)
