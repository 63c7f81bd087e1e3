"""A text or an HTML page as sentences to translate and everything else, which comes back as it was.

document = Reader("de", "en", tokeniser, limit).read_text(text)     see service.text.reading
document.sentences                  what the engine gets
document.rejoin(translations)       one translation for each sentence, in order
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

from service.text.anchors import Anchor, set_down
from service.text.loans import Loan, is_lost, reclaim, repay, repay_pieces, without_unfinished
from service.text.quotes import closed_quotes


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
        """The translation with the anchors and loans in it, in capitals if the sentence was; in HTML, escaped."""
        text, translation = self._voiced(self.text), self._voiced(translation)
        anchors, loans = self.anchors, self.loans
        translation = closed_quotes(reclaim(translation, text, loans), text)
        if lost := [loan for loan in loans if is_lost(loan, translation)]:
            anchors = tuple(sorted((*anchors, *(loan.anchor for loan in lost)), key=lambda anchor: anchor.offset))
            loans = tuple(loan for loan in loans if loan not in lost)
        return repay(set_down(translation, text, anchors, escaped if self.is_html else str), loans)

    def so_far(self, beginning: str) -> str:
        """The beginning of a translation as it may be shown already: what was lent when it is whole, and no anchors."""
        return repay(without_unfinished(self._voiced(beginning), self.loans), self.loans)

    def restore_pieces(self, pieces: Sequence[str]) -> list[str]:
        """The pieces of a translation, with what was lent in them."""
        return repay_pieces([self._voiced(piece) for piece in pieces], self.loans)

    def _voiced(self, text: str) -> str:
        return text.upper() if self.is_shouted else text


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


def escaped(text: str) -> str:
    """The text as HTML."""
    return escape(text, quote=False)
