"""The gates let a true export through and stop a false one."""

from dataclasses import replace

import numpy as np
import pytest

from training.decoding.hypothesis import LengthLimits
from training.errors import ExportError
from training.evaluation.metrics import References
from training.export.graph import build_graphs
from training.export.parity import (
    Measured,
    TorchActor,
    check_against_torch,
    check_quantised,
    first_difference,
    measure,
)
from training.export.sessions import BundleSessions
from training.export.weights import model_weights, random_actor, unit_ranges

LIMITS = LengthLimits(ratio=1.0, extra=5, maximum=30)


@pytest.fixture(scope="module")
def sources():
    generator = np.random.default_rng(8)
    return [[*generator.integers(4, 53, generator.integers(1, 14)).tolist(), 3] for _ in range(500)]


def test_true_export_gives_torchs_words_on_500_sentences(torch_model, sessions, sources):
    result = check_against_torch(torch_model, sessions("fp32"), sources, LIMITS)
    assert result.sentences == 500
    assert result.identical + result.ties == 500
    assert result.identical >= 498
    assert result.largest_difference < 1e-4


def test_true_export_gives_torchs_words_with_an_actor(torch_model, sessions, actors, sources):
    units = unit_ranges(actors)["second"]
    result = check_against_torch(torch_model, sessions("fp32"), sources[:100], LIMITS, TorchActor(actors[1]), units)
    assert result.identical + result.ties == 100


def test_graph_of_other_weights_is_stopped(torch_model, model, sources):
    changed = dict(model.arrays)
    changed["readout.bias"] = changed["readout.bias"] + 0.01
    other = BundleSessions(build_graphs(model_weights(changed), [], "fp32"))
    with pytest.raises(ExportError, match="log-probabilities differ from torch"):
        check_against_torch(torch_model, other, sources[:20], LIMITS)


def test_actor_applied_to_the_wrong_units_is_stopped(torch_model, sessions, actors, sources):
    with pytest.raises(ExportError, match="second: the graphs' log-probabilities differ"):
        check_against_torch(torch_model, sessions("fp32"), sources, LIMITS, TorchActor(actors[1]), (0, 6), "second")


def test_other_words_are_stopped_even_if_the_first_probabilities_agree(torch_model, sessions, sources):
    """Graphs that are right for the sentences whose probabilities are compared, and wrong later."""

    class Forgetful(BundleSessions):
        def greedy(self, *arguments, **options):
            outputs = super().greedy(*arguments, **options)
            return [*outputs[:-1], replace(outputs[-1], ids=(7, *outputs[-1].ids[1:]), margins=(1.0,) * 40)]

    with pytest.raises(ExportError, match="1 of 40 sentences come out differently"):
        check_against_torch(torch_model, Forgetful(sessions("fp32").graphs), sources[:40], LIMITS)


@pytest.mark.parametrize(
    ("ids", "others", "step"), [((1, 2, 3), (1, 9, 3), 1), ((1, 2), (1, 2, 3), 2), ((), (4,), 0), ((5, 6), (5,), 1)]
)
def test_first_difference_is_the_step_where_two_outputs_part(ids, others, step):
    assert first_difference(ids, others) == step


def measured(wrong: int, sentences: int = 200) -> Measured:
    """Outputs of a decoder that gets so many sentences wrong; each costs 0.5 BLEU of 200."""
    references = [f"{index} a b c d e" for index in range(sentences)]
    outputs = ["x y z u v w" if index < wrong else text for index, text in enumerate(references)]
    return Measured([], outputs, References(references).measure(outputs, [[-1.0]] * sentences))


def test_int8_that_is_equal_or_better_passes():
    check_quantised({"greedy": measured(wrong=20)}, {"greedy": measured(wrong=20)})
    check_quantised({"greedy": measured(wrong=20)}, {"greedy": measured(wrong=0)})


def test_int8_that_loses_more_than_chance_is_stopped_with_the_decoder_named():
    assert measured(20).scores.bleu == pytest.approx(90.0)
    with pytest.raises(ExportError, match=r"\(bleu: 100\.00 in fp32, 90\.00 in int8\)"):
        check_quantised({"greedy": measured(9), "bleu": measured(0)}, {"greedy": measured(9), "bleu": measured(20)})


def test_one_flipped_sentence_of_a_small_set_is_chance():
    check_quantised({"greedy": measured(9)}, {"greedy": measured(10)})


def test_measured_bleu_of_the_references_themselves_is_100(sessions, sources):
    outputs = sessions("fp32").greedy(sources[:20], LIMITS)
    texts = [" ".join(map(str, output.ids)) for output in outputs]
    found = measure(sessions("fp32"), sources[:20], References(texts), lambda ids: " ".join(map(str, ids)), LIMITS)
    assert found.scores.bleu == pytest.approx(100.0)
    assert found.texts == texts


def test_state_range_grows_with_the_actors_actions(torch_model, model, sources, sessions):
    ranges = []
    for scale in (0.0, 0.3):
        actor = random_actor("strong", 6, model.sizes, seed=1, scale=scale)
        probe = TorchActor(actor)
        bundle = BundleSessions(build_graphs(model, [actor], "fp32"))
        check_against_torch(torch_model, bundle, sources[:40], LIMITS, probe, (0, 6))
        ranges.append(probe.state_range())
    assert ranges[0] == 1.0
    assert ranges[1] > 1.5
