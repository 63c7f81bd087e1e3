"""Sentences of one language that a model has not seen and is not tested on: what back-translation starts from.

Two sentences are the same if their letters and digits are, whatever their case, marks and spaces; so a sentence of a
test set does not come back with another full stop.
"""

import re
from collections.abc import Iterable, Iterator

_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+")


def fingerprint(sentence: str) -> str:
    """Return what is left of a sentence that only says the same differently written."""
    return _NEITHER_LETTER_NOR_DIGIT.sub(" ", sentence.casefold()).strip()


def novel(sentences: Iterable[str], known: Iterable[str], max_words: int) -> Iterator[str]:
    """Yield every sentence once, in their order, that is not among the known ones and has at most so many words."""
    seen = {fingerprint(sentence) for sentence in known}
    for sentence in sentences:
        mark = fingerprint(sentence)
        if mark and mark not in seen and len(sentence.split()) <= max_words:
            seen.add(mark)
            yield sentence
