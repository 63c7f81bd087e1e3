"""The chunked output loss against torch's cross-entropy."""

import math

import pytest
import torch
from torch.nn import functional as F

from training.nmt import loss as loss_module
from training.nmt.loss import output_loss


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk_elements", [1, 30, 1 << 20])
def test_loss_and_gradients_equal_cross_entropy(
    smoothing: float, chunk_elements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_ELEMENTS", chunk_elements)
    generator = torch.Generator().manual_seed(3)
    leaves = [
        torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()
        for shape in [(7, 4), (9, 4), (9,)]
    ]
    readouts, weight, bias = leaves
    targets = torch.tensor([0, 8, 3, 3, 1, 5, 2])

    wanted = F.cross_entropy(readouts @ weight.t() + bias, targets, label_smoothing=smoothing, reduction="sum")
    given, likelihood = output_loss(readouts, targets, weight, bias, smoothing, torch.float64)

    torch.testing.assert_close(given, wanted)
    plain = F.cross_entropy(readouts @ weight.t() + bias, targets, reduction="sum")
    torch.testing.assert_close(likelihood, plain.detach())
    for one, other in zip(torch.autograd.grad(3 * given, leaves), torch.autograd.grad(3 * wanted, leaves), strict=True):
        torch.testing.assert_close(one, other)


def test_uniform_model_pays_the_logarithm_of_the_vocabulary_for_each_word() -> None:
    given, likelihood = output_loss(torch.zeros(5, 2), torch.tensor([0, 1, 2, 3, 0]), torch.ones(4, 2), torch.zeros(4))
    assert given.item() == pytest.approx(5 * math.log(4))
    assert likelihood.item() == pytest.approx(5 * math.log(4))
