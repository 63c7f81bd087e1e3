"""One model, two decoders: what the service's engine answers is what the offline half found when it was evaluated."""

import asyncio
from collections.abc import Iterator

import pytest
import torch

from service.engine.engine import Engine
from service.engine.sessions import open_session
from service.engine.shape import ModelShape
from service.engine.types import Beam, Decoder, Greedy, Hypothesis, Job
from training.decoding.beam import BeamSettings, beam
from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.export.encoder import build_encoder
from training.export.step import build_step
from training.export.weights import actor_weights, model_weights
from training.nmt.model import ModelSizes, TranslationModel
from training.policy.actor import PlainActor

VOCABULARY, UNITS, EOS = 50, 6, 3
LIMITS = LengthLimits(ratio=2.0, extra=10, maximum=60)


class Pair:
    """A random torch model with an actor, and an engine on its fp32 export."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(0)
        sizes = ModelSizes(VOCABULARY, VOCABULARY, embedding=12, encoder=10, decoder=20, attention=8, readout=12)
        self.model = TranslationModel(sizes).eval()
        self.actor = PlainActor(state=20, annotation=20, embedding=12, hidden=UNITS, sees_previous_word=True).eval()
        with torch.no_grad():
            for parameter in (*self.model.parameters(), *self.actor.parameters()):
                parameter.copy_(0.4 * torch.randn(parameter.shape, generator=generator))
            # Decided words from calm states: the bundle rounds its tables to 16 bits, and chaos would amplify that.
            self.model.get_parameter("output.weight").mul_(4.0)
            self.model.get_parameter("output.bias")[EOS] += 10.0
        weights = model_weights({name: value.numpy() for name, value in self.model.state_dict().items()})
        state = {name: value.numpy() for name, value in self.actor.state_dict().items()}
        actors = [actor_weights("actor", state, weights.sizes)]
        encoder, step = (build(weights, actors, "fp32").SerializeToString() for build in (build_encoder, build_step))
        shape = ModelShape(
            source_vocabulary=VOCABULARY,
            target_vocabulary=VOCABULARY,
            state=20,
            key=8,
            values=3 * 20 + 12 + UNITS,
            actor_units=UNITS,
            units_of_actors=((0, UNITS),),
            pad_id=0,
            bos_id=2,
            eos_id=EOS,
            max_source_tokens=40,
            max_length=LIMITS.maximum,
            max_length_ratio=LIMITS.ratio,
            max_length_extra=LIMITS.extra,
        )
        self.engine = Engine(open_session(encoder, 1), open_session(step, 1), shape)
        lengths = torch.randint(1, 25, (60,), generator=generator).tolist()
        self.sources = [
            [*torch.randint(4, VOCABULARY, (length,), generator=generator).tolist(), EOS] for length in lengths
        ]

    def served(self, decoder: Decoder, gain: float) -> list[tuple[Hypothesis, ...]]:
        jobs = [Job(tuple(source), (gain,), decoder, has_guard=False) for source in self.sources]
        return [output.hypotheses for output in asyncio.run(self.engine.submit_all(jobs))]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    pair = Pair()
    pair.engine.start()
    yield pair
    asyncio.run(pair.engine.close())


def assert_agree(offline: list, served: list) -> None:
    """Equal words and flags, and log-probabilities up to rounding, for all but the rare near-tie."""
    assert len(offline) == len(served)
    differing = sum(ours.ids != theirs.ids for ours, theirs in zip(served, offline, strict=True))
    assert differing <= len(offline) // 50
    for ours, theirs in zip(served, offline, strict=True):
        if ours.ids == theirs.ids:
            assert ours.is_truncated == theirs.is_truncated
            assert ours.token_log_probabilities == pytest.approx(theirs.token_log_probabilities, abs=0.005)


@pytest.mark.parametrize("gain", [0.0, 1.0])
def test_greedy_agrees(pair, gain: float) -> None:
    offline = greedy(pair.model, pair.sources, limits=LIMITS, actor=pair.actor if gain else None)
    assert_agree(offline, [hypotheses[0] for hypotheses in pair.served(Greedy(), gain)])


@pytest.mark.parametrize("gain", [0.0, 1.0])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_every_hypothesis_of_beam_search_agrees(pair, gain: float, alpha: float) -> None:
    settings = BeamSettings(beam_size=5, length_alpha=alpha, n_best=5)
    actor = pair.actor if gain else None
    offline = beam(pair.model, pair.sources, limits=LIMITS, settings=settings, actor=actor)
    served = pair.served(Beam(size=5, alternatives=5, length_alpha=alpha), gain)
    assert [len(found) for found in served] == [len(found) for found in offline]
    assert_agree([one for found in offline for one in found], [one for found in served for one in found])
