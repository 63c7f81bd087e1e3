"""A word behind an opening mark, read as the word it is anywhere else.

sentencepiece knows that a word begins by the space before it.  Behind a quotation mark or a bracket there is none, so
the word is spelt by pieces from the middle of other words: "Komm her!" came out as "Comm heart!".  A tokenizer with
spaced openings puts a space there before it encodes, and takes it away after it has decoded:

    spaced('"Komm!", sagte er (leise).')  ==  '" Komm!", sagte er ( leise).'

`unspaced(spaced(text)) == text` for every text.  The service does the same (`service/text/openings.py`), and
`tests/contract` holds the two together.
"""

import re

# One mark or several, at the beginning of a word.  Not ' alone, which begins English words too ('tis).
_MARKS = r"""(?<!\S)([("„“»«‚‘\[]+)"""
_OPENINGS = re.compile(rf"{_MARKS}(?= *\w)")
_SPACED_OPENINGS = re.compile(rf"{_MARKS} (?= *\w)")


def spaced(text: str) -> str:
    """The text as a tokenizer with spaced openings encodes it."""
    return _OPENINGS.sub(r"\1 ", text)


def unspaced(text: str) -> str:
    """The text that such a tokenizer's decoded text stands for."""
    return _SPACED_OPENINGS.sub(r"\1", text)
