"""What must come through a translation unchanged: emoji, addresses, characters the model has no piece for, inline tags.

They are lifted out of the sentence before it is translated, and set down in the translation where their neighbours
went:

    lift("I ❤️ Prague 😀!", ...)          ->  "I Prague!" with ❤️ at 2 and 😀 at 8
    set_down("Ich Prag!", ...)            ->  "Ich ❤️ Prag 😀!"

The engine gives no alignment, so places are interpolated between words that are the same on both sides (names, numbers,
punctuation, and the two ends).  Anchors keep their order, so nested tags stay nested, and none is ever lost.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

# The look-behind lets an e-mail address start only where its run of characters starts: each run is read once.
ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"]*[\w/]|(?<![\w.+\-])[\w.+\-]++@[\w\-]++(?:\.[\w\-]++)+")
_WORD = re.compile(r"\w+(?:['’\-]\w+)*|[^\w\s]", re.UNICODE)
_ZERO_WIDTH_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A literal that stood at `offset` of the sentence it was lifted from."""

    offset: int
    literal: str
    has_space_before: bool
    has_space_after: bool


def lift(
    sentence: str,
    knows: Callable[[str], bool],
    tags: Iterable[tuple[int, str]] = (),
    escape: Callable[[str], str] = str,
) -> tuple[str, list[Anchor]]:
    """Take addresses and runs of characters that are not known out of a sentence, and the space that is then left.

    `tags` are (offset, literal) and stand between the sentence's characters already.
    """
    lifted = ""
    anchors: list[Anchor] = []
    end = 0
    for chain in _chains(_with_tags(_opaque_spans(sentence, knows), deque(tags), sentence, escape)):
        start, stop = chain[0][0], chain[-1][1]
        before, after = sentence[start - 1 : start].isspace(), sentence[stop : stop + 1].isspace()
        follower = sentence[stop : stop + 1]
        lifted += sentence[end:start]
        if before and (after or (stop > start and not follower.isalnum())):
            lifted = lifted[:-1]
        for index, (_, _, literal) in enumerate(chain):
            # Only the ends of a chain touch a space.
            anchors.append(Anchor(len(lifted), literal, before and index == 0, after and index == len(chain) - 1))
        if stop > start and lifted[-1:].isalnum() and follower.isalnum():
            lifted += " "  # its neighbours are two words, not one
        end = stop
    return lifted + sentence[end:], anchors


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
        text += escape(translation[end:left])
        if anchor.has_space_before:
            text += translation[left:right] or (" " if text and not text[-1].isspace() else "")
            left = right
        text += anchor.literal
        end = left
        if anchor.has_space_after and not translation[end : end + 1].isspace() and end < len(translation):
            text += " "
    return text + escape(translation[end:])


def _with_tags(
    spans: list[tuple[int, int]], tags: deque[tuple[int, str]], sentence: str, escape: Callable[[str], str]
) -> Iterator[tuple[int, int, str]]:
    """(start, stop, literal) of spans and tags in order; a span with a tag inside is cut in two."""
    for start, stop in spans:
        while tags and tags[0][0] < stop:
            offset, tag = tags.popleft()
            if offset > start:
                yield start, offset, escape(sentence[start:offset])
                start = offset
            yield offset, offset, tag
        yield start, stop, escape(sentence[start:stop])
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


def _opaque_spans(sentence: str, knows: Callable[[str], bool]) -> list[tuple[int, int]]:
    """Spans to lift, in order and apart from each other."""
    spans: list[tuple[int, int]] = []
    addresses = [match.span() for match in ADDRESS.finditer(sentence)]
    position = covered = 0
    for start, stop in [*addresses, (len(sentence), len(sentence))]:
        for cluster_start, cluster_stop in _clusters(sentence, position, start):
            if cluster_start < covered:
                continue
            cluster = sentence[cluster_start:cluster_stop]
            if cluster.isspace() or knows(cluster):
                continue
            if cluster[0].isalpha():
                # Half a word is no word: what has a letter that the model cannot spell is carried over whole.
                cluster_start, cluster_stop = _word_around(sentence, cluster_start, cluster_stop)
                cluster_start, covered = max(cluster_start, spans[-1][1] if spans else 0), cluster_stop
            _extend(spans, cluster_start, cluster_stop)
        if stop > start:
            _extend(spans, start, stop)
        position = stop
    return spans


def _word_around(sentence: str, start: int, stop: int) -> tuple[int, int]:
    """The word that text[start:stop] is in, with its accents."""
    while start > 0 and (sentence[start - 1].isalnum() or unicodedata.combining(sentence[start - 1])):
        start -= 1
    while stop < len(sentence) and (sentence[stop].isalnum() or unicodedata.combining(sentence[stop])):
        stop += 1
    return start, stop


def _extend(spans: list[tuple[int, int]], start: int, stop: int) -> None:
    """Add a span, joined to the last one when they touch."""
    if spans and spans[-1][1] == start:
        spans[-1] = (spans[-1][0], stop)
    else:
        spans.append((start, stop))


def _clusters(sentence: str, start: int, stop: int) -> Iterable[tuple[int, int]]:
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
        if anchor.literal.startswith("</") and opened:
            opener = opened.pop()
            if anchors[opener].offset < anchor.offset:  # there was something between the tags, so there should be again
                place = max(place, places[opener] + 1)
        elif anchor.literal.startswith("<"):
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
