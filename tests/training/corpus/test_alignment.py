import itertools

import numpy as np
import pytest

from training.corpus.alignment import ITERATIONS, likeliest_translations

HOUSE = [
    ("das haus", "the house"),
    ("das buch", "the book"),
    ("ein buch", "a book"),
]


def _split(pairs: list[tuple[str, str]]) -> list[tuple[list[str], list[str]]]:
    return [(source.split(), target.split()) for source, target in pairs]


def test_words_find_their_translations() -> None:
    found = {pair.source: pair.target for pair in likeliest_translations(_split(HOUSE), min_count=1)}
    assert found == {"das": "the", "haus": "house", "buch": "book", "ein": "a"}


def test_the_probabilities_are_those_of_the_plain_algorithm() -> None:
    """Model 1 as the textbook writes it, with loops; a word that stands in a pair twice is explained once."""
    pairs = _split([*HOUSE, ("ein haus und das haus", "a house and the house")])

    def learn(pairs: list[tuple[list[str], list[str]]]) -> dict[tuple[str, str], float]:
        sources = {word for source, _ in pairs for word in source}
        probability = {link: 1.0 for source, target in pairs for link in itertools.product(source, target)}
        for _ in range(ITERATIONS):
            counts = dict.fromkeys(probability, 0.0)
            for source, target in pairs:
                for word in dict.fromkeys(target):
                    total = sum(probability[given, word] for given in source)
                    for given in source:
                        counts[given, word] += probability[given, word] / total
            totals = {one: sum(count for (given, _), count in counts.items() if given == one) for one in sources}
            probability = {link: count / totals[link[0]] for link, count in counts.items()}
        return probability

    forward, backward = learn(pairs), learn([(target, source) for source, target in pairs])
    found = likeliest_translations(pairs, min_count=1)
    assert {pair.source for pair in found} == {"das", "haus", "buch", "ein", "und"}
    for pair in found:
        assert pair.target_given_source == pytest.approx(forward[pair.source, pair.target])
        assert pair.source_given_target == pytest.approx(backward[pair.target, pair.source])
        scores = {
            target: forward[pair.source, target] * backward[target, pair.source]
            for source, target in forward
            if source == pair.source
        }
        assert scores[pair.target] == pytest.approx(max(scores.values()))


def test_rare_words_are_ignored() -> None:
    found = likeliest_translations(_split(HOUSE), min_count=2)
    assert {(pair.source, pair.target) for pair in found} == {("das", "the"), ("buch", "book")}


@pytest.mark.parametrize("pairs", [[], [([], [])], [(["allein"], [])]])
def test_nothing_to_align_gives_nothing(pairs: list[tuple[list[str], list[str]]]) -> None:
    assert likeliest_translations(pairs, min_count=1) == []


def test_a_permuted_vocabulary_is_recovered() -> None:
    """Random sentences over 40 words, translated word by word and shuffled: every word is found."""
    random = np.random.default_rng(1)
    sentences = [random.choice(40, size=6, replace=False) for _ in range(600)]
    pairs = [([f"s{word}" for word in one], [f"t{word}" for word in random.permutation(one)]) for one in sentences]
    found = likeliest_translations(pairs, min_count=1)
    assert len(found) == 40
    assert all(pair.source[1:] == pair.target[1:] for pair in found)
