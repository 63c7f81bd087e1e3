"""Lone words and bare phrases, made of a corpus of sentences.

People type "cheese" and "good morning" into a translator; corpora hold "I like cheese." and "Good morning!".  A model
that has only seen sentences makes a sentence of whatever it is given.  So it also learns

- words with their translation, as they are, capitalised, and with a mark: frequent ones more often.  What people said
  when the word was all there was to say comes first, then the likeliest word (IBM Model 1 over the same text);
- short sentences without their final mark, as they are and in lower case.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from training.config import ShortText
from training.corpus.alignment import Words, likeliest_translations

Pair = tuple[str, str]

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
FINAL_MARKS = ".!?…。！？"
# A pair of sentences with more links than this says little about each of its words.
MOST_LINKS = 400


@dataclass(frozen=True)
class LoneWord:
    """A word in all the ways it is typed, each with its translation, and how often the corpus has it."""

    pairs: tuple[Pair, ...]
    count: int

    def repeat(self, settings: ShortText) -> int:
        """How often it is seen in one epoch: as often as the rarest word, and as often again for each doubling."""
        return settings.word_repeat * (1 + int(math.log2(max(1, self.count / settings.min_count))))


def lone_words(pairs: Iterable[Pair], settings: ShortText) -> Iterator[LoneWord]:
    """Yield words with their translation: what people made of the word where it was all they said, or the likeliest."""
    aligned: list[tuple[Words, Words]] = []
    source_spelling, target_spelling = Spelling(), Spelling()
    counts: Counter[str] = Counter()
    said_alone: dict[str, Counter[str]] = {}
    for source, target in pairs:
        source_words, target_words = WORD.findall(source), WORD.findall(target)
        source_spelling.count(source_words)
        target_spelling.count(target_words)
        counts.update(word.lower() for word in source_words)
        if len(source_words) == 1:
            answers = said_alone.setdefault(source_words[0].lower(), Counter())
            answers[" ".join(target_words).lower()] += 1
        if 0 < len(source_words) * len(target_words) <= MOST_LINKS:
            aligned.append(([word.lower() for word in source_words], [word.lower() for word in target_words]))
    for index, found in enumerate(likeliest_translations(aligned, min_count=settings.min_count)):
        answer = found.target
        if found.source in said_alone:
            answers = said_alone[found.source]
            answer = max(answers, key=lambda one: answers[one] + (one == found.target))  # of equals the likeliest
        elif found.target_given_source * found.source_given_target < settings.min_score:
            continue
        if not answer:
            continue
        source, target = source_spelling.of(found.source), target_spelling.of_all(answer)
        # What opens with a capital anyway may be typed carelessly, and what does not may open a line.
        other = (found.source, target) if source[0].isupper() else (_capitalised(source), _capitalised(target))
        mark = ".!"[index % 2]
        with_mark = _capitalised(source) + mark, _capitalised(target) + mark
        yield LoneWord(((source, target), other, with_mark), counts[found.source])


def bare_phrases(pairs: Iterable[Pair], settings: ShortText) -> Iterator[Pair]:
    """Yield sentences of at most `phrase_words` words without their final mark, then with the source in lower case."""
    for source, target in pairs:
        bare_source, bare_target = source.rstrip(FINAL_MARKS), target.rstrip(FINAL_MARKS)
        had_marks = bare_source != source and bare_target != target
        if had_marks and bare_source and bare_target and len(source.split()) <= settings.phrase_words:
            yield bare_source, bare_target
            if bare_source.lower() != bare_source:
                yield bare_source.lower(), bare_target


def in_any_case(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield each pair as it is, then with its source in lower case where that differs."""
    for source, target in pairs:
        yield source, target
        if source.lower() != source:
            yield source.lower(), target


class Spelling:
    """How a word is capitalised when it does not open a sentence."""

    def __init__(self) -> None:
        self._inside: Counter[str] = Counter()

    def count(self, sentence: Sequence[str]) -> None:
        self._inside.update(sentence[1:])

    def of(self, word: str) -> str:
        """Return the more frequent of `word`, which is in lower case, and its capitalised form."""
        capitalised = _capitalised(word)
        return capitalised if self._inside[capitalised] > self._inside[word] else word

    def of_all(self, words: str) -> str:
        """The same for each of several words."""
        return " ".join(map(self.of, words.split()))


def _capitalised(word: str) -> str:
    return word[:1].upper() + word[1:]
