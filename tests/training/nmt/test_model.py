"""The fast teacher-forced path against the readable step, and the promises of the interface."""

import torch

from training.nmt.model import Encoded, ModelSizes, TranslationModel

SIZES = ModelSizes(
    source_vocabulary=11,
    target_vocabulary=13,
    embedding=6,
    encoder=5,
    decoder=8,
    attention=4,
    readout=6,
    tie_output=True,
)


def _model(sizes: ModelSizes = SIZES) -> TranslationModel:
    torch.manual_seed(5)
    return TranslationModel(sizes).double().eval()


def _batch() -> tuple[torch.Tensor, torch.Tensor]:
    source_ids = torch.tensor([[4, 5, 6, 3], [7, 3, 0, 0]])
    return source_ids, (source_ids != 0).double()


def test_teacher_forcing_equals_step_by_step() -> None:
    model, (source_ids, mask) = _model(), _batch()
    targets = torch.tensor([[2, 4, 9, 5, 6], [2, 7, 7, 8, 12]])
    encoded = model.encode(source_ids, mask)
    state, logits = encoded.first_state, []
    for previous_ids in targets.t():
        output = model.step(previous_ids, state, encoded)
        state = output.state
        logits.append(output.logits)
    torch.testing.assert_close(model(source_ids, mask, targets), torch.stack(logits, dim=1))


def test_a_row_does_not_depend_on_padding() -> None:
    model, (source_ids, mask) = _model(), _batch()
    together = model.encode(source_ids, mask)
    alone = model.encode(source_ids[1:, :2], mask[1:, :2])
    torch.testing.assert_close(together.annotations[1:, :2], alone.annotations)
    torch.testing.assert_close(together.first_state[1:], alone.first_state)
    assert together.annotations[1, 2:].abs().sum() == 0
    context, alignment = model.attend(together.first_state, together)
    torch.testing.assert_close(context[1:], model.attend(alone.first_state, alone)[0])
    assert alignment[1, 2:].abs().sum() == 0


def test_encoder_equals_torchs_own_bidirectional_gru() -> None:
    model, (source_ids, mask) = _model(), _batch()
    reference = torch.nn.GRU(6, 5, bidirectional=True, batch_first=True).double()
    encoder = model.encoder
    with torch.no_grad():
        for direction, suffix in enumerate(["", "_reverse"]):
            getattr(reference, f"weight_ih_l0{suffix}").copy_(encoder.input_weight[direction])
            getattr(reference, f"weight_hh_l0{suffix}").copy_(encoder.state_weight[direction])
            getattr(reference, f"bias_ih_l0{suffix}").copy_(encoder.input_bias[direction])
            getattr(reference, f"bias_hh_l0{suffix}").copy_(encoder.state_bias[direction])
    expected, _ = reference(model.source_embedding(source_ids[:1]))
    torch.testing.assert_close(model.encode(source_ids[:1], mask[:1]).annotations, expected)


def test_actor_and_noise_are_added_to_the_state_the_gru_receives() -> None:
    model, (source_ids, mask) = _model(), _batch()
    encoded = model.encode(source_ids, mask)
    previous_ids, state = torch.tensor([2, 2]), encoded.first_state
    push, noise = torch.full_like(state, 0.25), torch.full_like(state, -0.05)
    output = model.step(previous_ids, state, encoded, actor=lambda z, c, w: push, noise=noise)
    context, _ = model.attend(state, encoded)
    torch.testing.assert_close(output.state, model.advance(state + 0.2, previous_ids, context))
    torch.testing.assert_close(output.action, torch.full_like(state, 0.2))


def test_select_repeats_and_reorders_rows() -> None:
    model, (source_ids, mask) = _model(), _batch()
    encoded = model.encode(source_ids, mask)
    chosen = encoded.select(torch.tensor([1, 1, 0]))
    assert isinstance(chosen, Encoded)
    torch.testing.assert_close(chosen.keys[0], encoded.keys[1])
    torch.testing.assert_close(chosen.first_state[2], encoded.first_state[0])


def test_tied_output_has_no_weight_of_its_own() -> None:
    assert "output.weight" not in _model().state_dict()
    assert _model().output_weight() is not None


def test_bfloat16_products_stay_close_to_full_precision() -> None:
    torch.manual_seed(5)
    model = TranslationModel(SIZES).train()
    source_ids, mask = _batch()
    targets = torch.tensor([[2, 4, 9, 5, 6], [2, 7, 7, 8, 12]])
    exact = model(source_ids, mask.float(), targets)
    model.product_dtype = torch.bfloat16
    rounded = model(source_ids, mask.float(), targets)
    assert not torch.equal(exact, rounded)
    torch.testing.assert_close(rounded, exact, atol=0.05, rtol=0.05)
