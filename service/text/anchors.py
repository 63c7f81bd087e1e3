"""What must come through a translation unchanged: emoji, addresses, characters the model has no piece for, inline tags.

They are lifted out of the sentence before it is translated, and set down in the translation where their neighbours
went:

    lift("I ❤️ Prague 😀!", ...)          ->  "I Prague!" with ❤️ at 1 and 😀 at 8
    set_down("Ich Prag!", ...)            ->  "Ich ❤️ Prag 😀!"

The engine gives no alignment, so places are interpolated between words that are the same on both sides (names, numbers,
punctuation, and the two ends).  Anchors keep their order, so nested tags stay nested, and none is ever lost.
"""

import re
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from service.text.opaque import Span

_WORD = re.compile(r"\w+(?:['’\-]\w+)*|[^\w\s]", re.UNICODE)
_OPENING, _CLOSING = ("<", "["), ("</", "](")  # tags, and Markdown's links
_MARKS = frozenset(".,;:!?…)]}")  # that want no space before them


@dataclass(frozen=True, slots=True)
class Anchor:
    """A literal that stood at `offset` of the sentence it was lifted from."""

    offset: int
    literal: str
    has_space_before: bool
    has_space_after: bool


def lift(
    sentence: str, spans: Iterable[Span], tags: Iterable[tuple[int, str]] = (), escape: Callable[[str], str] = str
) -> tuple[str, list[Anchor]]:
    """Take spans out of a sentence, and the space that is then left.

    `tags` are (offset, literal) and stand between the sentence's characters already.
    """
    lifted = ""
    anchors: list[Anchor] = []
    end = 0
    for chain in _chains(_with_tags(sentence, spans, deque(tags), escape)):
        start, stop = chain[0][0], chain[-1][1]
        if not any(literal for _, _, literal in chain):  # nothing stands for it: a soft hyphen
            lifted += sentence[end:start]
            end = stop
            continue
        before, after = sentence[start - 1 : start].isspace(), sentence[stop : stop + 1].isspace()
        follower = sentence[stop : stop + 1]
        lifted += sentence[end:start]
        # Of several spaces, one stays.
        if before and not sentence[start:stop].isspace() and (after or (stop > start and not follower.isalnum())):
            lifted = lifted[:-1]
        for index, (_, _, literal) in enumerate(chain):
            # Only the ends of a chain touch a space.
            anchors.append(Anchor(len(lifted), literal, before and index == 0, after and index == len(chain) - 1))
        if stop > start and lifted[-1:].isalnum() and follower.isalnum():
            lifted += " "  # its neighbours are two words, not one
        end = stop
    return lifted + sentence[end:], anchors


def replaced(sentence: str, spans: Sequence[Span], anchors: Sequence[Anchor]) -> tuple[str, list[Anchor], list[int]]:
    """Write the spans' literals in place of them; return the sentence, its anchors, and where each literal begins now.

    Spans are in order, and no anchor is inside of one.
    """
    text, end = "", 0
    moved: list[Anchor] = []
    offsets: list[int] = []
    waiting = deque(anchors)
    for start, stop, literal in [*spans, Span(len(sentence), len(sentence), "")]:
        while waiting and waiting[0].offset <= start:
            anchor = waiting.popleft()
            moved.append(replace(anchor, offset=anchor.offset + len(text) - end))
        text += sentence[end:start]
        offsets.append(len(text))
        text += literal
        end = stop
    return text, moved, offsets[:-1]


def set_down(translation: str, sentence: str, anchors: Sequence[Anchor], escape: Callable[[str], str] = str) -> str:
    """Put the anchors of a lifted sentence into its translation, which is escaped piece by piece."""
    if not anchors:
        return escape(translation)
    words = [match.span() for match in _WORD.finditer(translation)]
    text = ""
    end = 0  # of what has been written of the translation
    for anchor, place in zip(anchors, _places(anchors, sentence, translation), strict=True):
        # A place is a boundary between words: behind `place` of them.
        left = max(end, words[place - 1][1] if place else 0)
        right = max(end, words[place][0] if place < len(words) else left)
        if left > end:
            text = _apart(text, escape(translation[end:left]))
        if anchor.has_space_before:
            text += translation[left:right] or (" " if text and not text[-1].isspace() else "")
            left = right
        text = _apart(text, anchor.literal) if left > end else text + anchor.literal
        end = left
        if anchor.has_space_after and _takes_space(translation[end : end + 1], sentence[anchor.offset :]):
            text += " "
    return _apart(text, escape(translation[end:]))


