"""The two recurrences of the model, with hand-written backward passes.

Training time of a recurrent translator goes into small operations inside the time loop.  Left to autograd, every step
multiplies out its own weight gradient and adds it to a matrix of megabytes.  Here only what truly depends on the
previous state stays inside the loop; gates of the inputs come in ready-made, and the gradients of weights, attention
values and keys are each one large product after the loop.  `tests/training/nmt/test_recurrence.py` holds both against
plain autograd.

Shapes:  T steps · D directions · B batch · S source length · H units · K attention key
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from training.nmt.gates import GateDerivatives, gru_in_place


class BidirectionalGru(torch.autograd.Function):
    """Both directions of the encoder, stepped together."""

    @staticmethod
    def forward(ctx: Any, input_gates: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return the states [T, D, B, H].

        input_gates [T, D, B, 3H], each direction in its own order of time · mask [T, D, B, 1] ·
        weight [D, 3H, H] · bias [D, 3H].  A masked step multiplies the state with 0.
        """
        steps, directions, batch, gates = input_gates.shape
        units = gates // 3
        states = input_gates.new_zeros(steps + 1, directions, batch, units)
        reset_update = input_gates.new_empty(steps, directions, batch, 2 * units)
        new = input_gates.new_empty(steps, directions, batch, units)
        new_gate = input_gates.new_empty(steps, directions, batch, units)
        weight_t, bias_row = weight.transpose(1, 2), bias.unsqueeze(1)
        for t in range(steps):
            state_gates = torch.baddbmm(bias_row, states[t], weight_t)
            new_gate[t] = state_gates[..., 2 * units :]
            state = gru_in_place(input_gates[t], state_gates, states[t], reset_update[t], new[t])
            torch.mul(state, mask[t], out=states[t + 1])
        ctx.save_for_backward(states, reset_update, new, new_gate, mask, weight)
        return states[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad_states: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        states, reset_update, new, new_gate, mask, weight = ctx.saved_tensors  # type: ignore[attr-defined]
        steps, directions, batch, units = new.shape
        by = GateDerivatives.of(reset_update, new, new_gate, states[:-1])
        reset, update = reset_update[..., :units], reset_update[..., units:]
        grad_input_gates = new.new_empty(steps, directions, batch, 3 * units)
        grad_state_gates = new.new_empty(steps, directions, batch, 3 * units)
        carried = torch.zeros_like(new[0])
        for t in reversed(range(steps)):
            grad = torch.add(grad_states[t], carried).mul_(mask[t])
            grad_x, grad_h = grad_input_gates[t], grad_state_gates[t]
            _gate_gradients(grad, by, t, reset[t], grad_x, grad_h)
            carried = torch.baddbmm(grad.mul_(update[t]), grad_h, weight)
        flat = grad_state_gates.transpose(0, 1).reshape(directions, steps * batch, 3 * units)
        before = states[:-1].transpose(0, 1).reshape(directions, steps * batch, units)
        return grad_input_gates, None, torch.bmm(flat.transpose(1, 2), before), flat.sum(1)


class AttentionalGru(torch.autograd.Function):
    """The decoder under teacher forcing: attention, then a GRU conditioned on word and context.

    q_t = W_q z_{t-1}      α_t = softmax(v · tanh(q_t + k_s))      z_t = GRU(z_{t-1}, word_t + Σ_s α_ts value_s)

    The context only enters the gates linearly, so the loop attends over *projected* annotations, the values.
    """

    @staticmethod
    def forward(
        ctx: Any,
        word_gates: Tensor,
        first_state: Tensor,
        keys: Tensor,
        values: Tensor,
        mask_bias: Tensor,
        weight: Tensor,
        bias: Tensor,
        query_weight: Tensor,
        energy: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Return the states [T, B, H] and the alignments [T, B, S].

        word_gates [T, B, 3H] · first_state [B, H] · keys [B, S, K] · values [B, S, 3H] · mask_bias [B, S], 0 or hugely
        negative · weight [3H, H] · bias [3H] · query_weight [K, H] · energy [K]
        """
        steps, batch, gates = word_gates.shape
        units, (length, key) = gates // 3, keys.shape[1:]
        states = word_gates.new_empty(steps + 1, batch, units)
        states[0] = first_state
        reset_update = word_gates.new_empty(steps, batch, 2 * units)
        new = word_gates.new_empty(steps, batch, units)
        new_gate = word_gates.new_empty(steps, batch, units)
        tanhs = word_gates.new_empty(steps, batch, length, key)
        alignments = word_gates.new_empty(steps, batch, length)
        # The query and the state's gates both multiply the state: one product.
        joint_weight = torch.cat([weight, query_weight]).t()
        joint_bias = torch.cat([bias, bias.new_zeros(key)])
        for t in range(steps):
            joint = torch.addmm(joint_bias, states[t], joint_weight)
            torch.add(keys, joint[:, gates:].unsqueeze(1), out=tanhs[t]).tanh_()
            energies = torch.matmul(tanhs[t].view(batch * length, key), energy).view(batch, length)
            torch.softmax(energies.add_(mask_bias), dim=1, out=alignments[t])
            input_gates = torch.baddbmm(word_gates[t].unsqueeze(1), alignments[t].unsqueeze(1), values).squeeze(1)
            new_gate[t] = joint[:, 2 * units : gates]
            states[t + 1] = gru_in_place(input_gates, joint[:, :gates], states[t], reset_update[t], new[t])
        ctx.save_for_backward(
            states, reset_update, new, new_gate, tanhs, alignments, values, weight, query_weight, energy
        )
        return states[1:], alignments

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, grad_alignments: Tensor) -> tuple[Tensor | None, ...]:
        states, reset_update, new, new_gate, tanhs, alignments, values, weight, query_weight, energy = ctx.saved_tensors
        (steps, batch, units), (length, key) = new.shape, tanhs.shape[2:]
        by = GateDerivatives.of(reset_update, new, new_gate, states[:-1])
        reset, update = reset_update[..., :units], reset_update[..., units:]
        grad_word_gates = new.new_empty(steps, batch, 3 * units)
        # Gradients of the state's gates and of the query, side by side as in the forward product.
        grad_joint = new.new_empty(steps, batch, 3 * units + key)
        grad_energies = torch.empty_like(alignments)
        squared_tanh_sum = torch.zeros_like(tanhs[0])  # Σ_t ∂e_t ∘ tanh²
        joint_weight = torch.cat([weight, query_weight])
        carried = torch.zeros_like(states[0])
        for t in reversed(range(steps)):
            grad = torch.add(grad_states[t], carried)
            _gate_gradients(grad, by, t, reset[t], grad_word_gates[t], grad_joint[t, :, : 3 * units])
            # Through the context into the alignment: ∂α = value · ∂gates, then the softmax.
            grad_alignment = torch.baddbmm(
                grad_alignments[t].unsqueeze(2), values, grad_word_gates[t].unsqueeze(2)
            ).squeeze(2)
            weighted = grad_alignment.mul_(alignments[t])
            grad_energy = torch.addcmul(weighted, alignments[t], weighted.sum(1, keepdim=True), value=-1)
            grad_energies[t] = grad_energy
            # ∂q = Σ_s ∂e_s v (1 − tanh²) = v ∘ (Σ_s ∂e_s − Σ_s ∂e_s tanh²)
            squared = (tanhs[t] * tanhs[t]).mul_(grad_energy.unsqueeze(2))
            squared_tanh_sum += squared
            # The energies' gradients sum to 0 over the source, as those of a softmax do: only the second part is left.
            torch.mul(squared.sum(1), energy, out=grad_joint[t, :, 3 * units :]).neg_()
            carried = torch.addmm(grad.mul_(update[t]), grad_joint[t], joint_weight)
        flat_joint = grad_joint.view(steps * batch, -1)
        grad_joint_weight = flat_joint.t() @ states[:-1].reshape(steps * batch, units)
        grad_values = torch.bmm(alignments.permute(1, 2, 0), grad_word_gates.transpose(0, 1))
        grad_keys = (grad_energies.sum(0).unsqueeze(2) - squared_tanh_sum) * energy
        grad_energy_weight = grad_energies.view(-1) @ tanhs.view(-1, key)
        return (
            grad_word_gates,
            carried,
            grad_keys,
            grad_values,
            None,
            grad_joint_weight[: 3 * units],
            flat_joint[:, : 3 * units].sum(0),
            grad_joint_weight[3 * units :],
            grad_energy_weight,
        )


def _gate_gradients(
    grad: Tensor, by: GateDerivatives, t: int, reset: Tensor, grad_input_gates: Tensor, grad_state_gates: Tensor
) -> None:
    """Write step t's gradients of both gate vectors [..., 3H], given that of its new state [..., H]."""
    units = grad.shape[-1]
    grad_new = torch.mul(grad, by.new[t], out=grad_input_gates[..., 2 * units :])
    torch.mul(grad, by.update[t], out=grad_input_gates[..., units : 2 * units])
    torch.mul(grad_new, by.reset[t], out=grad_input_gates[..., :units])
    grad_state_gates[..., : 2 * units] = grad_input_gates[..., : 2 * units]
    torch.mul(grad_new, reset, out=grad_state_gates[..., 2 * units :])


def bidirectional_gru(input_gates: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Typed door to `BidirectionalGru`."""
    return BidirectionalGru.apply(input_gates, mask, weight, bias)  # type: ignore[no-untyped-call]


def attentional_gru(
    word_gates: Tensor,
    first_state: Tensor,
    keys: Tensor,
    values: Tensor,
    mask_bias: Tensor,
    weight: Tensor,
    bias: Tensor,
    query_weight: Tensor,
    energy: Tensor,
) -> tuple[Tensor, Tensor]:
    """Typed door to `AttentionalGru`."""
    return AttentionalGru.apply(  # type: ignore[no-untyped-call]
        word_gates, first_state, keys, values, mask_bias, weight, bias, query_weight, energy
    )
