import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from training.errors import EvaluationError
from training.evaluation.metrics import References, bleu, chrf, score

sentences = st.text(alphabet="ab c.", max_size=14)


def measured(outputs, references, log_probabilities=None):
    return References(references).measure(outputs, log_probabilities or [(0.0,)] * len(outputs))


@settings(max_examples=200, deadline=None)
@given(pairs=st.lists(st.tuples(sentences, sentences), min_size=1, max_size=6))
def test_scores_are_sacrebleus(pairs):
    outputs, references = [output for output, _ in pairs], [reference for _, reference in pairs]
    found = score(measured(outputs, references))
    assert found.bleu == pytest.approx(BLEU(force=True).corpus_score(outputs, [references]).score, abs=1e-9)
    assert found.chrf == pytest.approx(CHRF().corpus_score(outputs, [references]).score, abs=1e-9)


def test_a_perfect_output_scores_100():
    found = score(measured(["The quick brown fox."], ["The quick brown fox."]))
    assert (found.bleu, found.chrf, found.length_ratio) == (pytest.approx(100), pytest.approx(100), 1.0)


def test_bleu_by_hand():
    # Words a b c d against a b c d e: every n-gram matches; brevity exp(1 - 5/4).
    assert score(measured(["a b c d"], ["a b c d e"])).bleu == pytest.approx(100 * math.exp(-0.25))


def test_orders_without_a_match_are_smoothed_by_halving():
    # 4 words, 2 in the reference, no pair: precisions 2/4, 1/2 of 1/3, 1/4 of 1/2, 1/8 of 1/1.
    found = score(measured(["a x b y"], ["a q b r"]))
    assert found.bleu == pytest.approx(100 * (2 / 4 * 1 / 6 * 1 / 8 * 1 / 8) ** 0.25)


def test_case_counts():
    assert score(measured(["The Cat Sat Down"], ["the cat sat down"])).bleu == 0


def test_length_ratio_is_in_words():
    assert score(measured(["a b c", "a"], ["a b", "a b c d e f"])).length_ratio == pytest.approx(4 / 8)


def test_perplexity_is_over_tokens_not_sentences():
    halves, quarter = (math.log(0.5),) * 3, (math.log(0.25),)
    found = score(measured(["a", "b"], ["a", "b"], [halves, quarter]))
    # Three tokens of 1/2 and one of 1/4: the geometric mean is (1/8 · 1/4) ** (1/4).
    assert found.log_probability == pytest.approx(math.log(1 / 32) / 4)
    assert found.perplexity == pytest.approx(32**0.25)


def test_scores_of_many_sums_at_once_are_those_of_each():
    statistics = measured(["a b c d e", "a b", ""], ["a b c e d", "b a", "c"])
    several = np.stack([statistics.bleu[[0]].sum(0), statistics.bleu.sum(0), statistics.bleu[[2]].sum(0)])
    assert bleu(several) == pytest.approx(np.array([bleu(row) for row in several]))
    several = np.stack([statistics.chrf[[0]].sum(0), statistics.chrf.sum(0), statistics.chrf[[2]].sum(0)])
    assert chrf(several) == pytest.approx(np.array([chrf(row) for row in several]))


def test_signatures_say_how_to_compute_the_scores_again():
    signatures = References(["a"]).signatures()
    assert signatures["bleu"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert signatures["chrf"].startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:")


def test_an_empty_test_set_is_refused():
    with pytest.raises(EvaluationError, match="empty"):
        References([])


def test_uneven_input_is_refused_with_the_counts():
    with pytest.raises(EvaluationError, match="1 outputs with 1 log-probabilities for 2 references"):
        measured(["a"], ["a", "b"])
