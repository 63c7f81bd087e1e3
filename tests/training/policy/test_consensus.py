import numpy as np
import pytest

from training.decoding.hypothesis import Hypothesis
from training.policy.consensus import Consensus, consensus_scores
from training.policy.nbest import NBest
from training.policy.objectives import Objective


def hypothesis(ids, log_probability):
    return Hypothesis(tuple(ids), (log_probability,), False)


def as_text(outputs):
    return ["x" * len(ids) for ids in outputs]


class SameLength(Objective):
    """1 for a hypothesis as long as its reference."""

    name, optimises = "same-length", "the reference's length"

    def score(self, translations):
        pairs = zip(translations.hypotheses, translations.references, strict=True)
        return [float(len(hypothesis) == len(reference)) for hypothesis, reference in pairs]


def test_consensus_is_the_expected_objective_against_the_other_hypotheses():
    # Probabilities 1/2, 1/4, 1/4 of one word, two words, two words; a fourth is too improbable to count.
    half, quarter = np.log(0.5), np.log(0.25)
    lists = [
        [hypothesis([5], half), hypothesis([6, 7], quarter), hypothesis([8, 9], quarter), hypothesis([5, 5], -20.0)],
        [hypothesis([4], -1.0)],
    ]
    found = consensus_scores(NBest.of(lists), SameLength(), ["a", "b"], as_text)
    assert found.tolist() == pytest.approx([0.5, 0.5, 0.5, 0.5, 1.0])
    # At temperature 2 the weights are √½ : ½ : ½, of which the first has √½ / (1 + √½) = √2 - 1.
    warm = consensus_scores(NBest.of([lists[0][:3]]), SameLength(), ["a"], as_text, temperature=2.0)
    assert warm.tolist() == pytest.approx([2**0.5 - 1, 2 - 2**0.5, 2 - 2**0.5])


def test_lists_are_judged_alike_in_whatever_portions(monkeypatch):
    random = np.random.default_rng(5)
    lists = [
        [hypothesis(range(random.integers(1, 5)), -random.random()) for _ in range(random.integers(1, 4))]
        for _ in range(7)
    ]
    counted = []
    whole = consensus_scores(NBest.of(lists), SameLength(), list("abcdefg"), as_text)
    monkeypatch.setattr("training.policy.consensus.SENTENCES_AT_ONCE", 3)
    parts = consensus_scores(NBest.of(lists), SameLength(), list("abcdefg"), as_text, on_progress=counted.append)
    assert parts.tolist() == whole.tolist()
    assert counted == [3, 3, 1]


def test_an_output_that_no_list_holds_has_an_expected_objective_too():
    nbest = NBest.of([[hypothesis([5], np.log(0.5)), hypothesis([6, 7], np.log(0.5))], [hypothesis([4], -1.0)]])
    consensus = Consensus(nbest, as_text(nbest.outputs()), ["a", "b"], temperature=1.0)
    found = consensus.expect(SameLength(), [1, 0, 0, 1], ["y", "y", "yyy", "yy"])
    assert found.tolist() == pytest.approx([1.0, 0.5, 0.0, 0.0])
