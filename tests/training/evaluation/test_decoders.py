import pytest
import torch

from training.config import Decoding
from training.decoding.beam import BeamSettings, beam
from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.decoding.npad import npad
from training.errors import EvaluationError
from training.evaluation.decoders import Decoder
from training.nmt.model import ModelSizes, TranslationModel


@pytest.mark.parametrize(
    ("name", "method", "size", "actor"),
    [
        ("greedy", "greedy", None, None),
        ("beam", "beam", None, None),
        ("beam:10", "beam", 10, None),
        ("npad:50", "npad", 50, None),
        ("actor:bleu", "greedy", None, "bleu"),
        ("greedy+actor:bleu", "greedy", None, "bleu"),
        ("beam+actor:bleu", "beam", None, "bleu"),
        ("beam:3+actor:my-own_2", "beam", 3, "my-own_2"),
    ],
)
def test_a_name_says_method_size_and_actor(name, method, size, actor):
    assert Decoder.parse(name) == Decoder(name, method, size, actor)


@pytest.mark.parametrize(
    "name",
    ["", "sampling", "beam:0", "beam:x", "greedy:5", "beam+", "+actor:a", "beam+npad", "actor:", "actor:a+actor:b",
     "beamactor:a", "actor:a+beam", "npad+actor:a"],
)  # fmt: skip
def test_other_names_are_refused_with_what_is_allowed(name):
    with pytest.raises(EvaluationError, match=r"allowed are greedy, beam, npad, actor:NAME"):
        Decoder.parse(name)


@pytest.fixture
def model() -> TranslationModel:
    torch.manual_seed(5)
    model = TranslationModel(ModelSizes(11, 9, 6, 5, 8, 4, 6))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    return model.eval()


def test_each_name_runs_its_decoder(model):
    sources = [[4 + i % 7, 4 + (i * i) % 5, *[5] * (i % 4), 3] for i in range(20)]
    settings = Decoding(
        max_length_extra=5, max_length=10, beam_size=3, length_alpha=0.5, npad_samples=4, npad_sigma=1.0
    )
    limits = LengthLimits.from_config(settings)

    def push(state, context, word):
        return 0.5 * torch.ones_like(state)

    def run(name, actor=None):
        return Decoder.parse(name).decode(model, sources, settings, actor)

    def search(size, actor=None):
        choices = BeamSettings(beam_size=size, length_alpha=0.5)
        return [best for [best] in beam(model, sources, limits=limits, settings=choices, actor=actor)]

    results = {
        "greedy": greedy(model, sources, limits=limits),
        "beam": search(3),
        "beam:6": search(6),
        "npad": npad(model, sources, limits=limits, samples=4, sigma=1.0),
        "actor:a": greedy(model, sources, limits=limits, actor=push),
        "beam+actor:a": search(3, push),
    }
    for name, expected in results.items():
        assert run(name, push if "actor" in name else None) == expected
    assert len({tuple(one.ids for one in outputs) for outputs in results.values()}) == len(results)