def _takes_space(follower: str, source_rest: str) -> bool:
    """Whether the space behind an anchor goes before this character: not before a mark, unless it was so before."""
    if not follower or follower.isspace():
        return False
    return follower not in _MARKS or source_rest.lstrip()[:1] in _MARKS


def _apart(left: str, right: str) -> str:
    """Both texts, with a space where two words would become one: what stood before a comma may now be before a word."""
    return f"{left} {right}" if left[-1:].isalnum() and right[:1].isalnum() else left + right


def _with_tags(
    sentence: str, spans: Iterable[Span], tags: deque[tuple[int, str]], escape: Callable[[str], str]
) -> Iterator[tuple[int, int, str]]:
    """(start, stop, literal) of spans and tags in order.  A tag cuts a span that is kept as it is, and goes before one
    that is not."""
    for start, stop, literal in spans:
        is_kept = literal == sentence[start:stop]
        while tags and tags[0][0] < stop:
            offset, tag = tags.popleft()
            if is_kept and offset > start:
                yield start, offset, escape(sentence[start:offset])
                start = offset
            yield min(offset, start), min(offset, start), tag
        yield start, stop, escape(sentence[start:stop] if is_kept else literal)
    yield from ((offset, offset, tag) for offset, tag in tags)


def _chains(items: Iterable[tuple[int, int, str]]) -> Iterator[list[tuple[int, int, str]]]:
    """Group items that touch each other."""
    chain: list[tuple[int, int, str]] = []
    for item in items:
        if chain and chain[-1][1] != item[0]:
            yield chain
            chain = []
        chain.append(item)
    if chain:
        yield chain


def _places(anchors: Sequence[Anchor], sentence: str, translation: str) -> list[int]:
    """For each anchor the number of words of the translation that go before it; never falling."""
    spans = [match.span() for match in _WORD.finditer(sentence)]
    source_words = [sentence[start:stop].casefold() for start, stop in spans]
    target_words = [word.casefold() for word in _WORD.findall(translation)]
    starts = [start for start, _ in spans]
    align = _alignment(source_words, target_words)
    places: list[int] = []
    opened: list[int] = []  # anchors that are start tags, not closed yet
    for index, anchor in enumerate(anchors):
        boundary = bisect_left(starts, anchor.offset)  # words that start before the anchor
        if boundary in (0, len(spans)):
            place = 0 if boundary == 0 else len(target_words)
        elif index and anchor.offset == anchors[index - 1].offset:
            place = places[-1]
        elif anchor.has_space_before:  # it leans on the word behind it
            place = round(align(boundary))
        else:
            place = round(align(boundary - 1)) + 1
        place = max(place, places[-1] if places else 0)
        if anchor.literal.startswith(_CLOSING) and opened:
            opener = opened.pop()
            if anchors[opener].offset < anchor.offset:  # there was something between the tags, so there should be again
                place = max(place, places[opener] + 1)
        elif anchor.literal.startswith(_OPENING):
            opened.append(index)
            if boundary < len(spans):
                place = min(place, max(len(target_words) - 1, places[-1] if places else 0))
        places.append(min(place, len(target_words)))
    return places


def _alignment(source: list[str], target: list[str]) -> Callable[[int], float]:
    """Map a word's index to one in the translation, exact for words that are unique and the same on both sides."""
    source_counts, target_index = Counter(source), {word: index for index, word in enumerate(target)}
    target_counts = Counter(target)
    points = [(-1, -1)]
    for index, word in enumerate(source):
        if source_counts[word] == target_counts[word] == 1 and target_index[word] > points[-1][1]:
            points.append((index, target_index[word]))
    points.append((len(source), len(target)))

    def align(index: int) -> float:
        right = bisect_left(points, (index, -1))
        (x0, y0), (x1, y1) = points[max(right - 1, 0)], points[right]
        return y1 if x1 == index else y0 + (y1 - y0) * (index - x0) / (x1 - x0)

    return align
