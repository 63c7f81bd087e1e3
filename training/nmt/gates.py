"""The gated recurrent unit (Cho et al. 2014), in the three forms that training needs.

    r = σ(x_r + h_r)      u = σ(x_u + h_u)      n = tanh(x_n + r ∘ h_n)      z' = (1 − u) ∘ n + u ∘ z

where x = W·input + b and h = U·z + b' hold the gates r, u, n side by side, as in `torch.nn.GRU`.

Shapes:  … any leading axes · H units
"""

from typing import NamedTuple

import torch
from torch import Tensor


def gru(input_gates: Tensor, state_gates: Tensor, state: Tensor) -> Tensor:
    """One differentiable GRU update: gates [..., 3H] twice and the state [..., H] give the next state [..., H]."""
    reset_x, update_x, new_x = input_gates.chunk(3, dim=-1)
    reset_h, update_h, new_h = state_gates.chunk(3, dim=-1)
    reset, update = torch.sigmoid(reset_x + reset_h), torch.sigmoid(update_x + update_h)
    new = torch.tanh(torch.addcmul(new_x, reset, new_h))
    return torch.lerp(new, state, update)


def tanh_in_place(tensor: Tensor) -> Tensor:
    """tanh x = 2 σ(2x) − 1: torch's vectorised sigmoid takes a fifth of its tanh's time on a CPU."""
    return tensor.mul_(2).sigmoid_().mul_(2).sub_(1)


def gru_in_place(input_gates: Tensor, state_gates: Tensor, state: Tensor, reset_update: Tensor, new: Tensor) -> Tensor:
    """The same update without a graph.

    Leaves σ(r, u) in `reset_update` [..., 2H] and tanh(n) in `new` [..., H] for the backward pass.
    """
    units = state.shape[-1]
    torch.add(input_gates[..., : 2 * units], state_gates[..., : 2 * units], out=reset_update)
    reset_update.sigmoid_()
    torch.addcmul(input_gates[..., 2 * units :], reset_update[..., :units], state_gates[..., 2 * units :], out=new)
    tanh_in_place(new)
    return torch.lerp(new, state, reset_update[..., units:])


class GateDerivatives(NamedTuple):
    """What a step's backward pass multiplies with, computed for all steps at once ([T, ..., H] each)."""

    new: Tensor  # ∂z'/∂n before its tanh    = (1 − u)(1 − n²)
    update: Tensor  # ∂z'/∂u before its σ    = (z − n) u (1 − u)
    reset: Tensor  # ∂n/∂r, both before      = h_n r (1 − r)

    @classmethod
    def of(cls, reset_update: Tensor, new: Tensor, new_gate: Tensor, states: Tensor) -> "GateDerivatives":
        """From the stored gates σ(r, u) [T, ..., 2H], tanh(n), h_n and the states before each step [T, ..., H]."""
        units = new.shape[-1]
        reset, update = reset_update[..., :units], reset_update[..., units:]
        return cls(
            new=(1 - update) * (1 - new * new),
            update=(states - new) * update * (1 - update),
            reset=new_gate * reset * (1 - reset),
        )
