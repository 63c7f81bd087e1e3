"""Dropout that spends little on its random numbers.

torch draws every element's Bernoulli variable on its own, a tenth of a training step's time on a CPU.  Here a
64-bit random number decides eight elements, a byte each; the rate is rounded to 1/256.
"""

import torch
from torch import Tensor

LEVELS = 256  # values of a byte


def dropout(tensor: Tensor, rate: float) -> Tensor:
    """Zero each element with probability `rate` and scale the others so that the mean stays."""
    threshold = round(rate * LEVELS)
    if threshold == 0:
        return tensor
    words = torch.empty((tensor.numel() + 7) // 8, dtype=torch.int64, device=tensor.device).random_(-(2**63), None)
    is_kept = words.view(torch.uint8)[: tensor.numel()].view_as(tensor) >= threshold
    return tensor * (is_kept.to(tensor.dtype) * (LEVELS / (LEVELS - threshold)))
