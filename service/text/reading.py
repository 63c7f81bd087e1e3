"""From a text or an HTML page to a document: what the engine gets of each sentence, and what it does not."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from service.text.abbreviations import write_out
from service.text.anchors import lift
from service.text.document import Document, Sentence, escaped
from service.text.lending import Lender
from service.text.lexicon import NO_LEXICON, Lexicon
from service.text.markup import Block, Raw, read
from service.text.names import Names
from service.text.numbers import Numbers
from service.text.opaque import NO_GLOSSARY, Glossary, Span, find_spans
from service.text.quotes import familiar_quotes
from service.text.segmentation import has_letter, split
from service.text.shouting import is_shouted, lower_voice


class Vocabulary(Protocol):
    """What a reader must know of the tokeniser."""

    def count(self, sentence: str) -> int: ...

    def knows(self, cluster: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads texts that go from one language to another."""

    source: str
    target: str
    vocabulary: Vocabulary
    limit: int  # tokens of a sentence
    glossary: Glossary = NO_GLOSSARY
    lexicon: Lexicon = NO_LEXICON

    def read_text(self, text: str) -> Document:
        """Plain text: every line break and every space between sentences is kept."""
        parts: list[str | Sentence] = []
        for segment in split(text, self.source, self._count, self.limit):
            if segment.is_sentence:
                words = familiar_quotes(segment.text, self.source)
                spans = self._find(words)
                parts.append(self._sentence(words, spans) or _replaced(segment.text, spans))
            else:
                parts.append(segment.text)
        return Document(parts)

    def read_html(self, html: str) -> Document:
        """HTML: only running text is translated, and inline tags go where their words went."""
        parts: list[str | Sentence] = []
        for part in read(html):
            if isinstance(part, Raw):
                parts.append(part.text)
            else:
                parts.extend(self._block_parts(part))
        return Document(parts)

    def _block_parts(self, block: Block) -> Iterator[str | Sentence]:
        """Share a block's tags out to its segments: inside a sentence they become anchors, elsewhere they are kept."""
        tags = deque(block.tags)
        start = 0
        for segment in split(block.text, self.source, self._count, self.limit, keeps_lines=block.is_preformatted):
            stop = start + len(segment.text)
            while tags and tags[0][0] <= start:
                yield tags.popleft()[1]
            inside: list[tuple[int, str]] = []
            while tags and tags[0][0] < stop:
                inside.append(tags.popleft())
            words = familiar_quotes(segment.text, self.source)
            spans = self._find(words) if segment.is_sentence else []
            tags_inside = [(offset - start, tag) for offset, tag in inside]
            sentence = self._sentence(words, spans, tags_inside) if segment.is_sentence else None
            if sentence:
                yield sentence
            elif segment.is_sentence and not inside:
                yield _replaced_html(segment.text, spans, block.raw(start, stop))
            else:
                position = start
                for offset, tag in inside:
                    yield block.raw(position, offset) + tag
                    position = offset
                yield block.raw(position, stop)
            start = stop
        yield from (tag for _, tag in tags)

    def _count(self, sentence: str) -> int:
        """Tokens that the engine would get of a sentence: a long address is no reason to cut it."""
        count = self.vocabulary.count(sentence)
        return count if count <= self.limit else self.vocabulary.count(lift(sentence, self._find(sentence))[0])

    def _find(self, text: str) -> list[Span]:
        return find_spans(text, self.vocabulary.knows, self.glossary)

    def _sentence(self, text: str, spans: list[Span], tags: list[tuple[int, str]] | None = None) -> Sentence | None:
        """Lift out what must not be translated; None if nothing else is left.  `tags` is None for plain text."""
        is_html = tags is not None
        lifted, anchors = lift(text, spans, tags or (), escaped if is_html else str)
        if not has_letter(lifted):
            return None
        written_out, anchors = write_out(lifted, self.source, anchors)
        # A street has its number with it, so names come first.
        names = Names(self.source, self.target, self.vocabulary.count, self.lexicon)
        lent, anchors, loans = Lender((names, Numbers(self.source, self.target))).lend(written_out, anchors)
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
    return raw if replaced == text else escaped(replaced)
