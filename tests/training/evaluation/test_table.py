import io
import json

import pytest
from rich.console import Console

from training.evaluation.bootstrap import Difference
from training.evaluation.metrics import Scores
from training.evaluation.table import Comparison, Row, SetReport, to_json, to_markdown, to_rich


@pytest.fixture
def report() -> SetReport:
    rows = [
        Row("greedy", Scores(34.817, 58.2, -0.5, 0.98), (33.0, 36.5), tokens=3000, seconds=1.5, truncated=0),
        Row("beam", Scores(36.53, 59.1, -0.4, 0.95), (34.8, 38.1), tokens=2900, seconds=29.0, truncated=1),
    ]
    differences = {
        "bleu": Difference("bleu", 1.713, 0.9, 2.5, 0.002, 1.0),
        "chrf": Difference("chrf", 0.9, -0.1, 1.8, 0.061, 0.97),
        "log_probability": Difference("log_probability", 0.1, 0.08, 0.12, 0.001, 1.0),
    }
    signatures = {"bleu": "nrefs:1|tok:13a", "chrf": "nrefs:1|nc:6"}
    return SetReport("flickr", 1000, rows, [Comparison("greedy", "beam", differences)], signatures, 1000, 12345)


def test_markdown_has_a_row_for_each_decoder_and_each_comparison(report):
    text = to_markdown([report])
    assert "## flickr (1,000 sentences)" in text
    assert "| greedy | 34.82 | 33.0–36.5 | 58.20 | 1.649 | 0.980 | 2,000 | 0 |" in text
    assert "| beam | 36.53 | 34.8–38.1 | 59.10 | 1.492 | 0.950 | 100 | 1 |" in text
    assert r"| greedy | beam | +1.71 [+0.90, +2.50] p=0.002 \* | +0.90 [-0.10, +1.80] p=0.061 |" in text
    assert "nrefs:1|tok:13a" in text


def test_every_line_of_a_markdown_table_has_as_many_cells(report):
    for line in to_markdown([report]).splitlines():
        if line.startswith("|"):
            assert line.count("|") in (9, 6)


def test_the_terminal_shows_intervals_and_signatures(report):
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(to_rich(report))
    shown = console.export_text()
    assert "+1.71 [+0.90, +2.50] p=0.002 *" in shown
    assert "34.82" in shown
    assert "nrefs:1|tok:13a" in shown


def test_json_keeps_full_precision_and_everything_a_program_needs(report):
    [found] = json.loads(json.dumps(to_json([report])))
    assert found["test_set"] == "flickr"
    assert found["rows"][0]["bleu"] == 34.817
    assert found["rows"][1]["tokens_per_second"] == 100
    assert found["rows"][0]["perplexity"] == pytest.approx(1.6487, abs=1e-4)
    assert found["comparisons"][0]["differences"]["bleu"]["p_value"] == 0.002
    assert found["signatures"]["bleu"] == "nrefs:1|tok:13a"
    assert found["bootstrap"] == {"draws": 1000, "seed": 12345, "confidence": 0.95}


def test_without_comparisons_there_is_one_table(report):
    alone = SetReport("flickr", 1000, report.rows[:1], [], report.signatures, 1000, 12345)
    assert "against" not in to_markdown([alone])
