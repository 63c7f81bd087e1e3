import pytest
from sacrebleu.metrics.chrf import CHRF

from training.policy.objectives.chrf import sentence_chrf


def test_the_score_of_a_short_pair_can_be_derived_by_hand():
    # "ab" | "abc": characters 2 of 2 and 2 of 3, pairs 1 of 1 and 1 of 2, longer ones do not occur on both sides.
    precision, recall = 1.0, (2 / 3 + 1 / 2) / 2
    assert sentence_chrf("ab", "abc") == pytest.approx(5 * precision * recall / (4 * precision + recall))


@pytest.mark.parametrize(("hypothesis", "expected"), [("a b c", 1.0), ("xyz", 0.0), ("", 0.0)])
def test_spaces_do_not_count_and_nothing_in_common_is_zero(hypothesis, expected):
    assert sentence_chrf(hypothesis, "abc") == expected


def test_it_equals_sacrebleus_sentence_score():
    metric = CHRF()
    for hypothesis, reference in [
        ("A man in blue.", "A man in a blue shirt is standing."),
        ("two dogs", "Two dogs are playing in the snow."),
        ("a", "an apple"),
    ]:
        expected = metric.sentence_score(hypothesis, [reference]).score / 100
        assert sentence_chrf(hypothesis, reference) == pytest.approx(expected)
