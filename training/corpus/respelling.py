"""Other spellings of the same words: now and then a subword is written as two shorter ones.

A corpus that is seen again and again is learnt by heart, word by word, and a rare word is a subword sequence seen once.
Who reads "▁Haus tür" as "▁Haus t ür" one time and as "▁Ha us tür" another has to learn what the parts mean: subword
regularisation, as BPE-dropout has it (Provilkov et al. 2020).  There merges are left out at random; here they are
undone at random, which needs ids alone, so the corpus on disk stays as the service will read a sentence.

Shapes:  V vocabulary · P ways to part a subword, all subwords' one after the other · N ids · B sentences
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

PASSES = 2  # what a first parting has made may be parted once more

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Respelling:
    """Parts each subword that can be parted with probability `chance`, in any of the ways there are."""

    chance: float
    first_way: Ids  # [V]: the ways of subword v are numbers first_way[v] … first_way[v] + ways[v] - 1
    ways: Ids  # [V]
    left: Ids  # [P]
    right: Ids  # [P]

    @classmethod
    def of(cls, pieces: Mapping[str, int], chance: float) -> Self:
        """All ways to write a subword as two others, where `pieces` are the subwords that spell text, and their ids."""
        parts: list[list[tuple[int, int]]] = [[] for _ in range(max(pieces.values()) + 1)]
        for piece, id in pieces.items():
            cuts = ((piece[:cut], piece[cut:]) for cut in range(1, len(piece)))
            parts[id] = [(pieces[left], pieces[right]) for left, right in cuts if left in pieces and right in pieces]
        ways = np.array([len(of_one) for of_one in parts], np.int64)
        flat = np.array([way for of_one in parts for way in of_one], np.int64).reshape(-1, 2)
        return cls(chance, np.cumsum(ways) - ways, ways, flat[:, 0], flat[:, 1])

    def respell(self, ids: Ids, lengths: Ids, random: np.random.Generator) -> tuple[Ids, Ids]:
        """Return other ids [N'] of the same text, and their lengths [B], for sentences [N] that follow each other."""
        for _ in range(PASSES):
            ids, lengths = self._part_some(ids, lengths, random)
        return ids, lengths

    def _part_some(self, ids: Ids, lengths: Ids, random: np.random.Generator) -> tuple[Ids, Ids]:
        is_parted = (random.random(len(ids)) < self.chance) & (self.ways[ids] > 0)
        which = random.integers(np.maximum(self.ways[ids], 1))
        way = (self.first_way[ids] + which)[is_parted]
        ends = np.cumsum(1 + is_parted)  # of what each subword becomes
        parted = np.empty(int(ends[-1]) if len(ends) else 0, np.int64)
        parted[ends - 1] = ids
        parted[ends[is_parted] - 2] = self.left[way]
        parted[ends[is_parted] - 1] = self.right[way]
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        return parted, lengths + np.bincount(sentence[is_parted], minlength=len(lengths))
