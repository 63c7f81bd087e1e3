import pytest
import torch

from training.policy.critic import SLOPE, THRESHOLD, Critic

REFERENCES = torch.tensor([[4, 5, 3], [6, 3, 0]])
REFERENCE_MASK = (REFERENCES > 0).float()


def rows(seed=0):
    """Two samples of each of two references, of 4, 2, 3 and 1 steps."""
    torch.manual_seed(seed)
    mask = (torch.arange(4) < torch.tensor([[4], [2], [3], [1]])).float()
    return torch.randn(4, 4, 6) * mask.unsqueeze(2), mask


def trained_looking(is_bounded):
    torch.manual_seed(1)
    critic = Critic(vocabulary=9, state=6, units=8, is_bounded=is_bounded)
    torch.nn.init.normal_(critic.output.weight, std=5.0)
    return critic


@pytest.mark.parametrize("is_bounded", [True, False])
def test_an_untrained_critic_predicts_the_mean_it_is_given(is_bounded):
    critic = Critic(vocabulary=9, state=6, units=8, is_bounded=is_bounded)
    critic.start_at(0.7)
    predicted = critic(REFERENCES, REFERENCE_MASK, *rows())
    assert predicted.tolist() == pytest.approx([0.7] * 4)


def test_a_bounded_critic_stays_between_zero_and_one_and_an_unbounded_one_does_not():
    bounded = trained_looking(True)(REFERENCES, REFERENCE_MASK, *rows())
    unbounded = trained_looking(False)(REFERENCES, REFERENCE_MASK, *rows())
    torch.testing.assert_close(bounded, torch.sigmoid(unbounded))
    assert unbounded.abs().max() > 1


def test_padding_and_other_rows_do_not_change_a_prediction():
    critic = trained_looking(False)
    states, mask = rows()
    together = critic(REFERENCES, REFERENCE_MASK, states, mask)
    alone = critic(REFERENCES[1:, :2], REFERENCE_MASK[1:, :2], states[2:, :3], mask[2:, :3])
    torch.testing.assert_close(together[2:], alone)


def test_the_gradient_reaches_real_states_and_no_padding():
    critic = trained_looking(True)
    states, mask = rows()
    states.requires_grad_()
    critic(REFERENCES, REFERENCE_MASK, states, mask).sum().backward()
    reached = states.grad.abs().sum(dim=2)
    assert (reached[mask > 0] > 0).all()
    assert (reached[mask == 0] == 0).all()


def test_through_matches_the_gradient_is_that_of_the_matches_alone():
    """The prediction is the same; where no state matches a word, no gradient is left."""
    plain, matching = trained_looking(True), trained_looking(True)
    matching.through_matches = True
    states, mask = rows()
    states.requires_grad_()
    predicted = [critic(REFERENCES, REFERENCE_MASK, states, mask) for critic in (plain, matching)]
    assert torch.equal(*predicted)
    gradients = [torch.autograd.grad(one.sum(), states)[0] for one in predicted]
    assert (gradients[0] - gradients[1]).abs().max() > 1e-3
    with torch.no_grad():
        for critic in (plain, matching):
            critic.match_state.weight.zero_()  # nothing matches, whatever the states are
    by_states, by_matches = (
        torch.autograd.grad(critic(REFERENCES, REFERENCE_MASK, states, mask).sum(), states)[0]
        for critic in (plain, matching)
    )
    assert by_states.abs().max() > 1e-3
    assert by_matches.abs().max() == 0


def test_it_learns_to_read_a_return_off_the_states():
    torch.manual_seed(2)
    critic = Critic(vocabulary=9, state=6, units=8, is_bounded=True)
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
    errors = []
    for step in range(150):
        states, mask = rows(seed=step)
        truth = torch.sigmoid(2 * states[:, 0, 0])  # the first number of the first state
        loss = ((critic(REFERENCES, REFERENCE_MASK, states, mask) - truth) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        errors.append(loss.item())
    assert sum(errors[-20:]) < 0.25 * sum(errors[:20])


def test_a_state_matches_the_words_that_the_model_would_say_from_it(tiny_model):
    model = tiny_model(seed=2, scale=2.0)
    sizes = model.sizes
    critic = Critic(sizes.target_vocabulary, sizes.decoder, units=8, is_bounded=True, readout=sizes.readout)
    critic.start_from(model)
    states = torch.randn(2, 5, sizes.decoder, generator=torch.Generator().manual_seed(0))
    mask = torch.ones(2, 5)
    by_step, overall = critic.match(REFERENCES, REFERENCE_MASK, states, mask)
    words, strength = by_step.split([sizes.readout, 1], dim=2)
    # What the state alone adds to each word's logit decides; the words of the first reference are 4 and 5.
    logits = states @ model.readout.state.weight.t() @ model.output_weight().t()
    of_first = logits[0, :4, [4, 5]]
    torch.testing.assert_close(strength[0, :4, 0], of_first.logsumexp(dim=1))
    torch.testing.assert_close(words[0, :4], of_first.softmax(dim=1) @ model.output_weight()[[4, 5]])
    # Four words and eos were said where the reference has two and eos.
    says = torch.sigmoid(SLOPE * (of_first - THRESHOLD))
    expected = [says.amax(1).sum() / 4, says.amax(0).sum() / 2, torch.tensor(4 / 2).log()]
    torch.testing.assert_close(overall[0], torch.stack(expected))


def test_the_last_step_matches_nothing_for_it_speaks_for_the_end(tiny_model):
    model = tiny_model(seed=2, scale=2.0)
    sizes = model.sizes
    critic = Critic(sizes.target_vocabulary, sizes.decoder, units=8, is_bounded=True, readout=sizes.readout)
    critic.start_from(model)
    states = torch.randn(2, 5, sizes.decoder, generator=torch.Generator().manual_seed(0), requires_grad=True)
    mask = torch.tensor([[1.0, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    by_step, overall = critic.match(REFERENCES, REFERENCE_MASK, states, mask)
    assert by_step.abs().sum(dim=2).bool().tolist() == [[True] * 4 + [False], [True, True, False, False, False]]
    (gradient,) = torch.autograd.grad(by_step.sum() + overall.sum(), states)
    assert gradient.abs().sum(dim=2).bool().tolist() == [[True] * 4 + [False], [True, True, False, False, False]]
