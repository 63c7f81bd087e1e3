"""The two recurrences of the model, with hand-written backward passes.

Training time of a recurrent translator goes into small operations inside the time loop.  Left to autograd, every step
multiplies out its own weight gradient and adds it to a matrix of megabytes.  Here only what truly depends on the
previous state stays inside the loop; gates of the inputs come in ready-made, and the gradients of weights, attention
values and keys are each one large product after the loop.  `tests/training/nmt/test_recurrence.py` holds both against
plain autograd.

`product_dtype` is the type in which the loop's matrix products run: that of the inputs, or bfloat16, which CPUs with
AVX512-BF16 or AMX multiply two to three times as fast.  States, gates and sums stay in the inputs' type.

Shapes:  T steps · D directions · B batch · S source length · H units · K attention key
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from training.nmt.gates import GateDerivatives, gru_in_place


class BidirectionalGru(torch.autograd.Function):
    """Both directions of the encoder, stepped together."""

    @staticmethod
    def forward(
        ctx: Any, input_gates: Tensor, mask: Tensor, weight: Tensor, bias: Tensor, product_dtype: torch.dtype
    ) -> Tensor:
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
        weight_t, bias_row = weight.transpose(1, 2).to(product_dtype), bias.unsqueeze(1)
        for t in range(steps):
            state_gates = torch.bmm(states[t].to(product_dtype), weight_t).to(new.dtype).add_(bias_row)
            new_gate[t] = state_gates[..., 2 * units :]
            state = gru_in_place(input_gates[t], state_gates, states[t], reset_update[t], new[t])
            torch.mul(state, mask[t], out=states[t + 1])
        ctx.save_for_backward(states, reset_update, new, new_gate, mask, weight)
        ctx.product_dtype = product_dtype
        return states[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor | None, ...]:
        states, reset_update, new, new_gate, mask, weight = ctx.saved_tensors
        steps, directions, batch, units = new.shape
        by = GateDerivatives.of(reset_update, new, new_gate, states[:-1])
        reset, update = reset_update[..., :units], reset_update[..., units:]
        grad_input_gates = new.new_empty(steps, directions, batch, 3 * units)
        grad_state_gates = new.new_empty(steps, directions, batch, 3 * units)
        product_weight = weight.to(ctx.product_dtype)
        carried = torch.zeros_like(new[0])
        for t in reversed(range(steps)):
            grad = torch.add(grad_states[t], carried).mul_(mask[t])
            grad_x, grad_h = grad_input_gates[t], grad_state_gates[t]
            gate_gradients(grad, by, t, reset[t], grad_x, grad_h)
            through_gates = torch.bmm(grad_h.to(ctx.product_dtype), product_weight)
            carried = grad.mul_(update[t]).add_(through_gates)
        flat = grad_state_gates.transpose(0, 1).reshape(directions, steps * batch, 3 * units)
        before = states[:-1].transpose(0, 1).reshape(directions, steps * batch, units)
        grad_weight = torch.bmm(flat.transpose(1, 2).to(ctx.product_dtype), before.to(ctx.product_dtype))
        return grad_input_gates, None, grad_weight.to(weight.dtype), flat.sum(1), None


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
        product_dtype: torch.dtype,
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
        sigmoids = word_gates.new_empty(steps, batch, length, key)
        alignments = word_gates.new_empty(steps, batch, length)
        # The query and the state's gates both multiply the state: one product.
        # v · tanh(q + k) = 2v · σ(2q + 2k) − Σv, and a softmax does not see the constant Σv.
        joint_weight = torch.cat([weight, 2 * query_weight]).t().to(product_dtype)
        double_keys, double_energy = 2 * keys, 2 * energy
        for t in range(steps):
            joint = torch.mm(states[t].to(product_dtype), joint_weight).to(states.dtype)
            joint[:, :gates] += bias
            torch.add(double_keys, joint[:, gates:].unsqueeze(1), out=sigmoids[t]).sigmoid_()
            energies = torch.mv(sigmoids[t].view(batch * length, key), double_energy).view(batch, length)
            torch.softmax(energies.add_(mask_bias), dim=1, out=alignments[t])
            input_gates = torch.baddbmm(word_gates[t].unsqueeze(1), alignments[t].unsqueeze(1), values).squeeze(1)
            new_gate[t] = joint[:, 2 * units : gates]
            states[t + 1] = gru_in_place(input_gates, joint[:, :gates], states[t], reset_update[t], new[t])
        ctx.save_for_backward(
            states, reset_update, new, new_gate, sigmoids, alignments, values, weight, query_weight, energy
        )
        ctx.product_dtype = product_dtype
        return states[1:], alignments

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, grad_alignments: Tensor) -> tuple[Tensor | None, ...]:
        states, reset_update, new, new_gate, sigmoids, alignments, values, weight, query_weight, energy = (
            ctx.saved_tensors
        )
        (steps, batch, units), key = new.shape, sigmoids.shape[3]
        by = GateDerivatives.of(reset_update, new, new_gate, states[:-1])
        reset, update = reset_update[..., :units], reset_update[..., units:]
        grad_word_gates = new.new_empty(steps, batch, 3 * units)
        # Gradients of the state's gates and of the query, side by side as in the forward product.
        grad_joint = new.new_empty(steps, batch, 3 * units + key)
        grad_energies = torch.empty_like(alignments)
        slopes_sum = torch.zeros_like(sigmoids[0])  # Σ_t ∂e_t ∘ σ(1 − σ)
        joint_weight = torch.cat([weight, query_weight]).to(ctx.product_dtype)
        values_t = values.transpose(1, 2)
        carried = torch.zeros_like(states[0])
        for t in reversed(range(steps)):
            grad = torch.add(grad_states[t], carried)
            gate_gradients(grad, by, t, reset[t], grad_word_gates[t], grad_joint[t, :, : 3 * units])
            # Through the context into the alignment: ∂α = ∂gates · value, then the softmax.
            # (A row times a matrix: the matrix times a column is ten times slower in a CPU's batched product.)
            grad_alignment = torch.baddbmm(
                grad_alignments[t].unsqueeze(1), grad_word_gates[t].unsqueeze(1), values_t
            ).squeeze(1)
            weighted = grad_alignment.mul_(alignments[t])
            grad_energy = torch.addcmul(weighted, alignments[t], weighted.sum(1, keepdim=True), value=-1)
            grad_energies[t] = grad_energy
            # ∂q = Σ_s ∂e_s v (1 − tanh²), and 1 − tanh² = 4 σ (1 − σ)
            slopes = torch.addcmul(sigmoids[t], sigmoids[t], sigmoids[t], value=-1).mul_(grad_energy.unsqueeze(2))
            slopes_sum += slopes
            torch.mul(slopes.sum(1), 4 * energy, out=grad_joint[t, :, 3 * units :])
            through_joint = torch.mm(grad_joint[t].to(ctx.product_dtype), joint_weight)
            carried = grad.mul_(update[t]).add_(through_joint)
        flat_joint = grad_joint.view(steps * batch, -1)
        before = states[:-1].reshape(steps * batch, units).to(ctx.product_dtype)
        grad_joint_weight = (flat_joint.t().to(ctx.product_dtype) @ before).to(weight.dtype)
        grad_values = torch.bmm(alignments.permute(1, 2, 0), grad_word_gates.transpose(0, 1))
        # ∂v = Σ ∂e tanh = 2 Σ ∂e σ, for the ∂e of one softmax sum to 0.
        grad_energy_weight = 2 * (grad_energies.view(-1) @ sigmoids.view(-1, key))
        return (
            grad_word_gates,
            carried,
            slopes_sum * (4 * energy),
            grad_values,
            None,
            grad_joint_weight[: 3 * units],
            flat_joint[:, : 3 * units].sum(0),
            grad_joint_weight[3 * units :],
            grad_energy_weight,
            None,
        )


def gate_gradients(
    grad: Tensor, by: GateDerivatives, t: int, reset: Tensor, grad_input_gates: Tensor, grad_state_gates: Tensor
) -> None:
    """Write step t's gradients of both gate vectors [..., 3H], given that of its new state [..., H]."""
    units = grad.shape[-1]
    grad_new = torch.mul(grad, by.new[t], out=grad_input_gates[..., 2 * units :])
    torch.mul(grad, by.update[t], out=grad_input_gates[..., units : 2 * units])
    torch.mul(grad_new, by.reset[t], out=grad_input_gates[..., :units])
    grad_state_gates[..., : 2 * units] = grad_input_gates[..., : 2 * units]
    torch.mul(grad_new, reset, out=grad_state_gates[..., 2 * units :])


def bidirectional_gru(
    input_gates: Tensor, mask: Tensor, weight: Tensor, bias: Tensor, product_dtype: torch.dtype
) -> Tensor:
    """Typed door to `BidirectionalGru`."""
    return BidirectionalGru.apply(input_gates, mask, weight, bias, product_dtype)  # type: ignore[no-untyped-call]


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
    product_dtype: torch.dtype,
) -> tuple[Tensor, Tensor]:
    """Typed door to `AttentionalGru`."""
    return AttentionalGru.apply(  # type: ignore[no-untyped-call]
        word_gates, first_state, keys, values, mask_bias, weight, bias, query_weight, energy, product_dtype
    )
