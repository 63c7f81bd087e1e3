from hypothesis import given
from hypothesis import strategies as st

from service.engine.grouping import group_by_length


def test_similar_lengths_are_encoded_together_and_others_apart() -> None:
    lengths = [20, 4, 21, 100, 19, 5]
    groups = [[lengths[index] for index in group] for group in group_by_length(lengths, max_group=8)]
    assert groups == [[4, 5], [19, 20, 21], [100]]


def test_a_group_is_never_larger_than_allowed() -> None:
    assert [len(group) for group in group_by_length([10] * 20, max_group=8)] == [8, 8, 4]


@given(st.lists(st.integers(1, 200), max_size=20), st.integers(1, 8))
def test_every_newcomer_is_in_exactly_one_group(lengths: list[int], max_group: int) -> None:
    groups = group_by_length(lengths, max_group)
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
