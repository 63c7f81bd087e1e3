"""How far is the nudged decoder from producing its targets greedily?

Shapes:  N positions · R readout · V vocabulary · K candidates of a position
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from training.nmt.model import TranslationModel

# In units of what is at stake in the mean: no choice counts for more, and a word that was not tried counts as this bad.
MOST_REGRET = 1.5
UNTRIED_REGRET = 0.2


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


def regret_loss(
    model: TranslationModel, readouts: Tensor, candidates: Tensor, returns: Tensor, margin: float, stakes: float
) -> tuple[Tensor, Tensor]:
    """Ask that the candidate with the best return exceed every other word by `margin`; return loss and share on top.

    What a rival costs is its hinge times its regret, how much worse it would be, in units of `stakes`: choices that
    matter little may go either way.  A word that nobody tried counts as somewhat bad.  Of each position only the
    costliest rival is asked for, so the gradient needs two rows of the output layer.
    readouts [N, R] · candidates [N, K], a word each · returns [N, K], -inf where there is no candidate
    """
    weight, bias = model.output_weight(), model.output.bias
    best, place = returns.max(dim=1, keepdim=True)
    targets = candidates.gather(1, place).squeeze(1)
    regrets = ((best - returns) / stakes).clamp(max=MOST_REGRET)
    with torch.no_grad():
        logits = F.linear(readouts, weight, bias)
        hinges = F.relu(margin + logits - logits.gather(1, targets.unsqueeze(1)))
        is_candidate = torch.isfinite(returns)
        words = torch.where(is_candidate, candidates, targets.unsqueeze(1))
        prices = torch.full_like(logits, UNTRIED_REGRET).scatter_(1, words, torch.where(is_candidate, regrets, 0.0))
        prices.scatter_(1, targets.unsqueeze(1), 0.0)
        rivals = (hinges * prices).argmax(dim=1)
        price = prices.gather(1, rivals.unsqueeze(1)).squeeze(1)
        is_top = (logits.argmax(dim=1) == targets).float().mean()
    gaps = (readouts * (weight[targets] - weight[rivals])).sum(dim=1) + bias[targets] - bias[rivals]
    return (F.relu(margin - gaps) * price).mean(), is_top


def cross_entropy_loss(model: TranslationModel, readouts: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """−log p of the targets in the mean, and the share of targets that are top."""
    logits = F.linear(readouts, model.output_weight(), model.output.bias)
    return F.cross_entropy(logits, targets), (logits.detach().argmax(dim=1) == targets).float().mean()
