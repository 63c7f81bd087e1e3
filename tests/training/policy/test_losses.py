import pytest
import torch

from training.policy.losses import cross_entropy_loss, margin_loss


class TwoNumbers:
    """An output layer whose logits are the readout itself, then a third of 0.5."""

    def __init__(self):
        self.output = self
        self.bias = torch.tensor([0.0, 0.0, 0.5])

    def output_weight(self):
        return torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])


def test_the_margin_is_asked_of_the_best_other_logit():
    # logits (3, 1, .5): target 0 leads by 2, target 1 trails by 2.  (0, 0, .5): target 0 trails by .5.
    readouts = torch.tensor([[3.0, 1.0], [3.0, 1.0], [0.0, 0.0]], requires_grad=True)
    loss, accuracy = margin_loss(TwoNumbers(), readouts, torch.tensor([0, 1, 0]), margin=1.0)
    assert loss.item() == pytest.approx((0 + 3 + 1.5) / 3)
    assert accuracy.item() == pytest.approx(1 / 3)
    loss.backward()
    # Only positions that miss the margin pull: towards the target's row, away from the rival's.
    torch.testing.assert_close(readouts.grad * 3, torch.tensor([[0.0, 0.0], [1.0, -1.0], [-1.0, 0.0]]))


def test_a_target_out_of_reach_costs_and_teaches_nothing():
    # The second of the positions above trails by 2.
    readouts = torch.tensor([[3.0, 1.0], [3.0, 1.0], [0.0, 0.0]], requires_grad=True)
    loss, accuracy = margin_loss(TwoNumbers(), readouts, torch.tensor([0, 1, 0]), margin=1.0, reach=1.0)
    assert loss.item() == pytest.approx((0 + 0 + 1.5) / 3)
    assert accuracy.item() == pytest.approx(1 / 3)
    loss.backward()
    torch.testing.assert_close(readouts.grad * 3, torch.tensor([[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]))


def test_cross_entropy_is_the_negative_log_probability():
    loss, accuracy = cross_entropy_loss(TwoNumbers(), torch.zeros(1, 2), torch.tensor([2]))
    assert loss.item() == pytest.approx(-torch.log_softmax(torch.tensor([0.0, 0.0, 0.5]), 0)[2].item())
    assert accuracy.item() == 1.0
