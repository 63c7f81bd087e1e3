import math

import pytest
import torch

from training.decoding.greedy import greedy
from training.decoding.hypothesis import Hypothesis, LengthLimits
from training.decoding.scoring import score_under_model
from training.evaluation.prepared_set import PreparedSet
from training.nmt.model import ModelSizes, TranslationModel


class Letters:
    """a is 4, b is 5, …; words are single letters."""

    def encode(self, text: str) -> list[int]:
        return [ord(letter) - ord("a") + 4 for letter in text.split()]

    def decode(self, ids) -> str:
        return " ".join(chr(max(4, token) - 4 + ord("a")) for token in ids)


@pytest.fixture
def model() -> TranslationModel:
    torch.manual_seed(5)
    return TranslationModel(ModelSizes(11, 11, 6, 5, 8, 4, 6)).eval()


@pytest.fixture
def prepared() -> PreparedSet:
    return PreparedSet("letters", ["a b c d", "e f"], ["a b c d e", "e f"], Letters(), Letters())


def test_sources_end_with_eos_and_outputs_are_scored_as_text(model, prepared):
    def copy(sources):
        assert sources == [[4, 5, 6, 7, 3], [8, 9, 3]]
        half = math.log(0.5)
        return [Hypothesis(tuple(ids[:-1]), (half,) * len(ids), is_truncated=len(ids) == 3) for ids in sources]

    found = prepared.measure(model, "copy", copy, has_actor=False)
    assert found.texts == ["a b c d", "e f"]
    # 6 words against 7, every n-gram of them a match.
    assert found.row.scores.bleu == pytest.approx(100 * math.exp(1 - 7 / 6))
    assert found.row.scores.length_ratio == pytest.approx(6 / 7)
    assert found.row.scores.perplexity == pytest.approx(2.0)
    assert (found.row.decoder, found.row.tokens, found.row.truncated) == ("copy", 8, 1)
    # A quarter of the draws hold the short sentence alone, which has no 4-gram; half of them are the whole set.
    assert found.row.bleu_interval == (0.0, pytest.approx(100 * math.exp(1 - 7 / 6)))
    assert found.row.tokens_per_second > 0


def test_perplexity_is_the_frozen_models_even_when_an_actor_decoded(model, prepared):
    limits = LengthLimits(0.0, 6, 200)

    def push(state, context, word):
        return 2 * torch.ones_like(state)

    def decode(sources):
        return greedy(model, sources, limits=limits, actor=push)

    found = prepared.measure(model, "actor", decode, has_actor=True)
    scores = score_under_model(
        model,
        prepared.source_ids,
        [one.ids for one in found.hypotheses],
        truncated=[one.is_truncated for one in found.hypotheses],
    )
    flat = [value for row in scores for value in row]
    nudged = [value for one in found.hypotheses for value in one.token_log_probabilities]
    assert found.row.scores.perplexity == pytest.approx(math.exp(-sum(flat) / len(flat)))
    assert found.row.scores.perplexity != pytest.approx(math.exp(-sum(nudged) / len(nudged)), rel=0.01)
