"""SENTENCES IN CAPITALS: a model knows its words in small letters, so it gets those; its answer is raised again."""

import re

_WORD = re.compile(r"[^\W\d_]{2,}")
# Fewer words, or shorter ones, may be names and abbreviations: "NATO", "OK", "USB-A".
_FEWEST_WORDS = 2
_FEWEST_LETTERS = 8


def is_shouted(sentence: str) -> bool:
    """Whether a sentence is in capitals throughout, and more than an abbreviation or two."""
    if sentence != sentence.upper():
        return False
    words = [word for word in _WORD.findall(sentence) if word != word.lower()]
    return len(words) >= _FEWEST_WORDS and sum(map(len, words)) >= _FEWEST_LETTERS


def lower_voice(sentence: str) -> str:
    """The sentence in small letters with a capital at its start, such that `upper` gives it back."""
    quiet = "".join(map(_small, sentence))
    first = _WORD.search(quiet)
    start = first.start() if first else 0
    return quiet[:start] + sentence[start : start + 1] + quiet[start + 1 :]


def _small(letter: str) -> str:
    """Its small form, unless that is several characters, or another letter's too."""
    small = letter.lower()
    return small if len(small) == 1 and small.upper() == letter else letter
