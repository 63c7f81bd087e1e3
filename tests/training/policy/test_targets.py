import numpy as np
import pytest

from training.corpus.cache import TokenCorpus
from training.decoding.hypothesis import Hypothesis
from training.policy.nbest import NBest
from training.policy.targets import choose_targets, levelling_bonus, pseudo_corpus


def hypothesis(ids, log_probability, is_truncated=False):
    return Hypothesis(tuple(ids), (log_probability,), is_truncated)


LISTS = [
    [hypothesis([5], -1.0), hypothesis([6, 7], -1.4), hypothesis([8], -3.0)],
    [hypothesis([9], -2.0, True)],
    [hypothesis([4, 4], -0.5), hypothesis([4, 5], -0.6)],
]


def test_the_best_score_among_the_nearly_as_probable_is_chosen():
    nbest = NBest.of(LISTS)
    scores = np.array([0.1, 0.5, 0.9, 1.0, 0.3, 0.3])
    near = choose_targets(nbest, scores, delta=0.5, length_alpha=0.0)
    # The third is better still, but 2 nats away; of equals the more probable; a cut output is no target.
    assert near.sentences.tolist() == [0, 2]
    assert near.hypotheses.tolist() == [1, 4]
    assert near.objective == (0.5 + 0.3) / 2
    assert near.top_objective == (0.1 + 0.3) / 2
    assert choose_targets(nbest, scores, delta=2.0, length_alpha=0.0).hypotheses.tolist() == [2, 4]
    assert choose_targets(nbest, scores, delta=0.0, length_alpha=0.0).hypotheses.tolist() == [0, 4]


def test_lengths_are_compared_as_the_beam_compared_them():
    # Per token, eos included: -0.9 of three tokens against -1.0 of two, which is 0.1 · 3 = 0.3 nats of the first.
    nbest = NBest.of([[hypothesis([5, 6], -2.7), hypothesis([5], -2.0)]])
    scores = np.array([0.0, 1.0])
    assert choose_targets(nbest, scores, delta=0.25, length_alpha=1.0).hypotheses.tolist() == [0]
    assert choose_targets(nbest, scores, delta=0.35, length_alpha=1.0).hypotheses.tolist() == [1]
    # Without normalisation the shorter one is more probable anyway.
    assert choose_targets(nbest, scores, delta=0.0, length_alpha=0.0).hypotheses.tolist() == [1]


def test_levelled_targets_are_as_long_as_the_best_hypotheses():
    # Everybody's best has three tokens.  Scores prefer one token, by an advantage that differs between sentences.
    lists = [[hypothesis([5, 6, 7], -1.0), hypothesis([5], -1.0), hypothesis([5, 6, 7, 8, 9], -1.0)] for _ in range(4)]
    nbest = NBest.of(lists)
    scores = np.array(
        [value for lead in (0.02, 0.06, 0.1, 0.14) for value in (0.0, lead, -1.0 if lead < 0.1 else -0.3)]
    )
    plain = choose_targets(nbest, scores, delta=1.0, length_alpha=0.0)
    assert nbest.lengths[plain.hypotheses].tolist() == [1, 1, 1, 1]
    bonus = levelling_bonus(nbest, scores, 1.0, 0.0)
    levelled = choose_targets(nbest, scores + bonus * nbest.lengths, delta=1.0, length_alpha=0.0)
    # A bonus of 0.07 a token makes up for any lead, and none makes five tokens worth their price.
    assert nbest.lengths[levelled.hypotheses].tolist() == [3, 3, 3, 3]


def test_the_pairs_of_the_chosen_targets_make_a_corpus():
    sources = np.array([10, 3, 11, 3, 12, 12, 3], np.uint16)
    corpus = TokenCorpus(sources, sources, *(np.array([2, 2, 3], np.int32),) * 2, *(np.array([0, 2, 4]),) * 2)
    nbest = NBest.of(LISTS)
    targets = choose_targets(nbest, np.array([0.1, 0.5, 0.9, 1.0, 0.3, 0.3]), delta=0.5, length_alpha=0.0)
    # The lists are those of pairs 1, 0 and 2 of the corpus.
    pairs = pseudo_corpus(corpus, np.array([1, 0, 2]), nbest, targets)
    found = [tuple(side.tolist() for side in pairs.pair(index)) for index in range(len(pairs))]
    assert found == [([11, 3], [6, 7, 3]), ([12, 12, 3], [4, 4, 3])]


def test_lists_are_searched_for_once_and_resumed_at_the_first_missing_shard(tmp_path, monkeypatch):
    monkeypatch.setattr("training.policy.shards.SHARD_SENTENCES", 2)
    calls = []

    def search(part):
        calls.append(list(part))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return [[hypothesis(source, -1.0), hypothesis([], -2.0)] for source in part]

    sources = [[4], [5, 6], [7]]
    with pytest.raises(KeyboardInterrupt):
        NBest.stored(tmp_path, sources, lambda _, part: NBest.of(search(part)))
    found = NBest.stored(tmp_path, sources, lambda _, part: NBest.of(search(part)))
    again = NBest.stored(tmp_path, sources, lambda _, part: NBest.of(search(part)))
    assert calls == [[[4], [5, 6]], [[7]], [[7]]]
    for nbest in (found, again):
        assert nbest.outputs() == [[4], [], [5, 6], [], [7], []]
        assert nbest.log_probabilities.tolist() == [-1.0, -2.0] * 3
        # An empty output has one token, its eos; [5, 6] has three.
        np.testing.assert_allclose(nbest.mean_log_probabilities[1:3], [-2.0, -1 / 3])


def test_more_hypotheses_join_their_sentences_unless_they_are_there_already():
    more = NBest.of([[hypothesis([5], -1.0)], [hypothesis([1], -9.0)], [hypothesis([4], -3.0)]])
    merged = NBest.of(LISTS).with_more(more)
    assert merged.counts.tolist() == [3, 2, 3]
    assert [one.ids for one in merged.lists()[2]] == [(4, 4), (4, 5), (4,)]
    assert merged.lists()[1][0].is_truncated
