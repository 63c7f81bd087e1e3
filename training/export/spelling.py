"""Characters without a subword of their own that a model has learnt all the same, by their bytes.

A tokenizer of 8,000 subwords has none for Q, Ö or %.  Text spells them in bytes; where the training text did so often,
the model knows what they mean; a rarer character is better carried over as it is.
"""

import numpy as np

from training.corpus.cache import IdArray
from training.tokenizer.subwords import Subwords

# Of the training text's source subwords, so many must be the character's.
LEAST_SHARE = 1e-4


def learnt_by_bytes(source_ids: IdArray, subwords: Subwords) -> str:
    """Return the characters that at least one in 10,000 of these ids begins to spell, the most frequent first."""
    values = np.array([-1 if (byte := subwords.byte_of(id)) is None else byte for id in range(len(subwords))])
    bytes_ = values[np.asarray(source_ids)]  # -1 where it is none
    spelt = np.flatnonzero(bytes_ >= 0)
    breaks = np.flatnonzero(np.diff(spelt) > 1) + 1
    text = b" ".join(bytes(bytes_[run].tolist()) for run in np.split(spelt, breaks)).decode("utf-8", errors="ignore")
    characters, counts = np.unique(list(text), return_counts=True)
    frequent = [(int(count), str(one)) for one, count in zip(characters, counts, strict=True) if one.isprintable()]
    least = LEAST_SHARE * len(source_ids)
    return "".join(one for count, one in sorted(frequent, reverse=True) if count >= least and not one.isspace())
