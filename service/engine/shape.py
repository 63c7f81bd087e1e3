"""What the engine must know of a model: sizes, special ids, which hidden units belong to which actor, limits."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelShape:
    """The facts of a manifest that decoding depends on.

    Letters:  K attention key · W folded values · H decoder state · V target vocabulary · U hidden units of all actors
    """

    source_vocabulary: int
    target_vocabulary: int  # V
    state: int  # H
    key: int  # K
    values: int  # W
    actor_units: int  # U; 0 when the bundle has no actor
    units_of_actors: tuple[tuple[int, int], ...]  # [start, stop) of U for each actor, in the manifest's order
    pad_id: int
    bos_id: int
    eos_id: int
    max_source_tokens: int
    max_length: int
    max_length_ratio: float
    max_length_extra: int

    def longest_output(self, source_tokens: int) -> int:
        """Return how many steps, `eos` included, a source of `source_tokens` (`eos` included) is decoded for."""
        return max(1, min(self.max_length, int(self.max_length_ratio * source_tokens) + self.max_length_extra))


def even(length: int) -> int:
    """Round up to an even padded length: only then are a row's bits the same in every batch (models/CONTRACT.md)."""
    return length + length % 2
