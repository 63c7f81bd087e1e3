from training.corpus.recombination import recombine

MAN = [1, 2, 3, 4, 5]  # ein mann in blau lacht
DOG = [6, 7, 3, 4, 8]  # der hund in blau bellt
TREE = [9, 10]


def test_what_two_sentences_share_leads_from_one_to_the_other() -> None:
    assert sorted(recombine([MAN, DOG, TREE], 10, max_tokens=9, seed=1)) == [[1, 2, 3, 4, 8], [6, 7, 3, 4, 5]]


def test_no_sentence_is_longer_than_asked_for_or_made_twice() -> None:
    long = [1, 2, 1, 2, 1, 2, 5]
    made = recombine([long, [1, 2, 6]], 50, max_tokens=6, seed=1)
    assert made
    assert all(len(sentence) <= 6 for sentence in made)
    assert len({tuple(sentence) for sentence in made}) == len(made)


def test_sentences_without_anything_in_common_yield_none() -> None:
    assert recombine([MAN, TREE], 5, max_tokens=9, seed=1) == []
    assert recombine([], 5, max_tokens=9, seed=1) == []


def test_the_same_seed_makes_the_same_sentences() -> None:
    sentences = [[first, 3, 4, first + 5] for first in range(5, 12)]
    made = recombine(sentences, 6, max_tokens=9, seed=1)
    assert len(made) == 6
    assert made == recombine(sentences, 6, max_tokens=9, seed=1) != recombine(sentences, 6, max_tokens=9, seed=2)
