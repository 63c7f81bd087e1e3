"""The hand-written backward passes against plain autograd, in double precision."""

import pytest
import torch

from training.nmt.gates import gru
from training.nmt.recurrence import attentional_gru, bidirectional_gru


def _leaves(*shapes: tuple[int, ...]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    return [torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_() for shape in shapes]


def test_bidirectional_gru_and_its_gradients_equal_autograd() -> None:
    steps, batch, units = 5, 3, 4
    gates, weight, bias = _leaves((steps, 2, batch, 3 * units), (2, 3 * units, units), (2, 3 * units))
    mask = (torch.arange(steps)[:, None] < torch.tensor([5, 3, 1])).double()  # [T, B]
    masks = torch.stack([mask, mask.flip(0)], dim=1).unsqueeze(3)

    expected = []
    state = torch.zeros(2, batch, units, dtype=torch.float64)
    for t in range(steps):
        state = gru(gates[t], torch.baddbmm(bias.unsqueeze(1), state, weight.transpose(1, 2)), state) * masks[t]
        expected.append(state)
    reference = torch.stack(expected)
    cotangent = torch.randn_like(reference)
    wanted = torch.autograd.grad(reference, (gates, weight, bias), cotangent)

    states = bidirectional_gru(gates, masks, weight, bias, torch.float64)
    given = torch.autograd.grad(states, (gates, weight, bias), cotangent)

    torch.testing.assert_close(states, reference)
    for one, other in zip(given, wanted, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("reads_alignment", [False, True])
def test_attentional_gru_and_its_gradients_equal_autograd(reads_alignment: bool) -> None:
    steps, batch, length, units, key = 4, 3, 6, 5, 3
    leaves = _leaves(
        (steps, batch, 3 * units),
        (batch, units),
        (batch, length, key),
        (batch, length, 3 * units),
        (3 * units, units),
        (3 * units,),
        (key, units),
        (key,),
    )
    word_gates, first_state, keys, values, weight, bias, query_weight, energy = leaves
    mask_bias = (torch.arange(length) >= torch.tensor([[6], [4], [1]])).double() * -1e9

    states, alignments, state = [], [], first_state
    for t in range(steps):
        hidden = torch.tanh((state @ query_weight.t()).unsqueeze(1) + keys)
        alignment = torch.softmax(hidden @ energy + mask_bias, dim=1)
        context = torch.bmm(alignment.unsqueeze(1), values).squeeze(1)
        state = gru(word_gates[t] + context, torch.addmm(bias, state, weight.t()), state)
        states.append(state)
        alignments.append(alignment)
    reference = (torch.stack(states), torch.stack(alignments))
    cotangents = (torch.randn_like(reference[0]), torch.randn_like(reference[1]) * float(reads_alignment))
    wanted = torch.autograd.grad(reference, leaves, cotangents)

    output = attentional_gru(
        word_gates, first_state, keys, values, mask_bias, weight, bias, query_weight, energy, torch.float64
    )
    given = torch.autograd.grad(output, leaves, cotangents)

    torch.testing.assert_close(output, reference)
    for one, other in zip(given, wanted, strict=True):
        torch.testing.assert_close(one, other)
