import math

import pytest
from sacrebleu.metrics.bleu import BLEU

from training.errors import ObjectiveError
from training.policy.objectives import Translations, load_objective
from training.policy.objectives.sentence_bleu import SentenceBleu, sentence_bleu


def test_the_score_of_a_short_pair_can_be_derived_by_hand():
    # a b c d | a b x d: words 3/4; pairs (ab) 1 of 3, triples 0 of 2, quadruples 0 of 1, one added to each.
    expected = (3 / 4 * 2 / 4 * 1 / 3 * 1 / 2) ** 0.25
    assert sentence_bleu("a b x d", "a b c d") == pytest.approx(expected)


def test_a_short_hypothesis_pays_the_brevity_penalty():
    # Both words match, 1 of 1 pair, and no longer n-grams: (0 + 1) / (0 + 1).
    assert sentence_bleu("a b", "a b c d") == pytest.approx(math.exp(1 - 4 / 2))


def test_words_are_matched_as_often_as_the_reference_has_them():
    # "a a a": 1 of 3 words; pairs 0 of 2, triples 0 of 1, no quadruple.
    assert sentence_bleu("a a a", "a b c") == pytest.approx((1 / 3 * 1 / 3 * 1 / 2 * 1) ** 0.25)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [("a b c d e", "a b c d e", 1.0), ("x y", "a b", 0.0), ("", "a b", 0.0)],
)
def test_it_is_one_for_the_reference_and_zero_without_a_common_word(hypothesis, reference, expected):
    assert sentence_bleu(hypothesis, reference) == expected


def test_it_equals_sacrebleus_add_one_smoothing():
    metric = BLEU(smooth_method="add-k", smooth_value=1, effective_order=False, force=True)
    pairs = [
        ("A man, in a blue shirt, is standing on a ladder.", "A man in a blue shirt is standing on a ladder cleaning."),
        ("two dogs play with a toy in the snow .", "Two dogs are playing in the snow."),
        ("it's 5.3% of $100,000", "That is 5.3 % of 100,000 dollars"),
    ]
    for hypothesis, reference in pairs:
        expected = metric.sentence_score(hypothesis, [reference]).score / 100
        assert sentence_bleu(hypothesis, reference) == pytest.approx(expected)


def test_the_corpus_score_is_corpus_bleu_not_the_mean():
    texts = Translations(["", ""], ["a b c d e", "a b x y z w"], ["a b c d e", "a b c d e f"])
    # words 7/11, pairs 5/9, triples 3/7, quadruples 2/5; lengths are equal
    expected = (7 / 11 * 5 / 9 * 3 / 7 * 2 / 5) ** 0.25
    assert SentenceBleu().corpus_score(texts) == pytest.approx(expected)


def test_a_length_above_one_puts_a_price_on_outputs_as_short_as_the_reference():
    shorter, longer = "a b c d", "a b c d e"
    assert sentence_bleu(shorter, shorter, length=1.25) == pytest.approx(math.exp(1 - 5 / 4))
    assert sentence_bleu(longer, shorter, length=1.25) == sentence_bleu(longer, shorter)  # long enough for either


@pytest.mark.parametrize("hypothesis", ["a b c d x", "a b c d", "a b c", "x y z w"])
def test_the_corpus_score_has_the_same_price(hypothesis):
    texts = Translations([""], [hypothesis], ["a b c d"])
    words = len(hypothesis.split())
    paid_already, price = min(0, 1 - 4 / words), min(0, 1 - 5 / words)
    expected = SentenceBleu().corpus_score(texts) * math.exp(price - paid_already)
    assert SentenceBleu(length=1.25).corpus_score(texts) == pytest.approx(expected)


@pytest.mark.parametrize("length", [0, -1, 10])
def test_a_length_out_of_range_is_refused(length):
    with pytest.raises(ObjectiveError, match=f"length = {length}"):
        load_objective("bleu", {"length": length})
