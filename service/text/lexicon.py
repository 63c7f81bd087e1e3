"""The words that a model has learnt from, and what they tell of one that is not among them.

A word that the training text does not have is a name, or was put together of words that it has: "Brustschmerzen".
"""

from dataclasses import dataclass
from typing import Self

# A part of a compound has so many letters; one of so many is a part whatever stands before it.
_LEAST_PART = 4
_SURE_PART = 5
# What German adds to a word when it declines it, and puts between two that it joins.
_ENDINGS = ("s", "n", "e", "es", "en", "er", "ns")
_JOINTS = ("", "s", "n", "es", "en", "e")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words in small letters; one without words calls none strange."""

    words: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, content: bytes) -> Self:
        """Read a bundle's list, a word each line; raise `ValueError` if it is none."""
        words = content.decode("utf-8").splitlines()
        if not words or any(word != word.strip() or not word for word in words):
            raise ValueError("it must have a word on each line, and nothing else")
        return cls(frozenset(words))

    def is_strange(self, word: str) -> bool:
        """Whether the model has never seen this word, nor, if it has a hyphen, any part of it."""
        if not self.words:
            return False
        whole = word.casefold().replace("’", "'")
        return self.words.isdisjoint((whole, *whole.split("-")))

    def is_derived(self, word: str) -> bool:
        """Whether a strange word looks like a known one with an ending, or like a compound of known ones."""
        whole = word.casefold()
        stems = [whole, *(whole.removesuffix(ending) for ending in _ENDINGS if whole.endswith(ending))]
        return any(stem in self.words or self._is_compound(stem) for stem in stems)

    def _is_compound(self, stem: str) -> bool:
        return any(
            stem[at:] in self.words and (len(stem) - at >= _SURE_PART or self._joins(stem[:at]))
            for at in range(_LEAST_PART, len(stem) - _LEAST_PART + 1)
        )

    def _joins(self, part: str) -> bool:
        return any(part.endswith(joint) and part.removesuffix(joint) in self.words for joint in _JOINTS) or (
            part + "e" in self.words
        )


NO_LEXICON = Lexicon()
