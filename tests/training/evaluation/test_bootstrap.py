import math
import random

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from training.errors import EvaluationError
from training.evaluation.bootstrap import compare, resample
from training.evaluation.metrics import References, SentenceStatistics


def garbled(rng: random.Random, text: str, chance: float) -> str:
    return " ".join("oops" if rng.random() < chance else word for word in text.split())


@pytest.fixture(scope="module")
def corpus() -> tuple[list[str], list[str], list[str]]:
    """References, a system that garbles 20% of the words, and one that garbles 18%."""
    rng = random.Random(0)
    words = [f"w{n}" for n in range(40)]
    references = [" ".join(rng.choices(words, k=rng.randint(4, 20))) for _ in range(150)]
    return (
        references,
        [garbled(rng, text, 0.20) for text in references],
        [garbled(rng, text, 0.18) for text in references],
    )


def measured(references, outputs):
    return References(references).measure(outputs, [(0.0,)] * len(outputs))


def with_log_probabilities(values):
    """Statistics of one-token sentences of which only the log-probability matters."""
    rows = np.array([(value, 1.0) for value in values])
    return SentenceStatistics(np.ones((len(rows), 10)), np.ones((len(rows), 18)), rows)


def test_p_values_are_sacrebleus(corpus):
    references, first, second = corpus
    test = PairedTest(
        [("first", first), ("second", second)],
        {"bleu": BLEU(force=True), "chrf": CHRF()},
        [references],
        test_type="bs",
        n_samples=1000,
    )
    _, expected = test()
    found = compare(resample(measured(references, first)), resample(measured(references, second)))
    assert 0.002 < expected["BLEU"][1].p_value < 0.5
    for name, result in (("bleu", expected["BLEU"]), ("chrf", expected["chrF2"])):
        assert found[name].difference == pytest.approx(result[1].score - result[0].score)
        assert found[name].p_value == pytest.approx(result[1].p_value, abs=0.0011)


def test_equal_outputs_differ_by_nothing_and_that_is_no_finding(corpus):
    references, outputs, _ = corpus
    for difference in compare(*(resample(measured(references, outputs), draws=100) for _ in range(2))).values():
        assert (difference.difference, difference.p_value, difference.wins) == (0.0, 1.0, 0.0)


def test_a_system_better_on_every_sentence_by_the_same_amount_wins_every_draw():
    baseline = resample(with_log_probabilities([-3.0, -1.0, -2.0]))
    system = resample(with_log_probabilities([-2.5, -0.5, -1.5]))
    found = compare(baseline, system)["log_probability"]
    assert found.difference == pytest.approx(0.5)
    assert (found.low, found.high) == (pytest.approx(0.5), pytest.approx(0.5))
    assert found.wins == 1.0
    assert found.p_value == pytest.approx(1 / 1001)


def test_a_system_against_itself_is_not_different():
    system = resample(with_log_probabilities([-3.0, -1.0, -2.0]))
    found = compare(system, system)["log_probability"]
    assert (found.difference, found.low, found.high, found.wins) == (0, 0, 0, 0)


def test_two_sentences_by_hand():
    # Better by 3 on one sentence, worse by 1 on the other.  A draw has the first twice (1/4: +3), both (1/2: +1)
    # or the second twice (1/4: -1): the mean is 1, so it wins 3/4 of the draws.
    baseline, system = with_log_probabilities([-4.0, -4.0]), with_log_probabilities([-1.0, -5.0])
    found = compare(resample(baseline, draws=20_000), resample(system, draws=20_000))["log_probability"]
    assert found.difference == pytest.approx(1.0)
    assert found.wins == pytest.approx(0.75, abs=0.01)
    assert (found.low, found.high) == (pytest.approx(-1.0), pytest.approx(3.0))
    # |difference| is 3 or 1 with mean 1.5: it exceeds 1 + 1.5 when it is 3, a quarter of the time.
    assert found.p_value == pytest.approx(0.25, abs=0.01)


def test_the_interval_is_the_textbooks_for_a_mean():
    values = np.random.default_rng(0).normal(-2.0, 1.0, size=400)
    low, high = resample(with_log_probabilities(values), draws=4000).interval("log_probability")
    half = 1.96 * values.std() / math.sqrt(400)
    assert low == pytest.approx(values.mean() - half, abs=0.01)
    assert high == pytest.approx(values.mean() + half, abs=0.01)


def test_a_metric_weighs_sentences_by_their_tokens():
    # Drawing the long sentence counts its nine tokens: means of sums, not of sentence means.
    rows = np.array([(-9.0, 9.0), (-5.0, 1.0)])
    statistics = SentenceStatistics(np.ones((2, 10)), np.ones((2, 18)), rows)
    assert set(np.round(resample(statistics).draws["log_probability"], 6)) == {-1.0, -1.4, -5.0}


def test_the_seed_decides_the_draws_and_the_pieces_do_not(corpus, monkeypatch):
    references, first, _ = corpus
    statistics = measured(references, first)
    whole, other = resample(statistics), resample(statistics, seed=1)
    monkeypatch.setattr("training.evaluation.bootstrap.NUMBERS_AT_ONCE", 7 * len(references))
    assert resample(statistics).draws["bleu"] == pytest.approx(whole.draws["bleu"])
    assert other.draws["bleu"] != pytest.approx(whole.draws["bleu"])


def test_no_draws_are_refused():
    with pytest.raises(EvaluationError, match="0 draws"):
        resample(with_log_probabilities([-1.0]), draws=0)
