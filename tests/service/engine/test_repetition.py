import pytest

from service.engine.greedy import GreedySearch
from service.engine.repetition import RepetitionGuard, cut_length, source_repeats, tail_repeats
from service.engine.search import DONE, Step

NO_LOOP = (1, 2, 3)


@pytest.mark.parametrize(
    ("ids", "cut"),
    [
        ([7] * 7, None),  # seven times the same word may be meant
        ([7] * 8, 1),
        ([1, 2, 7, 7, 7, 7, 7, 7, 7, 7], 3),
        ([7, 8] * 3, None),
        ([7, 8] * 4, 2),
        ([1, 7, 8, 9] + [7, 8, 9] * 3, 4),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] * 4, 12),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] * 6, None),  # longer than any unit that is looked for
        ([7, 8, 7, 9] * 4, 4),
        ([7, 8] * 4 + [9], None),  # it got out by itself
    ],
)
def test_a_loop_is_cut_to_its_first_unit(ids: list[int], cut: int | None) -> None:
    assert cut_length(ids, NO_LOOP) == cut


@pytest.mark.parametrize(
    ("repeats", "cut"),
    [(2, 2), (6, 6), (7, None), (20, None)],
)
def test_a_source_that_repeats_itself_allows_as_much_and_one_more(repeats: int, cut: int | None) -> None:
    source = [5] * repeats + [3]
    assert cut_length([7] * 8, source) == cut


def test_counting_repeats() -> None:
    assert tail_repeats([1, 2, 1, 2, 1, 2], 2) == 3
    assert tail_repeats([1, 2, 1, 2, 1, 2], 3) == 1
    assert source_repeats([1, 2, 3]) == 1
    assert source_repeats([9, 1, 2, 1, 2, 1, 2, 8]) == 3
    assert source_repeats([4, 4, 4, 4]) == 4


@pytest.mark.parametrize("unit", [[7], [7, 8], [7, 8, 7, 9], list(range(4, 16))])
def test_the_quick_test_never_overlooks_a_loop(unit: list[int]) -> None:
    guard = RepetitionGuard(NO_LOOP)
    ids: list[int] = [20, 21, 22]
    for position, token in enumerate(ids):
        guard.is_suspicious(token, position)
    for token in unit * 8:
        ids.append(token)
        is_suspicious = guard.is_suspicious(token, len(ids) - 1)
        if cut_length(ids, NO_LOOP) is not None:
            assert is_suspicious
            return
    raise AssertionError("eight repeats of a unit are a loop")


def test_greedy_stops_in_a_loop_and_says_so() -> None:
    search = GreedySearch(eos_id=3, max_steps=100, guard=RepetitionGuard(NO_LOOP))
    verdict = None
    steps = 0
    while verdict is not DONE:
        steps += 1
        verdict = search.advance(Step(None, [7], [-0.5]), [0])
    [hypothesis] = search.hypotheses()
    assert steps == 8
    assert hypothesis.ids == (7,)
    assert hypothesis.is_repetitive
    assert not hypothesis.is_truncated
    assert hypothesis.score == -0.5
