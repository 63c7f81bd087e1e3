"""Deterministic policy gradient with critic-aware actor learning: Algorithm 1 of the paper.

    θ  the frozen model      φ  the actor      ψ  the critic      r  true returns      r^c  predicted returns

`PolicyGradientLearner.decode` is the paper's DECODE, `update_critic` and `update_actor` are the bodies of its two inner
loops; `training.policy.dpg_training` is the outer loop with all that is not the algorithm.  Where this differs:

- a minibatch holds many sentences; weights are normalised over the samples of each sentence, as the paper's are;
- decoding and collecting the states are one pass: tokens are constants, the gradient flows through the states;
- the reference's states are as noisy as the samples', or the critic would tell references by their calm;
- RMSProp's first updates of the actor are no larger than the later ones;
- gradients are clipped, the critic starts at the mean return and may learn for a while before the actor does, from
  noisy decodings or from n-best lists;
- the actor's output layer is zero at first, so that learning starts exactly at greedy decoding.

Shapes:  B sentences · S samples of each · K = S, or S + 1 with the reference · T steps · H decoder state
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from training.config import PolicyGradient
from training.decoding.hypothesis import LengthLimits
from training.decoding.rollout import Trajectory, force, rollout
from training.nmt.model import TranslationModel, acts_after
from training.policy.actor import PlainActor, model_for
from training.policy.critic import Critic
from training.policy.returns import Minibatch, TrueReturns

CLIP_NORM = 1.0


class Decoded(NamedTuple):
    """What DECODE returns."""

    r: Tensor  # [B, K]
    rc: Tensor  # [B, K]
    action_norm: Tensor  # mean length of the actor's actions


class PolicyGradientLearner:
    """θ, φ and ψ, with what decoding and updating them takes."""

    def __init__(
        self,
        model: TranslationModel,
        actor: PlainActor,
        critic: Critic,
        true_returns: TrueReturns,
        limits: LengthLimits,
        config: PolicyGradient,
    ) -> None:
        self.model, self.actor, self.critic = model, actor, critic
        self.true_returns, self.limits, self.config = true_returns, limits, config
        learnt = [parameter for parameter in actor.parameters() if parameter.requires_grad]
        self.actor_optimizer = torch.optim.RMSprop(learnt, lr=config.actor_learning_rate)
        self.critic_optimizer = torch.optim.RMSprop(critic.parameters(), lr=config.critic_learning_rate)

    def update_critic(self, batch: Minibatch, noise: torch.Generator) -> dict[str, float]:
        """Lines 6-8: a pair of D_ψ, DECODE with the reference, and a step on the mean squared error."""
        r, rc, _ = self.decode(self.config.critic_samples, batch, noise, with_reference=True)
        loss = ((rc - r) ** 2).mean()
        _descend(self.critic_optimizer, loss)
        return {"critic_error": loss.item() ** 0.5, "critic_correlation": correlation(rc, r)}

    def update_critic_on_lists(
        self, batch: Minibatch, outputs: Sequence[Sequence[int]], returns: Tensor, noise: torch.Generator
    ) -> dict[str, float]:
        """The same on hypotheses that were searched for before: their states are as cheap as the reference's.

        outputs: K ids without eos for each sentence, side by side · returns [B, K]
        """
        count = returns.shape[1]
        targets = [
            ids
            for row, reference in enumerate(batch.references)
            for ids in (*outputs[row * count : (row + 1) * count], reference)
        ]
        with torch.no_grad():
            forced = self._force(batch, targets, noise)
        references_r = self.true_returns(batch, batch.references, [False] * len(batch))
        r = torch.cat([returns, references_r], dim=1)
        rc = self.critic(*batch.padded_references(), forced.states, forced.mask).view(len(batch), -1)
        loss = ((rc - r) ** 2).mean()
        _descend(self.critic_optimizer, loss)
        return {"critic_error": loss.item() ** 0.5, "critic_correlation": correlation(rc, r)}

    def update_actor(self, batch: Minibatch, noise: torch.Generator) -> dict[str, float]:
        """Lines 11-15: a pair of D_φ, DECODE, weights by how well the critic knows each sample, and a step up r^c."""
        r, rc, action_norm = self.decode(self.config.actor_samples, batch, noise, with_reference=False)
        w = critic_aware_weights(rc.detach(), r, torch.inf if self.config.vanilla else self.config.tau)
        _descend(self.actor_optimizer, -(w * rc).sum(dim=1).mean())
        return {
            "true_return": r.mean().item(),
            "predicted_return": rc.mean().item(),
            "effective_samples": (1 / (w**2).sum(dim=1)).mean().item(),
            "action_norm": action_norm.item(),
        }

    def decode(self, samples: int, batch: Minibatch, noise: torch.Generator, with_reference: bool) -> Decoded:
        """DECODE(S, X, Y, c): returns r and r^c of S noisy greedy decodings, and of the reference for the critic."""
        # The critic's update needs no graph behind the states; the actor's goes through them.
        with torch.set_grad_enabled(not with_reference):
            found = rollout(
                model_for(self.model, self.actor),
                batch.sources,
                limits=self.limits,
                actor=self.actor,
                samples=samples,
                sigma=self.config.sigma,
                generator=noise,
            )
        outputs, truncated = found.outputs(), found.is_truncated().tolist()
        states, mask = found.states[..., : self.model.sizes.decoder], found.mask
        r = self.true_returns(batch, outputs, truncated)
        if with_reference:
            with torch.no_grad():
                forced = self._force(batch, batch.references, noise)
            states, mask = _join(states, forced.states, samples), _join(mask, forced.mask, samples)
            references_r = self.true_returns(batch, batch.references, [False] * len(batch))
            r = torch.cat([r, references_r], dim=1)
        rc = self.critic(*batch.padded_references(), states, mask).view(len(batch), -1)
        return Decoded(r, rc, found.action_norms.sum() / found.mask.sum())

    def _force(self, batch: Minibatch, targets: Sequence[Sequence[int]], noise: torch.Generator) -> Trajectory:
        """The states that the frozen model goes through when it is fed these targets, with a sample's noise."""
        return force(
            self.model, batch.sources, targets,
            sigma=self.config.sigma, noise_after=acts_after(self.actor), generator=noise,
        )  # fmt: skip


