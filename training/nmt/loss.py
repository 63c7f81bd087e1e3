"""Cross-entropy of the output layer, without ever holding all logits.

The logits of a batch are its largest tensor by far (2,000 words × 8,000 subwords × 4 bytes = 64 MB).  Written out, they
are read and written half a dozen times on their way to a gradient.  Here they are made in chunks that stay in cache,
each turned into its gradient at once: loss and gradients leave one forward pass.

Shapes:  N target words · R readout · V vocabulary · C words in a chunk
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK_ELEMENTS = 1 << 21  # 8 MB of logits


class OutputLoss(torch.autograd.Function):
    """Σ_n −log p(target_n), smoothed: the target keeps 1 − ε of the mass, ε is spread evenly over the vocabulary."""

    @staticmethod
    def forward(
        ctx: Any,
        readouts: Tensor,
        targets: Tensor,
        weight: Tensor,
        bias: Tensor,
        smoothing: float,
        product_dtype: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        """Return the smoothed loss and the plain negative log-likelihood, both summed.

        readouts [N, R] · targets [N] · weight [V, R] · bias [V]
        """
        vocabulary = weight.shape[0]
        rows = max(1, CHUNK_ELEMENTS // vocabulary)
        weight_p, readouts_p = weight.to(product_dtype), readouts.to(product_dtype)
        grad_readouts = torch.empty_like(readouts)
        grad_weight, grad_bias = torch.zeros_like(weight), torch.zeros_like(bias)
        smoothed, likelihood = readouts.new_zeros(()), readouts.new_zeros(())
        for start in range(0, len(targets), rows):
            chunk, target = slice(start, start + rows), targets[start : start + rows].unsqueeze(1)
            logits = torch.mm(readouts_p[chunk], weight_p.t()).to(bias.dtype).add_(bias)  # [C, V]
            logits.sub_(logits.amax(1, keepdim=True))
            target_logits, mean_logits = logits.gather(1, target).squeeze(1), logits.mean(1)
            exponentials = logits.exp_()
            sums = exponentials.sum(1, keepdim=True)
            log_sums = sums.log().squeeze(1)
            likelihood += (log_sums - target_logits).sum()
            smoothed += (log_sums - (1 - smoothing) * target_logits - smoothing * mean_logits).sum()
            # ∂/∂logits = softmax − smoothed one-hot target
            grad = exponentials.div_(sums).sub_(smoothing / vocabulary)
            grad.scatter_add_(1, target, torch.full_like(sums, smoothing - 1))
            grad_bias += grad.sum(0)
            grad_p = grad.to(product_dtype)
            grad_readouts[chunk] = grad_p @ weight_p
            grad_weight += grad_p.t() @ readouts_p[chunk]
        ctx.save_for_backward(grad_readouts, grad_weight, grad_bias)
        ctx.mark_non_differentiable(likelihood)
        return smoothed, likelihood

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        grad_readouts, grad_weight, grad_bias = ctx.saved_tensors
        return grad_readouts * grad_loss, None, grad_weight * grad_loss, grad_bias * grad_loss, None, None


def output_loss(
    readouts: Tensor,
    targets: Tensor,
    weight: Tensor,
    bias: Tensor,
    smoothing: float = 0.0,
    product_dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, Tensor]:
    """Typed door to `OutputLoss`."""
    return OutputLoss.apply(readouts, targets, weight, bias, smoothing, product_dtype)  # type: ignore[no-untyped-call]
