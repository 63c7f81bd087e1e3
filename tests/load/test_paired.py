"""The arithmetic behind `make overhead`, on numbers that can be checked by hand."""

import random

import pytest
from paired import (
    Slice,
    compare,
    compare_latencies,
    cpu_per_token,
    latency_percentile,
    pooled,
    requests_per_s,
    seconds_per_token,
    turns,
)

SLICE = Slice(seconds=2.0, latencies_s=(0.1, 0.2, 0.3, 0.4, 0.5), tokens=100, cpu_s=0.5)


def slower_by(factor: float, part: Slice) -> Slice:
    return Slice(part.seconds * factor, tuple(factor * s for s in part.latencies_s), part.tokens, part.cpu_s * factor)


def test_statistics_of_a_slice():
    assert latency_percentile(50)(SLICE) == pytest.approx(0.3)
    assert latency_percentile(100)(SLICE) == pytest.approx(0.5)
    assert requests_per_s(SLICE) == pytest.approx(2.5)
    assert seconds_per_token(SLICE) == pytest.approx(0.02)
    assert cpu_per_token(SLICE) == pytest.approx(0.005)


def test_pooling_adds_up():
    whole = pooled([{"a": SLICE}, {"a": slower_by(2, SLICE)}], "a")
    assert (whole.seconds, whole.tokens, whole.cpu_s, len(whole.latencies_s)) == (6.0, 200, 1.5, 10)


def test_a_constant_ratio_is_found_however_the_machine_drifts():
    dice = random.Random(1)
    rounds = []
    for _ in range(20):
        speed = dice.uniform(0.5, 8.0)  # of the machine in this round
        rounds.append({"plain": slower_by(speed, SLICE), "other": slower_by(1.03 * speed, SLICE)})
    for statistic in (latency_percentile(50), seconds_per_token, cpu_per_token):
        estimate = compare(rounds, "other", "plain", statistic)
        assert (estimate.low, estimate.ratio, estimate.high) == pytest.approx((1.03, 1.03, 1.03))
    assert compare(rounds, "other", "plain", requests_per_s).ratio == pytest.approx(1 / 1.03)


def test_percentiles_are_those_of_all_rounds_together():
    slow = [{"plain": SLICE, "other": slower_by(3 if number == 0 else 1, SLICE)} for number in range(10)]
    # One slow round in ten does not move the median, but it is the tail.
    assert compare_latencies(slow, "other", "plain", 50).ratio == pytest.approx(1.0)
    worst = compare_latencies(slow, "other", "plain", 100)
    assert worst.ratio == pytest.approx(3.0)
    assert worst.low == pytest.approx(1.0)  # a draw may miss the slow round


def test_the_interval_holds_the_truth_as_often_as_it_says():
    """A ratio of 1.1 with noise of 10% a round; of 100 intervals of 95%, about 95 should hold it."""
    dice = random.Random(2)
    held = 0
    for trial in range(100):
        rounds = [{"plain": SLICE, "other": slower_by(1.1 * dice.lognormvariate(0, 0.1), SLICE)} for _ in range(25)]
        estimate = compare(rounds, "other", "plain", seconds_per_token, seed=trial)
        held += estimate.low <= 1.1 <= estimate.high
    assert 88 <= held <= 99


def test_each_contestant_takes_every_place_equally_often():
    names = ["a", "b", "c"]
    rounds = [turns(names, number) for number in range(6)]
    assert all(sorted(order) == names for order in rounds)
    for place in range(3):
        assert sorted(order[place] for order in rounds) == ["a", "a", "b", "b", "c", "c"]


def test_no_contestant_always_follows_the_same_one():
    orders = [turns(["a", "b", "c", "d"], number) for number in range(8)]
    before_b = {order[order.index("b") - 1] for order in orders if order.index("b")}
    assert before_b == {"a", "c"}


def test_luck_that_lasts_as_long_as_a_process_is_part_of_the_interval():
    lucks = (0.97, 1.0, 1.03)  # of three starts, ten rounds each
    rounds = [{"plain": SLICE, "other": slower_by(luck, SLICE)} for luck in lucks for _ in range(10)]
    for estimate in (
        compare(rounds, "other", "plain", seconds_per_token, starts=3),
        compare_latencies(rounds, "other", "plain", 50, starts=3),
    ):
        assert estimate.ratio == pytest.approx(1.0)
        # Each of the three is drawn thrice in one bootstrap of 27, which is more than 2.5%.
        assert (estimate.low, estimate.high) == pytest.approx((0.97, 1.03))
    narrow = compare(rounds[10:20], "other", "plain", seconds_per_token)
    assert (narrow.low, narrow.high) == pytest.approx((1.0, 1.0))
