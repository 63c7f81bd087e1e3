"""Lone words and bare phrases, made of a corpus of sentences.

People type "cheese" and "good morning" into a translator; corpora hold "I like cheese." and "Good morning!".  A model
that has only seen sentences makes a sentence of whatever it is given.  So it also learns

- words with their likeliest translation (IBM Model 1 over the same text), as they are, capitalised, and with a mark;
- short sentences without their final mark, as they are and in lower case.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from training.config import ShortText
from training.corpus.alignment import Words, likeliest_translations

Pair = tuple[str, str]

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
FINAL_MARKS = ".!?…。！？"
# A pair of sentences with more links than this says little about each of its words.
MOST_LINKS = 400


def lone_words(pairs: Iterable[Pair], settings: ShortText) -> Iterator[Pair]:
    """Yield words with their likeliest translation.

    A word that is a whole sentence somewhere in the corpus is left out: what people made of it there is better.
    """
    aligned: list[tuple[Words, Words]] = []
    source_spelling, target_spelling = Spelling(), Spelling()
    said_alone: set[str] = set()
    for source, target in pairs:
        source_words, target_words = WORD.findall(source), WORD.findall(target)
        source_spelling.count(source_words)
        target_spelling.count(target_words)
        if len(source_words) == 1:
            said_alone.add(source_words[0].lower())
        if 0 < len(source_words) * len(target_words) <= MOST_LINKS:
            aligned.append(([word.lower() for word in source_words], [word.lower() for word in target_words]))
    for index, found in enumerate(likeliest_translations(aligned, min_count=settings.min_count)):
        if found.source in said_alone or found.target_given_source * found.source_given_target < settings.min_score:
            continue
        source, target = source_spelling.of(found.source), target_spelling.of(found.target)
        yield source, target
        if source[0].isupper():  # typed carelessly
            yield found.source, target
        else:
            yield _capitalised(source), _capitalised(target)
        mark = ".!"[index % 2]
        yield _capitalised(source) + mark, _capitalised(target) + mark


def bare_phrases(pairs: Iterable[Pair], settings: ShortText) -> Iterator[Pair]:
    """Yield sentences of at most `phrase_words` words without their final mark, then with the source in lower case."""
    for source, target in pairs:
        bare_source, bare_target = source.rstrip(FINAL_MARKS), target.rstrip(FINAL_MARKS)
        had_marks = bare_source != source and bare_target != target
        if had_marks and bare_source and bare_target and len(source.split()) <= settings.phrase_words:
            yield bare_source, bare_target
            if bare_source.lower() != bare_source:
                yield bare_source.lower(), bare_target


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


def _capitalised(word: str) -> str:
    return word[:1].upper() + word[1:]
