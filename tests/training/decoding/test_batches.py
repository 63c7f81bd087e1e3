import numpy as np
import pytest
import torch
from torch import nn

from training.decoding.batches import evaluating, source_batches

CPU = torch.device("cpu")


def test_batches_hold_every_source_once_within_the_budget_and_even():
    sources = [[7] * length + [3] for length in (0, 4, 1, 9, 4, 6, 2)]
    batches = list(source_batches(sources, 20, CPU))
    assert sorted(index for batch in batches for index in batch.indices) == list(range(7))
    for batch in batches:
        assert batch.ids.shape[1] % 2 == 0
        assert batch.ids.numel() <= 20
        for index, length, ids, mask in zip(batch.indices, batch.lengths, batch.ids, batch.mask, strict=True):
            assert ids[:length].tolist() == sources[index]
            assert ids[length:].tolist() == [0] * (len(ids) - length)
            assert mask.tolist() == [1.0] * length + [0.0] * (len(ids) - length)


@pytest.mark.parametrize("dtype", ["uint16", "int32", "int64"])
def test_sources_may_be_the_arrays_of_a_memory_mapped_corpus(dtype):
    [batch] = source_batches([np.array([60_000, 3], dtype), np.array([5, 6, 7, 3], dtype)], 20, CPU)
    assert batch.ids.tolist() == [[5, 6, 7, 3], [60_000, 3, 0, 0]]


def test_a_sentence_longer_than_the_budget_gets_a_batch_of_its_own():
    batches = list(source_batches([[7] * 9, [7] * 50], 20, CPU))
    assert [batch.indices for batch in batches] == [[1], [0]]


def test_copies_count_against_the_budget():
    batches = list(source_batches([[7, 3]] * 6, 12, CPU, copies=3))
    assert [len(batch.indices) for batch in batches] == [2, 2, 2]


def test_a_source_without_tokens_is_refused_by_its_number():
    with pytest.raises(ValueError, match="source 1 has no tokens"):
        list(source_batches([[3], []], 20, CPU))


def test_modes_come_back_even_after_an_error():
    training, frozen = nn.Dropout(), nn.Dropout().eval()

    def fail_inside() -> None:
        with evaluating(training, frozen, None):
            assert not training.training
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_inside()
    assert training.training
    assert not frozen.training


def test_a_frozen_part_of_a_training_whole_stays_frozen():
    whole = nn.Sequential(nn.Dropout(), nn.Dropout().eval())
    with evaluating(whole):
        assert not whole[0].training
    assert [whole.training, whole[0].training, whole[1].training] == [True, True, False]
