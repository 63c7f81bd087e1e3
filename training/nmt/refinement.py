"""Layers that refine the encoder's annotations: self-attention and a feed-forward network, as in a Transformer.

A bi-GRU is wide but shallow, and the decoder pays for all that it leaves undone at every step.  These layers stand
between the two and run once for a sentence, all positions at a time (Chen et al. 2018 stack the two the same way).
What they find is a correction, added to what the GRUs have said:

    x = h + c      c ← c + W_o attention(norm(x))      c ← c + W_2 relu6(W_1 norm(x))      annotation = h + tanh(c)

Their last weights start at zero: a model that is given such layers begins as the same function (`nmt/growth.py`).

Everything that is multiplied has a bound that is part of the function, so that an int8 bundle can have fixed scales
and computes what was trained: norms and attended values are cut at ± LIMIT, hidden units at HIDDEN_LIMIT, and the
correction is a tanh.  A norm has no weights of its own, for the products that follow it would only repeat them.

Shapes:  B batch · S source length · A annotation · I = A/2, all heads together
"""

from collections.abc import Callable, Iterator
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.config.model import HEADS, HIDDEN_RATIO

LIMIT = 4.0
HIDDEN_LIMIT = 6.0
EPSILON = 1e-5
MASKED = -1e9  # as in `nmt.model`: finite, so that a fully padded row stays finite

Drop = Callable[[Tensor], Tensor]


class RefiningLayer(nn.Module):
    """Self-attention, then a feed-forward network."""

    def __init__(self, annotation: int) -> None:
        super().__init__()
        inner = annotation // 2
        self.attention_in = nn.Linear(annotation, 3 * inner)
        self.attention_out = nn.Linear(inner, annotation)
        self.hidden = nn.Linear(annotation, HIDDEN_RATIO * annotation)
        self.hidden_out = nn.Linear(HIDDEN_RATIO * annotation, annotation)

    def attend(self, normed: Tensor, mask_bias: Tensor) -> Tensor:
        """What each position has to say after a look at all others [B, S, A]; mask_bias [B, 1, 1, S]."""
        B, S, _ = normed.shape
        # Not in the products' type: torch's backward pass takes five times as long in bf16.
        parts = _product(normed, self.attention_in).to(mask_bias.dtype)
        query, key, value = parts.view(B, S, 3, HEADS, -1).permute(2, 0, 3, 1, 4).unbind(0)  # [B, heads, S, I / heads]
        attended = F.scaled_dot_product_attention(query, key, value, attn_mask=mask_bias)
        attended = F.hardtanh(attended.transpose(1, 2).reshape(B, S, -1), -LIMIT, LIMIT)
        return _product(attended.to(normed.dtype), self.attention_out)

    def think(self, normed: Tensor) -> Tensor:
        """What each position has to say by itself [B, S, A]."""
        return _product(F.hardtanh(_product(normed, self.hidden), 0.0, HIDDEN_LIMIT), self.hidden_out)


class Refinement(nn.ModuleList):
    """All layers; none leaves annotations as they are."""

    def __init__(self, layers: int, annotation: int) -> None:
        super().__init__(RefiningLayer(annotation) for _ in range(layers))

    def __iter__(self) -> Iterator[RefiningLayer]:  # a ModuleList knows of modules alone
        return cast(Iterator[RefiningLayer], super().__iter__())

    def forward(self, annotations: Tensor, mask: Tensor, drop: Drop, product_dtype: torch.dtype) -> Tensor:
        """Refined annotations [B, S, A], zero on padding, of annotations [B, S, A], mask [B, S].

        The layers compute in `product_dtype`; what they add up stays in the type of the annotations.
        """
        if not len(self):
            return annotations
        mask_bias = ((1 - mask) * MASKED)[:, None, None, :]
        correction = torch.zeros_like(annotations)
        for layer in self:
            correction = correction + drop(layer.attend(norm(annotations + correction, product_dtype), mask_bias))
            correction = correction + drop(layer.think(norm(annotations + correction, product_dtype)))
        tanh = 2 * torch.sigmoid(2 * correction) - 1  # torch's sigmoid is several times as fast, both ways
        return (annotations + tanh) * mask.unsqueeze(2)


def norm(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """Mean 0 and variance 1 in each position, cut at the limit."""
    return F.hardtanh(F.layer_norm(tensor, tensor.shape[-1:], eps=EPSILON).to(dtype), -LIMIT, LIMIT)


def _product(inputs: Tensor, layer: nn.Linear) -> Tensor:
    """The layer in the inputs' type."""
    return F.linear(inputs, layer.weight.to(inputs.dtype), layer.bias.to(inputs.dtype))
