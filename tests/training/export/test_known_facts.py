import json

import pytest

from training.errors import ExportError
from training.export.known_facts import read_scores, read_shipped_scores, shipped_state_range


def write_report(path, decoders):
    row = {"bleu": 40.126, "chrf": 60.0, "perplexity": 3.14159, "length_ratio": 0.98765}
    rows = [row | {"decoder": decoder} for decoder in decoders]
    test_set = {"test_set": "news", "signatures": {"bleu": "nrefs:1", "chrf": "-"}, "rows": rows}
    path.write_text(json.dumps({"test_sets": [test_set]}))


def test_rows_become_decoder_and_objective(tmp_path):
    path = tmp_path / "evaluate.json"
    write_report(path, ["greedy", "beam", "npad:50", "actor:bleu", "beam:3+actor:bleu"])
    scores = read_scores(path, ["bleu"])
    assert [(score["decoder"], score["objective"]) for score in scores] == [
        ("greedy", None),
        ("beam", None),
        ("npad:50", None),
        ("greedy", "bleu"),
        ("beam:3", "bleu"),
    ]
    assert scores[0] == {
        "test_set": "news",
        "decoder": "greedy",
        "objective": None,
        "bleu": 40.13,
        "chrf": 60.0,
        "perplexity": 3.142,
        "length_ratio": 0.988,
        "signature": "nrefs:1",
    }


def test_rows_of_actors_that_are_not_in_the_bundle_are_left_out(tmp_path):
    path = tmp_path / "evaluate.json"
    write_report(path, ["greedy", "actor:other"])
    assert len(read_scores(path, ["bleu"])) == 1


def test_run_without_an_evaluation_has_no_scores(tmp_path):
    assert read_scores(tmp_path / "evaluate.json", []) == []


@pytest.mark.parametrize("text", ["{}", "[1]", "not json", '{"test_sets": [{"rows": [{"decoder": "?"}]}]}'])
def test_foreign_file_is_refused(tmp_path, text):
    path = tmp_path / "evaluate.json"
    path.write_text(text)
    with pytest.raises(ExportError, match="evaluate again"):
        read_scores(path, [])


def test_run_that_was_unpacked_knows_what_was_shipped(tmp_path):
    path = tmp_path / "shipped.json"
    assert (read_shipped_scores(path), shipped_state_range(path)) == ([], 1.0)
    path.write_text(json.dumps({"scores": [{"test_set": "news"}], "provenance": {"state_range": 1.5}}))
    assert (read_shipped_scores(path), shipped_state_range(path)) == ([{"test_set": "news"}], 1.5)
