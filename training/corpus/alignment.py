"""Which word is which: IBM Model 1 (Brown et al. 1993), in both directions, over sentence pairs.

    p(t | s)  =  Σ over the pairs of c(s, t),  normalised over t
    c(s, t)   =  p(t | s) / Σ over the source words s' of the same pair of p(t | s')

A link is a source and a target word of one pair.  Expectation and maximisation are `bincount`s over the array of all
links, so half a million short pairs take a minute or two.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Words = Sequence[str]
Ids = NDArray[np.int32]

ITERATIONS = 6


@dataclass(frozen=True)
class WordPair:
    """A word, its likeliest translation, and how likely each is given the other."""

    source: str
    target: str
    target_given_source: float
    source_given_target: float


def likeliest_translations(pairs: Sequence[tuple[Words, Words]], *, min_count: int) -> list[WordPair]:
    """Return the likeliest target word of each source word; words of fewer than `min_count` occurrences are ignored.

    The likeliest is the one with the highest p(t | s) p(s | t): a word that stands beside everything ("the") is the
    translation of nothing else.
    """
    source_ids = _vocabulary((source for source, _ in pairs), min_count)
    target_ids = _vocabulary((target for _, target in pairs), min_count)
    link_source, link_target, link_pair = _links(pairs, source_ids, target_ids)
    if not len(link_source):
        return []
    keys, link_parameter = np.unique(link_source.astype(np.int64) * len(target_ids) + link_target, return_inverse=True)
    source, target = keys // len(target_ids), keys % len(target_ids)
    forward = _learn(link_parameter, source, _group(link_pair, link_target))
    backward = _learn(link_parameter, target, _group(link_pair, link_source))
    by_score = np.argsort(forward * backward, kind="stable")
    best = np.full(len(source_ids), -1, dtype=np.int64)
    best[source[by_score]] = by_score  # the last to write is the highest
    source_words, target_words = list(source_ids), list(target_ids)
    return [
        WordPair(source_words[source[at]], target_words[target[at]], float(forward[at]), float(backward[at]))
        for at in best
        if at >= 0
    ]


def _vocabulary(sentences: Iterable[Words], min_count: int) -> dict[str, int]:
    counts = Counter(word for words in sentences for word in words)
    return {word: index for index, word in enumerate(word for word, count in counts.items() if count >= min_count)}


def _links(
    pairs: Sequence[tuple[Words, Words]], source_ids: dict[str, int], target_ids: dict[str, int]
) -> tuple[Ids, Ids, Ids]:
    """Return the source word, the target word and the pair of every link, each [links]."""
    parts: list[tuple[Ids, Ids, Ids]] = []
    for index, (source, target) in enumerate(pairs):
        sources = np.array([source_ids[word] for word in source if word in source_ids], dtype=np.int32)
        targets = np.array([target_ids[word] for word in target if word in target_ids], dtype=np.int32)
        count = len(sources) * len(targets)
        parts.append(
            (np.repeat(sources, len(targets)), np.tile(targets, len(sources)), np.full(count, index, dtype=np.int32))
        )
    if not parts:
        nothing = np.zeros(0, dtype=np.int32)
        return nothing, nothing, nothing
    first, second, third = (np.concatenate(column) for column in zip(*parts, strict=True))
    return first, second, third


def _group(link_pair: Ids, link_word: Ids) -> NDArray[np.int64]:
    """Number the words to be explained: links of one pair to one word share a number.  [links]

    So a word that stands in a pair twice is explained once; Model 1 proper would explain it twice.
    """
    return np.unique(link_pair.astype(np.int64) << 32 | link_word, return_inverse=True)[1]


def _learn(
    link_parameter: NDArray[np.int64], given: NDArray[np.int64], link_group: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Expectation and maximisation; return p(explained | given) of each parameter.  [parameters]"""
    probability = np.ones(len(given))
    for _ in range(ITERATIONS):
        links = probability[link_parameter]
        links /= np.bincount(link_group, weights=links)[link_group]
        counts = np.bincount(link_parameter, weights=links, minlength=len(given))
        probability = counts / np.bincount(given, weights=counts)[given]
    return probability
