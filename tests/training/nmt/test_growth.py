"""Growing a model: its function stays, its new units learn, and what cannot grow is refused."""

from dataclasses import replace

import pytest
import torch

from training.errors import TrainingError
from training.nmt.growth import grow_into
from training.nmt.model import ModelSizes, TranslationModel

SMALL = ModelSizes(40, 30, embedding=6, encoder=5, decoder=8, attention=4, readout=6)
LARGER = {"embedding": 9, "encoder": 7, "decoder": 11, "attention": 6, "readout": 9}


def _model(sizes: ModelSizes, seed: int) -> TranslationModel:
    torch.manual_seed(seed)
    model = TranslationModel(sizes).double()
    with torch.no_grad():  # biases too, which start as zeros
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
    return model


def _inputs() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    source, target = (torch.randint(1, 30, (4, 7), generator=generator) for _ in range(2))
    mask = (torch.arange(7) < torch.tensor([[7], [5], [2], [1]])).double()
    return source, mask, target


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("grown", [*({name: size} for name, size in LARGER.items() if name != "embedding"), LARGER])
def test_a_grown_model_computes_the_same(grown: dict[str, int], tied: bool) -> None:
    if tied and grown == {"readout": 9}:
        grown = {"readout": 9, "embedding": 9}
    small = _model(replace(SMALL, tie_output=tied), seed=1)
    large = _model(replace(SMALL, tie_output=tied, **grown), seed=2)
    assert not torch.allclose(large(*_inputs()), small(*_inputs()))
    grow_into(large, small)
    torch.testing.assert_close(large(*_inputs()), small(*_inputs()))


def test_refining_layers_are_grown_and_kept() -> None:
    """None to one, one to two; new ones say nothing yet, old ones what they said."""
    none, one, two = (replace(SMALL, encoder=8, refinement=layers) for layers in (0, 1, 2))
    small = _model(none, seed=1)
    for sizes, seed in ((one, 2), (two, 3)):
        larger = TranslationModel(sizes).double()
        grow_into(larger, small)
        torch.testing.assert_close(larger(*_inputs()), small(*_inputs()))
        small = _model(sizes, seed)  # its layers do say something
    unlike = TranslationModel(two).double()
    grow_into(unlike, small)
    torch.testing.assert_close(unlike(*_inputs()), small(*_inputs()))


@pytest.mark.parametrize("refinement", [0, 2])
def test_its_new_units_are_not_dead(refinement: int) -> None:
    """After a few updates every parameter, every old and new unit among them, has moved."""
    small, large = _model(SMALL, 1), _model(replace(SMALL, **LARGER | {"encoder": 8, "refinement": refinement}), 1)
    grow_into(large, small)
    before = {name: tensor.clone() for name, tensor in large.state_dict().items()}
    optimizer = torch.optim.SGD(large.parameters(), lr=0.1)
    for _ in range(2 + refinement):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(large(*_inputs()).flatten(0, 1), torch.arange(28)).backward()
        optimizer.step()
    for name, parameter in large.named_parameters():
        # Not all words were said; and what all keys have in common, a softmax does not see.
        if not name.startswith(("source_embedding", "target_embedding")) and not name.endswith("attention_in.bias"):
            moved = (parameter - before[name]).abs().flatten(1) if parameter.dim() > 1 else parameter - before[name]
            least = 0.5 if ".hidden" in name else 0.99  # units below 0 rest for now
            assert (moved != 0).double().mean() > least, name


@pytest.mark.parametrize(
    "sizes",
    [
        replace(SMALL, decoder=7),
        replace(SMALL, source_vocabulary=41),
        replace(SMALL, tie_output=True),
    ],
)
def test_what_cannot_grow_is_refused(sizes: ModelSizes) -> None:
    with pytest.raises(TrainingError, match="may grow"):
        grow_into(TranslationModel(sizes), TranslationModel(SMALL))


def test_an_encoder_that_is_refined_keeps_its_width() -> None:
    refined = replace(SMALL, encoder=8, refinement=1)
    with pytest.raises(TrainingError, match="nor `encoder` once there is a `refinement`"):
        grow_into(TranslationModel(replace(refined, encoder=12)), TranslationModel(refined))
