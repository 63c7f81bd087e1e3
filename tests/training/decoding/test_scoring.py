import pytest
import torch

from training.decoding.greedy import greedy
from training.decoding.scoring import score_under_model

SOURCES = [[4 + i % 7, *[5] * (i % 5), 3] for i in range(20)]


@pytest.mark.parametrize("tie_output", [False, True])
def test_a_greedy_output_scores_what_greedy_said(tiny_model, short, tie_output):
    model = tiny_model(tie_output=tie_output)
    outputs = greedy(model, SOURCES, limits=short)
    assert {output.is_truncated for output in outputs} == {False, True}
    scores = score_under_model(
        model, SOURCES, [one.ids for one in outputs], truncated=[one.is_truncated for one in outputs], batch_tokens=50
    )
    for output, row in zip(outputs, scores, strict=True):
        assert row == pytest.approx(output.token_log_probabilities, abs=1e-5)


def test_it_is_the_frozen_model_that_scores_not_the_nudged_one(tiny_model, short):
    model = tiny_model()
    [nudged] = greedy(model, SOURCES[:1], limits=short, actor=lambda state, context, word: torch.ones_like(state))
    [scores] = score_under_model(model, SOURCES[:1], [nudged.ids], truncated=[nudged.is_truncated])
    inputs = torch.tensor([[2, *nudged.ids]])[:, : len(scores)]
    logits = model(torch.tensor(SOURCES[:1]), torch.ones(1, len(SOURCES[0])), inputs)[0].log_softmax(dim=1)
    expected = [logits[t, token].item() for t, token in enumerate([*nudged.ids, 3][: len(scores)])]
    assert scores == pytest.approx(expected, abs=1e-5)
    assert scores != pytest.approx(nudged.token_log_probabilities, abs=1e-2)


def test_an_empty_output_is_one_eos(tiny_model):
    [scores] = score_under_model(tiny_model(), [[4, 3]], [[]])
    assert len(scores) == 1


def test_a_truncated_empty_output_has_no_tokens(tiny_model):
    assert score_under_model(tiny_model(), [[4, 3]], [[]], truncated=[True]) == [()]


def test_the_number_of_positions_at_once_changes_nothing(tiny_model, monkeypatch):
    outputs = [[4, 5, 6, 7], [8], [4, 4]]
    whole = score_under_model(tiny_model(), SOURCES[:3], outputs)
    monkeypatch.setattr("training.decoding.scoring.POSITIONS_AT_ONCE", 2)
    for left, right in zip(score_under_model(tiny_model(), SOURCES[:3], outputs), whole, strict=True):
        assert left == pytest.approx(right, abs=1e-6)


def test_uneven_input_is_refused_with_the_counts(tiny_model):
    with pytest.raises(ValueError, match="2 sources, 1 outputs"):
        score_under_model(tiny_model(), [[4, 3], [5, 3]], [[4]])


def test_a_source_with_many_outputs_is_encoded_once(tiny_model, monkeypatch):
    model, encoded = tiny_model(), []
    encode = model.encode
    monkeypatch.setattr(model, "encode", lambda ids, mask: encoded.append(len(ids)) or encode(ids, mask))
    sources, outputs = [SOURCES[6], SOURCES[1], SOURCES[6], SOURCES[6]], [[4, 5], [6], [7, 4], [4, 5]]
    together = score_under_model(model, sources, outputs)
    assert encoded == [2]
    for source, output, scores in zip(sources, outputs, together, strict=True):
        assert scores == pytest.approx(score_under_model(model, [source], [output])[0], abs=1e-6)
