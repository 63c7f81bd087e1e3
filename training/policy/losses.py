"""How far is the nudged decoder from producing its targets greedily?

Shapes:  N positions · R readout · V vocabulary
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from training.nmt.model import TranslationModel


def margin_loss(
    model: TranslationModel, readouts: Tensor, targets: Tensor, margin: float, reach: float | None = None
) -> tuple[Tensor, Tensor]:
    """Ask that each target's logit exceed every other by `margin`; return the mean hinge and the share that are top.

    Targets that are more than `reach` behind are given up: they cost nothing, and teach nothing.
    The hinge of a position speaks of two logits only, the target's and the best other's, so its gradient needs two
    rows of the output layer and not the whole of it.  readouts [N, R], targets [N].
    """
    weight, bias = model.output_weight(), model.output.bias
    column = targets.unsqueeze(1)
    with torch.no_grad():
        rivals = F.linear(readouts, weight, bias).scatter_(1, column, -torch.inf).argmax(dim=1)
    gaps = (readouts * (weight[targets] - weight[rivals])).sum(dim=1) + bias[targets] - bias[rivals]
    hinges = F.relu(margin - gaps)
    if reach is not None:
        hinges = hinges * (gaps.detach() > -reach)
    return hinges.mean(), (gaps.detach() > 0).float().mean()


def cross_entropy_loss(model: TranslationModel, readouts: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """−log p of the targets in the mean, and the share of targets that are top."""
    logits = F.linear(readouts, model.output_weight(), model.output.bias)
    return F.cross_entropy(logits, targets), (logits.detach().argmax(dim=1) == targets).float().mean()