def critic_aware_weights(rc: Tensor, r: Tensor, tau: float) -> Tensor:
    """w̃_k = w_k / Σ_k w_k  with  w_k = exp(−(r^c_k − r_k)² / τ),  over the samples [B, K] of each sentence.

    That is a softmax, which does not divide zero by zero where the critic is wrong about every sample.
    """
    return torch.softmax(-((rc - r) ** 2) / tau, dim=1)


def unbiased_rate(rate: float, alpha: float, updates: int) -> float:
    """The learning rate of RMSProp's next update, behind so many others, that makes it as large as a later one.

    Its mean of squares starts at zero: the first updates, when the critic knows the least, would be ten times as large.
    Corrected as Adam corrects it.
    """
    return float(rate * (1 - alpha ** (updates + 1)) ** 0.5)


def _descend(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    optimizer.zero_grad()
    gradients = torch.autograd.grad(loss, parameters)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient
    torch.nn.utils.clip_grad_norm_(parameters, CLIP_NORM)
    optimizer.step()


def _join(rows: Tensor, more: Tensor, samples: int) -> Tensor:
    """Put one more row [B, T', …] behind the S rows [B·S, T, …] of each sentence, padded to the longer of the two."""
    steps = max(rows.shape[1], more.shape[1])

    def padded(tensor: Tensor) -> Tensor:
        missing = (0, 0) * (tensor.dim() - 2) + (0, steps - tensor.shape[1])
        return F.pad(tensor, missing)

    sentences = len(more)
    grouped = padded(rows).view(sentences, samples, steps, *rows.shape[2:])
    return torch.cat([grouped, padded(more).unsqueeze(1)], dim=1).flatten(0, 1)


def correlation(first: Tensor, second: Tensor) -> float:
    """Pearson's correlation of all entries; 0 where either does not vary."""
    one, other = (tensor.detach().flatten() - tensor.detach().mean() for tensor in (first, second))
    scale = (one.norm() * other.norm()).item()
    return (one @ other).item() / scale if scale > 0 else 0.0
