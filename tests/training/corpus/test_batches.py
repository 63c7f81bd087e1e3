import time
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.corpus.batches import BatchStream, epoch_batches, pad_batch
from training.corpus.cache import TokenCorpus
from training.errors import CorpusError

lengths_of_pairs = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), max_size=200)


def sides(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    both = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    return both[:, 0], both[:, 1]


@pytest.fixture
def corpus(tmp_path: Path) -> TokenCorpus:
    """Pair i is i + 10 repeated 1 to 7 times, and i + 10 repeated 1 to 5 times."""
    pairs = [([index + 10] * (index % 7 + 1), [index + 10] * (index % 5 + 1)) for index in range(60)]
    TokenCorpus.write(tmp_path / "data", pairs)
    return TokenCorpus.open(tmp_path / "data")


@given(lengths_of_pairs, st.integers(0, 3), st.integers(22, 100))
def test_every_short_pair_is_seen_once_an_epoch_within_the_budget(pairs, epoch, budget) -> None:
    source, target = sides(pairs)
    batches = epoch_batches(source, target, batch_tokens=budget, max_tokens=20, seed=1, epoch=epoch)
    expected = [index for index, (s, t) in enumerate(pairs) if max(s, t) - 1 <= 20]
    assert sorted(index for batch in batches for index in batch.tolist()) == expected
    for batch in batches:
        width = max(*(s + s % 2 for s in source[batch]), *target[batch])
        assert len(batch) * width <= budget


def test_the_same_seed_and_epoch_give_the_same_batches_and_another_epoch_others() -> None:
    source, target = sides([(index % 9 + 1, index % 4 + 1) for index in range(100)])

    def batches(seed: int, epoch: int) -> list[list[int]]:
        found = epoch_batches(source, target, batch_tokens=40, max_tokens=20, seed=seed, epoch=epoch)
        return [batch.tolist() for batch in found]

    assert batches(1, 0) == batches(1, 0)
    assert batches(1, 0) != batches(1, 1)
    assert batches(1, 0) != batches(2, 0)


def test_equal_lengths_are_cut_into_full_batches() -> None:
    source, target = sides([(4, 4)] * 23)
    batches = epoch_batches(source, target, batch_tokens=20, max_tokens=10, seed=0, epoch=0)
    assert sorted(len(batch) for batch in batches) == [3, 5, 5, 5, 5]


def test_pairs_of_a_batch_have_similar_lengths() -> None:
    random = np.random.default_rng(0)
    source = random.integers(1, 50, 20_000).astype(np.int32)
    target = np.clip(source + random.integers(-3, 4, 20_000), 1, 50).astype(np.int32)
    batches = epoch_batches(source, target, batch_tokens=1000, max_tokens=50, seed=0, epoch=0)
    padded = sum(len(batch) * (source[batch].max() + target[batch].max()) for batch in batches)
    assert (source.sum() + target.sum()) / padded > 0.93


def test_a_budget_below_one_pair_is_an_error() -> None:
    with pytest.raises(ValueError, match="batch_tokens = 20 cannot hold one pair of max_tokens = 20"):
        epoch_batches(*sides([(1, 1)]), batch_tokens=20, max_tokens=20, seed=0, epoch=0)


def test_an_epoch_of_700k_pairs_is_cut_in_two_seconds() -> None:
    random = np.random.default_rng(0)
    source = random.integers(2, 50, 700_000).astype(np.int32)
    target = random.integers(2, 50, 700_000).astype(np.int32)
    started = time.process_time()
    epoch_batches(source, target, batch_tokens=3000, max_tokens=50, seed=0, epoch=0)
    assert time.process_time() - started < 2


def test_padding_shifts_targets_by_bos_and_keeps_the_source_even(tmp_path: Path) -> None:
    TokenCorpus.write(tmp_path / "data", [([5, 6], [7]), ([8], [9, 10])])
    batch = pad_batch(TokenCorpus.open(tmp_path / "data"), np.array([1, 0]))
    assert batch.source_ids.tolist() == [[8, 3, 0, 0], [5, 6, 3, 0]]
    assert batch.source_mask.tolist() == [[1, 1, 0, 0], [1, 1, 1, 0]]
    assert batch.target_inputs.tolist() == [[2, 9, 10], [2, 7, 0]]
    assert batch.target_outputs.tolist() == [[9, 10, 3], [7, 3, 0]]
    assert batch.target_mask.tolist() == [[1, 1, 1], [1, 1, 0]]
    assert [len(batch), batch.source_tokens, batch.target_tokens] == [2, 5, 5]


@pytest.mark.parametrize("start", [0, 1, 5, 17, 40])
def test_a_stream_started_late_continues_the_same_sequence(corpus: TokenCorpus, start: int) -> None:
    stream = BatchStream(corpus, batch_tokens=30, max_tokens=10, seed=3)
    assert len(stream.epoch(0)) < 40, "the sequence should cross into a later epoch"
    whole = [batch.source_ids.tolist() for batch in islice(stream.batches(), 50)]
    assert [batch.source_ids.tolist() for batch in islice(stream.batches(start), 50 - start)] == whole[start:]


def test_two_processes_share_the_sequence_of_one(corpus: TokenCorpus) -> None:
    def sequence(steps: int, start: int, rank: int, world: int) -> list[list[int]]:
        stream = BatchStream(corpus, batch_tokens=30, max_tokens=10, seed=3, rank=rank, world=world)
        return [indices.tolist() for indices in islice(stream.index_batches(start), steps)]

    alone = sequence(60, 0, 0, 1)
    assert sequence(30, 0, 0, 2) == alone[0::2]
    assert sequence(30, 0, 1, 2) == alone[1::2]
    assert sequence(20, 10, 1, 2) == alone[21::2]


def test_pairs_left_out_for_their_length_are_counted(corpus: TokenCorpus) -> None:
    # 60 pairs with 1 to 7 source subwords in turn: eight have six and eight have seven.
    assert BatchStream(corpus, batch_tokens=30, max_tokens=5, seed=0).left_out == 16


def test_a_corpus_of_long_pairs_only_is_an_error(tmp_path: Path) -> None:
    TokenCorpus.write(tmp_path / "data", [([5] * 9, [6])])
    with pytest.raises(CorpusError, match=r"none of the 1 training pairs .* raise pretrain\.max_tokens"):
        BatchStream(TokenCorpus.open(tmp_path / "data"), batch_tokens=30, max_tokens=8, seed=0)
