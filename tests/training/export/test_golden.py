import json

import pytest

from training.decoding.hypothesis import LengthLimits
from training.errors import ExportError
from training.export.golden import COMFORTABLE_MARGIN, make_golden
from training.export.sessions import Translation

LIMITS = LengthLimits(2.0, 20, 200)


class ScriptedSessions:
    """Stands in for graphs whose margins one could not choose."""

    def __init__(self, outputs):
        self.outputs = outputs

    def greedy(self, sources, limits, units):
        return self.outputs[units]


def translation(word: int, margin: float, is_truncated: bool = False) -> Translation:
    return Translation((word,), -0.25, (9.0, margin), is_truncated)


def golden(outputs, examples, actors=None):
    texts = [f"text {index}" for index in range(len(outputs[None]))]
    sources = [[10 + index, 3] for index in range(len(texts))]
    lines = make_golden(
        ScriptedSessions(outputs), texts, sources, lambda ids: f"<{ids[0]}>", actors or {}, LIMITS, examples
    )
    return [json.loads(line) for line in lines.splitlines()]


def test_close_calls_and_truncated_outputs_are_passed_over():
    outputs = {
        None: [
            translation(1, COMFORTABLE_MARGIN / 2),
            translation(2, COMFORTABLE_MARGIN * 2),
            translation(3, 5.0, is_truncated=True),
            translation(4, COMFORTABLE_MARGIN),
        ]
    }
    assert golden(outputs, examples=2) == [
        {
            "text": f"text {index}",
            "source_ids": [10 + index, 3],
            "decoder": "greedy",
            "objective": None,
            "output_ids": [word],
            "output": f"<{word}>",
            "score": -0.25,
        }
        for index, word in ((1, 2), (3, 4))
    ]


def test_without_enough_comfortable_outputs_the_surest_are_taken():
    outputs = {None: [translation(1, 0.001), translation(2, 0.1), translation(3, 0.01)]}
    assert [line["output_ids"] for line in golden(outputs, examples=2)] == [[2], [3]]


def test_each_actor_has_examples_of_its_own():
    outputs = {None: [translation(1, 1.0)], (0, 4): [translation(2, 1.0)], (4, 6): [translation(3, 1.0)]}
    lines = golden(outputs, examples=1, actors={"bleu": (0, 4), "concise": (4, 6)})
    assert [(line["objective"], line["output_ids"]) for line in lines] == [(None, [1]), ("bleu", [2]), ("concise", [3])]


def test_model_that_never_ends_a_sentence_is_refused():
    with pytest.raises(ExportError, match="is the model trained"):
        golden({None: [translation(1, 1.0, is_truncated=True)]}, examples=1)
