"""The words that a model knows how to translate: a word that is not among them is a name, if it looks like one.

A word that the training text has once is not known yet.  Nor is a rare one that mostly came back as it was, a name:
the model may have learnt it or not, and the service lends it another that it surely knows.
"""

import re
from collections import Counter

import numpy as np

from training.corpus.cache import TokenCorpus
from training.tokenizer.subwords import Subwords

LEAST = 2  # different sentences that have a known word
# A name has a capital letter, and of fewer sentences than so many, such a share has it in their translation too.
RARE = 50
COPIED = 0.75

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def known_words(corpus: TokenCorpus, source: Subwords, target: Subwords) -> list[str]:
    """Return the known words, in small letters and without a genitive's 's, sorted."""
    counts: Counter[str] = Counter()
    copies: Counter[str] = Counter()
    seen: set[bytes] = set()
    for index in range(len(corpus)):
        source_ids, target_ids = corpus.pair(index)
        mark = np.asarray(source_ids).tobytes()
        if mark in seen:  # text is repeated, to be learnt more often
            continue
        seen.add(mark)
        words = {_bare(word) for word in _WORD.findall(source.decode(source_ids[:-1].tolist()))}
        names = {word for word in words if word[:1].isupper()}
        if names:
            names &= {_bare(word) for word in _WORD.findall(target.decode(target_ids[:-1].tolist()))}
        counts.update({word.casefold() for word in words})
        copies.update({word.casefold() for word in names})
    return sorted(
        word
        for word, count in counts.items()
        if word and count >= LEAST and not (count < RARE and copies[word] >= COPIED * count)
    )


def _bare(word: str) -> str:
    return word.replace("’", "'").removesuffix("'s")
