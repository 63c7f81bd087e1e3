"""Engines on small random models: real graphs from the exporter, real onnxruntime sessions."""

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from service.engine.engine import Engine
from service.engine.sessions import open_session
from service.engine.shape import ModelShape
from service.engine.types import EngineSettings
from training.export.encoder import build_encoder
from training.export.step import build_step
from training.export.weights import ModelWeights, Sizes, random_actor, random_weights

EOS = 3
UNITS = 8


class RandomModel:
    """Graphs of random weights with two actors, and engines on them."""

    def __init__(self, vocabulary: int, scale: float, eos_bias: float, max_length_ratio: float = 2.0) -> None:
        sizes = Sizes(vocabulary, vocabulary, embedding=16, encoder=12, decoder=24, attention=8, readout=16)
        weights = random_weights(sizes, seed=1, scale=scale)
        bias = weights["output.bias"].copy()
        bias[EOS] += eos_bias
        weights = ModelWeights(sizes, {**weights.arrays, "output.bias": bias})
        actors = [random_actor(name, UNITS, sizes, seed=seed, scale=scale) for seed, name in enumerate(("one", "two"))]
        self.encoder, self.step = (
            build(weights, actors, "int8").SerializeToString() for build in (build_encoder, build_step)
        )
        self.shape = ModelShape(
            source_vocabulary=vocabulary,
            target_vocabulary=vocabulary,
            state=sizes.decoder,
            key=sizes.attention,
            values=3 * sizes.decoder + sizes.readout + 2 * UNITS,
            actor_units=2 * UNITS,
            units_of_actors=((0, UNITS), (UNITS, 2 * UNITS)),
            pad_id=0,
            bos_id=2,
            eos_id=EOS,
            max_source_tokens=60,
            max_length=int(100 * max_length_ratio),
            max_length_ratio=max_length_ratio,
            max_length_extra=20,
        )

    def engine(self, settings: EngineSettings | None = None, **options: Any) -> Engine:
        settings = settings or EngineSettings()
        encoder, step = open_session(self.encoder, 1), open_session(self.step, 1)
        return Engine(encoder, step, self.shape, settings, **options)

    def sources(self, count: int, seed: int = 0, longest: int = 59) -> list[tuple[int, ...]]:
        """Random sentences of 1 to `longest` tokens and eos, short ones more often."""
        generator = np.random.default_rng(seed)
        lengths = 1 + (generator.random(count) ** 2 * longest).astype(int)
        return [(*generator.integers(4, self.shape.source_vocabulary, length).tolist(), EOS) for length in lengths]


@pytest.fixture(scope="session")
def model() -> RandomModel:
    """Outputs from 1 token to the length bound."""
    return RandomModel(vocabulary=60, scale=1.0, eos_bias=5.0)


@pytest.fixture(scope="session")
def endless_model() -> RandomModel:
    """Never says eos, and has a far length bound: a job of 51 tokens runs for some tenths of a second."""
    return RandomModel(vocabulary=60, scale=1.0, eos_bias=-1000.0, max_length_ratio=40.0)


@pytest.fixture
def endless_engine(endless_model: RandomModel) -> Iterator[Engine]:
    engine = endless_model.engine()
    engine.start()
    yield engine
    asyncio.run(engine.close(drain=False))


@pytest.fixture
def engine(model: RandomModel) -> Iterator[Engine]:
    engine = model.engine()
    engine.start()
    yield engine
    asyncio.run(engine.close(drain=False))
