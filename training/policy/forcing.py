"""Teacher forcing with an actor in the loop: the actor changes the state, so every step waits for the last.

For the exportable actors the loop and its backward pass are written by hand, as in `training.nmt.recurrence`: the
model is frozen, so only the gradients of states and of the actor's few weights are computed, those of the weights as
one product each after the loop.  Other actors go through autograd.

The context enters the gates and the actor's first layer linearly, so the loop attends over projected annotations:
`values` [B, S, 3H + U].

Shapes:  T steps · B batch · S source length · E embedding · A annotation · H decoder state · K key · U actor's units
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from training.nmt.gates import GateDerivatives, gru_in_place, tanh_in_place
from training.nmt.model import MASKED, Encoded, TranslationModel, acts_after, move
from training.nmt.recurrence import gate_gradients
from training.policy.actor import ConstantActor, MemoryModel, PlainActor


class Forced(NamedTuple):
    """What the decoder went through under teacher forcing."""

    readouts: Tensor  # [B, T, R]; logits are one product away
    states: Tensor  # [B, T, H]: z_1 … z_T
    contexts: Tensor  # [B, T, A]
    actions: Tensor  # [B, T, H], without a graph


def force_nudged(model: TranslationModel, actor: PlainActor, encoded: Encoded, target_inputs: Tensor) -> Forced:
    """Feed target words [B, T] (bos first) to the frozen model while the actor nudges it."""
    if type(actor) in (PlainActor, ConstantActor):
        return _force_fast(model, actor, encoded, target_inputs)
    return force_stepwise(model, actor, encoded, target_inputs)


def force_stepwise(model: TranslationModel, actor: PlainActor, encoded: Encoded, target_inputs: Tensor) -> Forced:
    """The same, step by step through autograd, for any actor."""
    states, contexts, actions = [], [], []
    state = encoded.first_state
    for previous in target_inputs.unbind(1):
        context, _ = model.attend(state, encoded)
        action = actor(state, context, model.target_embedding(previous))
        state = move(model, state, previous, context, action, acts_after(actor))
        states.append(state)
        contexts.append(context)
        actions.append(action.detach())
    units = model.sizes.decoder  # a recurrent actor's memory lies behind the state
    all_states, all_contexts = torch.stack(states, 1)[..., :units], torch.stack(contexts, 1)
    readout = (model.inner if isinstance(model, MemoryModel) else model).readout
    readouts = readout(all_states, all_contexts, model.target_embedding(target_inputs))
    return Forced(readouts, all_states, all_contexts, torch.stack(actions, 1)[..., :units])


def _force_fast(model: TranslationModel, actor: PlainActor, encoded: Encoded, target_inputs: Tensor) -> Forced:
    decoder, readout = model.decoder, model.readout
    units, annotation = model.sizes.decoder, 2 * model.sizes.encoder
    first_layer = actor.hidden.weight
    on_state, on_context, on_word = (
        first_layer[:, :units],
        first_layer[:, units : units + annotation],
        first_layer[:, units + annotation :],
    )
    with torch.no_grad():
        words = model.embed_targets(target_inputs).transpose(0, 1).contiguous()  # [T, B, E]
        word_gates = decoder.word(words) + decoder.input_bias
        model_values = decoder.context(encoded.annotations)
    word_hidden = words @ on_word.t() + actor.hidden.bias if actor.sees_previous_word else actor.hidden.bias
    word_hidden = word_hidden.expand(*words.shape[:2], -1)
    states, alignments, hiddens = NudgedGru.apply(  # type: ignore[no-untyped-call]
        word_gates,
        word_hidden,
        encoded.first_state,
        encoded.keys,
        model_values,
        encoded.annotations @ on_context.t(),
        (1 - encoded.mask) * MASKED,
        decoder.state.weight,
        decoder.state_bias,
        model.attention.query.weight,
        model.attention.energy,
        on_state,
        actor.output.weight,
        actor.acts_after,
    )
    contexts = torch.bmm(alignments.transpose(0, 1), encoded.annotations)  # [B, T, A]
    by_time = readout.state(states) + readout.word(words)
    readouts = torch.tanh(by_time.transpose(0, 1) + readout.context(contexts) + readout.bias)
    with torch.no_grad():
        actions = (hiddens @ actor.output.weight.t()).transpose(0, 1)
    return Forced(readouts, states.transpose(0, 1), contexts, actions)


class NudgedGru(torch.autograd.Function):
    """The decoder under teacher forcing with a plain actor.

    α_t = softmax(v · tanh(W_q z_{t-1} + k_s))      h_t = tanh(A_z z_{t-1} + Σ_s α_ts A_c annotation_s + word_t)
    z̃_{t-1} = z_{t-1} + A_2 h_t                     z_t = GRU(z̃_{t-1}, word gates_t + Σ_s α_ts value_s)

    An actor that acts after the recurrence has  z_t = GRU(z_{t-1}, …) + A_2 h_t  instead.
    """

    @staticmethod
    def forward(
        ctx: Any,
        word_gates: Tensor,
        word_hidden: Tensor,
        first_state: Tensor,
        keys: Tensor,
        model_values: Tensor,
        actor_values: Tensor,
        mask_bias: Tensor,
        weight: Tensor,
        bias: Tensor,
        query_weight: Tensor,
        energy: Tensor,
        on_state: Tensor,
        output_weight: Tensor,
        after: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the states [T, B, H], the alignments [T, B, S] and the actor's hidden units [T, B, U].

        word_gates [T, B, 3H] · word_hidden [T, B, U] · first_state [B, H] · keys [B, S, K] · model_values [B, S, 3H] ·
        actor_values [B, S, U] · mask_bias [B, S] · weight [3H, H] · bias [3H] · query_weight [K, H] · energy [K] ·
        on_state [U, H] · output_weight [H, U]
        """
        steps, batch, gates = word_gates.shape
        units, (length, key), hidden_units = gates // 3, keys.shape[1:], on_state.shape[0]
        states = word_gates.new_empty(steps + 1, batch, units)
        states[0] = first_state
        received = states[:-1] if after else word_gates.new_empty(steps, batch, units)  # what the GRU starts from
        hiddens = word_gates.new_empty(steps, batch, hidden_units)
        reset_update = word_gates.new_empty(steps, batch, 2 * units)
        new = word_gates.new_empty(steps, batch, units)
        new_gate = word_gates.new_empty(steps, batch, units)
        sigmoids = word_gates.new_empty(steps, batch, length, key)
        alignments = word_gates.new_empty(steps, batch, length)
        values = torch.cat([model_values, actor_values], dim=2)
        # v · tanh(q + k) = 2v · σ(2q + 2k) − Σv, and a softmax does not see the constant Σv.
        joint_weight = torch.cat([2 * query_weight, on_state]).t().contiguous()  # both multiply z_{t-1}
        output_weight_t, weight_t = output_weight.t().contiguous(), weight.t()
        double_keys, double_energy = 2 * keys, 2 * energy
        for t in range(steps):
            joint = torch.mm(states[t], joint_weight)  # [B, K + U]
            torch.add(double_keys, joint[:, :key].unsqueeze(1), out=sigmoids[t]).sigmoid_()
            energies = torch.mv(sigmoids[t].view(batch * length, key), double_energy).view(batch, length)
            torch.softmax(energies.add_(mask_bias), dim=1, out=alignments[t])
            attended = torch.bmm(alignments[t].unsqueeze(1), values).squeeze(1)  # [B, 3H + U]
            torch.add(joint[:, key:], attended[:, gates:], out=hiddens[t])
            tanh_in_place(hiddens[t].add_(word_hidden[t]))
            if not after:
                torch.addmm(states[t], hiddens[t], output_weight_t, out=received[t])
            state_gates = torch.addmm(bias, received[t], weight_t)
            new_gate[t] = state_gates[:, 2 * units :]
            input_gates = attended[:, :gates].add_(word_gates[t])
            states[t + 1] = gru_in_place(input_gates, state_gates, received[t], reset_update[t], new[t])
            if after:
                states[t + 1].addmm_(hiddens[t], output_weight_t)
        ctx.after = after
        ctx.save_for_backward(
            states, received, hiddens, reset_update, new, new_gate, sigmoids, alignments,
            values, weight, query_weight, energy, on_state, output_weight,
        )  # fmt: skip
        ctx.mark_non_differentiable(hiddens)
        return states[1:], alignments, hiddens

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, grad_alignments: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        (
            states, received, hiddens, reset_update, new, new_gate, sigmoids, alignments,
            values, weight, query_weight, energy, on_state, output_weight,
        ) = ctx.saved_tensors  # fmt: skip
        (steps, batch, units), key, hidden_units = new.shape, sigmoids.shape[3], hiddens.shape[2]
        gates = 3 * units
        by = GateDerivatives.of(reset_update, new, new_gate, received)
        reset, update = reset_update[..., :units], reset_update[..., units:]
        slope_of_hiddens = 1 - hiddens * hiddens
        grad_inputs = new.new_empty(batch, gates + hidden_units)  # of what was attended to: gates and actor's part
        grad_state_gates = new.new_empty(batch, gates)
        grad_joint = new.new_empty(batch, key + hidden_units)
        grad_hiddens = new.new_empty(steps, batch, hidden_units)
        grad_actions = new.new_empty(steps, batch, units)
        joint_weight = torch.cat([query_weight, on_state])
        values_t, energy4 = values.transpose(1, 2), 4 * energy
        carried = torch.zeros_like(states[0])
        for t in reversed(range(steps)):
            grad = torch.add(grad_states[t], carried)
            gate_gradients(grad, by, t, reset[t], grad_inputs[:, :gates], grad_state_gates)
            if ctx.after:
                grad_actions[t] = grad  # ∂a = ∂z
            # ∂z̃ = u ∘ ∂z + Wᵀ ∂gates
            grad_received = torch.addmm(grad.mul_(update[t]), grad_state_gates, weight)
            if not ctx.after:
                grad_actions[t] = grad_received  # ∂a = ∂z̃
            torch.mm(grad_actions[t], output_weight, out=grad_hiddens[t]).mul_(slope_of_hiddens[t])
            grad_inputs[:, gates:] = grad_joint[:, key:] = grad_hiddens[t]
            # (A row times a matrix: the matrix times a column is ten times slower in a CPU's batched product.)
            grad_alignment = torch.baddbmm(grad_alignments[t].unsqueeze(1), grad_inputs.unsqueeze(1), values_t).squeeze(
                1
            )
            weighted = grad_alignment.mul_(alignments[t])
            grad_energies = torch.addcmul(weighted, alignments[t], weighted.sum(1, keepdim=True), value=-1)
            # ∂q = Σ_s ∂e_s v (1 − tanh²), and 1 − tanh² = 4 σ (1 − σ)
            slopes = torch.addcmul(sigmoids[t], sigmoids[t], sigmoids[t], value=-1)
            through_energies = torch.bmm(grad_energies.unsqueeze(1), slopes).squeeze(1)
            torch.mul(through_energies, energy4, out=grad_joint[:, :key])
            carried = torch.addmm(grad_received, grad_joint, joint_weight)
        flat_hiddens = grad_hiddens.view(steps * batch, hidden_units)
        return (
            None,
            grad_hiddens,
            None,
            None,
            None,
            torch.bmm(alignments.permute(1, 2, 0), grad_hiddens.transpose(0, 1)),
            None,
            None,
            None,
            None,
            None,
            flat_hiddens.t() @ states[:-1].reshape(steps * batch, units),
            grad_actions.view(steps * batch, units).t() @ hiddens.view(steps * batch, hidden_units),
            None,
        )
