"""Metrics that can be derived by hand."""

from types import SimpleNamespace

import pytest

from service.engine.types import EngineStats
from service.metrics import Metrics


@pytest.fixture
def metrics():
    stats = EngineStats(
        queued_jobs=3, queued_tokens=40, active_jobs=2, active_rows=7, steps=6, row_steps=16, tokens=12, encoded=5,
        finished=4, cancelled=1, expired=0, overloaded=2, batch_sizes={1: 3, 4: 2, 5: 1}, tokens_per_s=123.0,
    )  # fmt: skip
    pair = SimpleNamespace(pair=("xa", "xb"), engine=SimpleNamespace(stats=lambda: stats))
    return Metrics(lambda: [pair])


def test_the_engines_numbers_are_read_when_asked(metrics):
    text = metrics.render().decode()
    assert 'nudge_queued_tokens{pair="xa-xb"} 40.0' in text
    assert 'nudge_active_rows{pair="xa-xb"} 7.0' in text
    assert 'nudge_cancelled_sentences_total{pair="xa-xb"} 1.0' in text


def test_batch_sizes_are_a_cumulative_histogram(metrics):
    text = metrics.render().decode()
    for bound, count in (("1", 3), ("2", 3), ("4", 5), ("8", 6), ("+Inf", 6)):
        assert f'nudge_batch_rows_bucket{{le="{bound}",pair="xa-xb"}} {count}.0' in text
    assert 'nudge_batch_rows_sum{pair="xa-xb"} 16.0' in text


def test_the_cost_of_a_token_is_time_by_tokens(metrics):
    assert metrics.milliseconds_per_token("xa-xb", "bleu", "greedy") is None
    metrics.count_translation("xa-xb", "bleu", "greedy", characters=10, tokens=4, decode_s=0.010, seconds=0.02)
    metrics.count_translation("xa-xb", "bleu", "greedy", characters=10, tokens=6, decode_s=0.020, seconds=0.03)
    assert metrics.milliseconds_per_token("xa-xb", "bleu", "greedy") == 3.0
