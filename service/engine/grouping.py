"""Which newcomers are encoded together.

The encoder walks over positions one after the other, so its time is about (FIXED + rows) · padded length: joining two
groups saves the walk of the shorter one and pays for its padding.
"""

from collections.abc import Sequence

from service.engine.shape import even

# Cost of a position in units of one more row at that position: measured for the small shipped sizes, int8.
FIXED_ROWS = 1.2


def group_by_length(lengths: Sequence[int], max_group: int) -> list[list[int]]:
    """Return the indices of `lengths` in groups of at most `max_group`, similar lengths together, shortest first."""
    order = sorted(range(len(lengths)), key=lambda index: lengths[index])
    groups: list[list[int]] = []
    for index in order:
        group = groups[-1] if groups else []
        if group and len(group) < max_group:
            short, long = even(lengths[group[-1]]), even(lengths[index])
            if len(group) * (long - short) <= FIXED_ROWS * short:
                group.append(index)
                continue
        groups.append([index])
    return groups
