"""A larger model that begins as a smaller one: the same function, with new units to go on learning with.

Each new unit listens from the start, with the weights of a fresh model, but speaks to no old unit yet: its outgoing
weights are zero, and the first gradients fill them.  So every old unit, and every logit, is what it was.  Copied units,
those of Net2Net (Chen et al. 2016), preserve the function too, but learn the same until noise parts them.
"""

import torch
from torch import Tensor

from training.errors import TrainingError
from training.nmt.model import ModelSizes, TranslationModel

# Of each parameter: what its axes count, with an arrow before the axis that it listens to.  The letters are those of
# nmt/model.py; 3H are the gates of H units one after the other, A is forward N and then backward N.
AXES = {
    "source_embedding.weight": "S,E",
    "target_embedding.weight": "V,E",
    "encoder.input_weight": "2,3N<-E",
    "encoder.input_bias": "2,3N",
    "encoder.state_weight": "2,3N<-N",
    "encoder.state_bias": "2,3N",
    "initial_state.weight": "H<-N",
    "initial_state.bias": "H",
    "attention.key.weight": "K<-A",
    "attention.key.bias": "K",
    "attention.query.weight": "K<-H",
    "attention.energy": "<-K",
    "decoder.word.weight": "3H<-E",
    "decoder.context.weight": "3H<-A",
    "decoder.state.weight": "3H<-H",
    "decoder.input_bias": "3H",
    "decoder.state_bias": "3H",
    "readout.state.weight": "R<-H",
    "readout.context.weight": "R<-A",
    "readout.word.weight": "R<-E",
    "readout.bias": "R",
    "output.weight": "V<-R",
    "output.bias": "V",
}


def grow_into(model: TranslationModel, given: TranslationModel) -> None:
    """Make the fresh `model`, as large as `given` or larger, compute what `given` computes."""
    old, new = given.sizes, model.sizes
    # A refining layer sees all units of an annotation through a norm, where new ones would be heard.
    is_fixed = {"encoder"} if old.refinement else set()
    if old.tie_output != new.tie_output or any(
        mine < theirs or (mine > theirs and ("vocabulary" in name or name in is_fixed))
        for (name, theirs), mine in zip(vars(old).items(), vars(new).values(), strict=True)
    ):
        raise TrainingError(
            f"the model to start from has {old}, the config asks for {new}: its layers may grow; they cannot shrink, "
            "nor can its words or `tie_output` change, nor `encoder` once there is a `refinement`"
        )
    places = _places(old, new)
    with torch.no_grad():
        kept = {name for name, _ in given.named_parameters()}
        for name, parameter in model.named_parameters():
            if name.startswith("refinement"):
                # Layers that are new say nothing yet, by themselves.
                if name in kept:
                    parameter.copy_(given.get_parameter(name))
                continue
            spoken, _, heard = AXES[name].partition("<-")
            rows = [places[axis] for axis in spoken.split(",") if axis]
            if new.tie_output and name.startswith("readout"):
                # The output layer is the embedding, whose new columns are not zero: its new inputs are, instead.
                parameter.zero_()
            if heard:
                parameter[_grid([*rows, torch.arange(parameter.shape[-1])])] = 0.0
                rows.append(places[heard])
            parameter[_grid(rows)] = given.get_parameter(name)


def _places(old: ModelSizes, new: ModelSizes) -> dict[str, Tensor]:
    """Where the old units of every axis lie among the new ones."""

    def blocks(count: int, before: int, now: int) -> Tensor:
        return (torch.arange(count).unsqueeze(1) * now + torch.arange(before)).flatten()

    return {
        "2": torch.arange(2),
        "S": torch.arange(old.source_vocabulary),
        "V": torch.arange(old.target_vocabulary),
        "E": torch.arange(old.embedding),
        "N": torch.arange(old.encoder),
        "3N": blocks(3, old.encoder, new.encoder),
        "A": blocks(2, old.encoder, new.encoder),
        "H": torch.arange(old.decoder),
        "3H": blocks(3, old.decoder, new.decoder),
        "K": torch.arange(old.attention),
        "R": torch.arange(old.readout),
    }


def _grid(places: list[Tensor]) -> tuple[Tensor, ...]:
    """An index of all combinations of places, one axis each."""
    return torch.meshgrid(*places, indexing="ij")
