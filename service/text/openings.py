"""A word behind an opening mark, read as the word it is anywhere else.

A tokeniser knows that a word begins by the space before it, and behind a quotation mark or a bracket there is none.
Models whose manifest says `spaced_openings` have learnt from text with a space there, so their sentences get one and
their translations lose it (models/CONTRACT.md):

    spaced('"Komm!", sagte er (leise).')  ==  '" Komm!", sagte er ( leise).'
"""

import re
from collections.abc import Sequence

# One mark or several, at the beginning of a word.  Not ' alone, which begins English words too ('tis).
_MARKS = r"""(?<!\S)([("„“»«‚‘\[]+)"""
_OPENINGS = re.compile(rf"{_MARKS}(?= *\w)")
_SPACED_OPENINGS = re.compile(rf"{_MARKS} (?= *\w)")


def spaced(sentence: str) -> str:
    """A sentence as such a model reads it."""
    return _OPENINGS.sub(r"\1 ", sentence)


def unspaced(translation: str) -> str:
    """A translation of such a model as people read it."""
    return _SPACED_OPENINGS.sub(r"\1", translation)


def unspaced_pieces(pieces: Sequence[str]) -> list[str]:
    """The same for a translation in pieces, each with the space before it, if any."""
    surplus = {match.end() - 1 for match in _SPACED_OPENINGS.finditer("".join(pieces))}
    shown, start = [], 0
    for piece in pieces:
        shown.append("".join(letter for place, letter in enumerate(piece, start) if place not in surplus))
        start += len(piece)
    return shown
