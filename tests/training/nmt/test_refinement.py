"""Refining layers: no change at first, sight of the whole sentence, no sight of padding, bounds."""

import pytest
import torch
from torch import Tensor, nn

from training.nmt.refinement import LIMIT, Refinement, norm

A = 16
FP32 = torch.float32


def _keep(tensor: Tensor) -> Tensor:
    return tensor


@pytest.fixture
def refinement() -> Refinement:
    torch.manual_seed(4)
    layers = Refinement(2, A)
    with torch.no_grad():
        for parameter in layers.parameters():
            parameter.copy_(0.5 * torch.randn_like(parameter))
    return layers


@pytest.fixture
def annotations() -> Tensor:
    return torch.tanh(torch.randn(3, 5, A, generator=torch.Generator().manual_seed(6)))


def test_without_layers_annotations_stay_the_same_tensor(annotations: Tensor) -> None:
    assert Refinement(0, A)(annotations, torch.ones(3, 5), _keep, FP32) is annotations


def test_layers_whose_last_weights_are_zero_change_nothing(refinement: Refinement, annotations: Tensor) -> None:
    for layer in refinement:
        for last in (layer.attention_out, layer.hidden_out):
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)
    assert torch.equal(refinement(annotations, torch.ones(3, 5), _keep, FP32), annotations)


def test_every_position_sees_every_other_and_no_padding(refinement: Refinement, annotations: Tensor) -> None:
    mask = torch.tensor([[1.0, 1, 1, 1, 0]] * 3)
    refined = refinement(annotations, mask, _keep, FP32)
    assert torch.equal(refined[:, 4], torch.zeros(3, A))
    for changed in range(5):
        others = annotations.clone()
        others[:, changed] = -others[:, changed]
        moved = (refinement(others, mask, _keep, FP32) - refined).abs().amax(2) > 1e-6  # [B, S]
        assert moved[:, :4].all() if changed < 4 else not moved.any()


def test_a_correction_is_at_most_one(refinement: Refinement, annotations: Tensor) -> None:
    with torch.no_grad():
        refinement[1].hidden_out.bias.fill_(100.0)
    refined = refinement(annotations, torch.ones(3, 5), _keep, FP32)
    torch.testing.assert_close(refined, annotations + 1)


def test_a_norm_is_cut_at_the_limit() -> None:
    """Of 64 units, one that stands alone is 63 ** 0.5 = 7.9 standard deviations from the mean."""
    alone = torch.zeros(1, 1, 64)
    alone[..., 0] = 1.0
    normed = norm(alone, FP32)
    assert normed.max() == LIMIT
    torch.testing.assert_close(normed[0, 0, 1:], torch.full((63,), -(63**-0.5)), atol=1e-3, rtol=0)


def test_products_in_bf16_are_near_those_in_fp32_and_gradients_reach_all(
    refinement: Refinement, annotations: Tensor
) -> None:
    exact = refinement(annotations, torch.ones(3, 5), _keep, FP32)
    half = refinement(annotations, torch.ones(3, 5), _keep, torch.bfloat16)
    assert half.dtype == FP32
    assert 0 < (half - exact).abs().mean() < 0.05
    half.square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in refinement.parameters())
