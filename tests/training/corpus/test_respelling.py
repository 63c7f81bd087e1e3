from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.corpus.batches import BatchStream, pad_batch, respelt
from training.corpus.cache import EOS, TokenCorpus
from training.corpus.respelling import Respelling
from training.tokenizer.subwords import learn_subwords

# "abc" is a|bc or ab|c, "ab" is a|b, "bc" is b|c; a letter cannot be parted, nor can the special ids 0 to 3.
PIECES = {"a": 4, "b": 5, "c": 6, "ab": 7, "bc": 8, "abc": 9}
TEXT = {id: piece for piece, id in PIECES.items()} | {EOS: "."}


def spelt(ids: np.ndarray) -> str:
    return "".join(TEXT[int(id)] for id in ids)


def test_every_way_to_part_a_subword_is_known() -> None:
    respelling = Respelling.of(PIECES, chance=1.0)
    ways = {
        piece: {
            (TEXT[int(respelling.left[way])], TEXT[int(respelling.right[way])])
            for way in range(respelling.first_way[id], respelling.first_way[id] + respelling.ways[id])
        }
        for piece, id in PIECES.items()
    }
    assert ways["abc"] == {("a", "bc"), ("ab", "c")}
    assert ways["ab"] == {("a", "b")}
    assert ways["a"] == ways["b"] == ways["c"] == set()


def test_two_passes_with_certainty_leave_letters_alone() -> None:
    ids, lengths = Respelling.of(PIECES, chance=1.0).respell(
        np.array([9, 7, EOS, EOS, 6, EOS]), np.array([3, 1, 2]), np.random.default_rng(0)
    )
    assert ids.tolist() == [4, 5, 6, 4, 5, EOS, EOS, 6, EOS]
    assert lengths.tolist() == [6, 1, 2]


def test_no_chance_changes_nothing() -> None:
    ids, lengths = np.array([9, 7, EOS]), np.array([3])
    same, same_lengths = Respelling.of(PIECES, chance=0.0).respell(ids, lengths, np.random.default_rng(0))
    assert same.tolist() == ids.tolist()
    assert same_lengths.tolist() == lengths.tolist()


@given(
    st.lists(st.lists(st.sampled_from([4, 5, 6, 7, 8, 9]), max_size=8), min_size=1, max_size=6), st.integers(0, 1000)
)
def test_every_sentence_keeps_its_text(sentences: list[list[int]], seed: int) -> None:
    closed = [[*sentence, EOS] for sentence in sentences]
    ids, lengths = Respelling.of(PIECES, chance=0.5).respell(
        np.concatenate(closed), np.array([len(one) for one in closed]), np.random.default_rng(seed)
    )
    parts = np.split(ids, np.cumsum(lengths)[:-1])
    assert [spelt(part) for part in parts] == [spelt(np.array(one)) for one in closed]


def test_about_the_given_share_is_parted() -> None:
    _, lengths = Respelling.of(PIECES, chance=0.1).respell(
        np.full(20_000, 7), np.array([20_000]), np.random.default_rng(1)
    )
    # Each "ab" is parted in one of two passes with probability 1 - 0.9², and what it becomes cannot be parted.
    assert lengths[0] == pytest.approx(20_000 * 1.19, rel=0.01)


def test_real_subwords_are_respelt_to_the_same_text(tmp_path: Path) -> None:
    text = "Die Gärten und die Wanderungen im Garten 2024 🙂"
    subwords = learn_subwords([text, *["Garten Gärten Wanderung wandern"] * 50], tmp_path / "m.model", vocabulary=330)
    respelling = Respelling.of(subwords.spelling_pieces(), chance=0.5)
    ids = np.array(subwords.encode(text))
    random = np.random.default_rng(0)
    spellings = [respelling.respell(ids, np.array([len(ids)]), random)[0].tolist() for _ in range(10)]
    assert {subwords.decode(one) for one in spellings} == {text}
    assert len({tuple(one) for one in spellings}) > 5


@pytest.fixture
def corpus(tmp_path: Path) -> TokenCorpus:
    pairs = [([7 + index % 3] * (index % 7 + 1), [5] * (index % 5 + 1)) for index in range(60)]
    TokenCorpus.write(tmp_path / "data", pairs)
    return TokenCorpus.open(tmp_path / "data")


def test_a_respelt_batch_keeps_its_targets_and_an_even_source(corpus: TokenCorpus) -> None:
    batch = pad_batch(corpus, np.arange(20))
    other = respelt(batch, Respelling.of(PIECES, chance=0.5), np.random.default_rng(2))
    assert other.target_outputs is batch.target_outputs
    assert other.source_ids.shape == other.source_mask.shape
    assert other.source_ids.shape[1] % 2 == 0
    for before, after, is_real in zip(batch.source_ids, other.source_ids, other.source_mask, strict=True):
        assert spelt(after[is_real > 0].numpy()) == spelt(before[before > 0].numpy())
        assert not after[is_real == 0].any()


def test_spelling_depends_on_the_place_in_the_sequence_alone(corpus: TokenCorpus) -> None:
    def sequence(steps: int, start: int = 0, rank: int = 0, world: int = 1) -> list[list[list[int]]]:
        stream = BatchStream(
            corpus,
            batch_tokens=30,
            max_tokens=10,
            seed=3,
            rank=rank,
            world=world,
            respelling=Respelling.of(PIECES, chance=0.3),
        )
        return [batch.source_ids.tolist() for batch in islice(stream.batches(start), steps)]

    alone = sequence(40)
    assert sequence(20, start=20) == alone[20:]
    assert sequence(20, rank=1, world=2) == alone[1::2]
    plain = BatchStream(corpus, batch_tokens=30, max_tokens=10, seed=3)
    assert alone != [batch.source_ids.tolist() for batch in islice(plain.batches(), 40)]
