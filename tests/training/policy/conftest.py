"""A real model with random weights, small enough for exact comparisons."""

from collections.abc import Callable

import pytest
import torch

from training.nmt.model import ModelSizes, TranslationModel


@pytest.fixture(scope="session")
def tiny_model() -> Callable[..., TranslationModel]:
    """Build a frozen model, large enough in its weights to prefer some outputs over others."""

    def build(seed: int = 0, vocabulary: int = 9, scale: float = 3.0) -> TranslationModel:
        torch.manual_seed(seed)
        model = TranslationModel(ModelSizes(11, vocabulary, 6, 5, 8, 4, 7))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(scale)
        return model.eval().requires_grad_(False)

    return build
