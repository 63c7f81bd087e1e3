"""The share of zeros, the mean, and the scale of our dropout."""

import pytest
import torch

from training.nmt.dropout import dropout


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_dropout_zeroes_its_share_and_keeps_the_mean(rate: float) -> None:
    torch.manual_seed(1)
    dropped = dropout(torch.ones(100, 1003), rate)
    # The standard error of the share is 0.0016 at most; the rate is rounded to 1/256.
    assert (dropped == 0).float().mean().item() == pytest.approx(rate, abs=0.008)
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.01)
    assert len(dropped.unique()) == 2


def test_every_place_in_a_random_word_is_dropped_equally_often() -> None:
    torch.manual_seed(2)
    shares = (dropout(torch.ones(20_000, 8), 0.5) == 0).float().mean(0)
    assert shares.tolist() == pytest.approx([0.5] * 8, abs=0.02)


def test_dropout_at_rate_zero_changes_nothing_and_draws_nothing() -> None:
    tensor, state = torch.randn(3, 4), torch.get_rng_state()
    assert dropout(tensor, 0.0) is tensor
    assert torch.equal(torch.get_rng_state(), state)
