import math

import pytest

from training.config import Decoding
from training.decoding.hypothesis import Hypothesis, LengthLimits


def test_score_is_the_mean_log_probability_with_eos():
    hypothesis = Hypothesis(ids=(5, 6), token_log_probabilities=(math.log(0.5), math.log(0.5), math.log(0.25)))
    assert hypothesis.log_probability == pytest.approx(math.log(1 / 16))
    assert hypothesis.score == pytest.approx(math.log(1 / 16) / 3)


@pytest.mark.parametrize(
    ("source_tokens", "limit"),
    [(1, 22), (10, 40), (90, 200), (500, 200)],
)
def test_limit_grows_with_the_source_up_to_the_maximum(source_tokens: int, limit: int):
    limits = LengthLimits.from_config(Decoding(max_length_ratio=2.0, max_length_extra=20, max_length=200))
    assert limits.limit(source_tokens) == limit


def test_a_fraction_of_a_token_is_not_a_token():
    assert LengthLimits(ratio=1.5, extra=1, maximum=99).limit(3) == 5


def test_every_source_may_take_one_step():
    assert LengthLimits(ratio=0.1, extra=0, maximum=99).limit(3) == 1
