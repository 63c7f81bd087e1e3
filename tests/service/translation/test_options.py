"""What a caller asks for, and what it means for a bundle."""

import pytest

from service.bundle.manifest import read_manifest
from service.engine.types import Beam, Greedy, Npad
from service.errors import InvalidParameter, UnknownObjective
from service.translation.options import Blend, Options, decoder_of, gains_of, resolve_blend


@pytest.fixture(scope="module")
def manifest(toy_models):
    return read_manifest(toy_models / "xa-xb")


def blend(**weights: float) -> Blend:
    return Blend(tuple(weights.items()), is_default=False)


def test_gains_are_weights_times_strength_in_the_order_of_the_manifest(manifest):
    first, second = (actor.name for actor in manifest.actors[:2])
    gains = gains_of(blend(**{second: 0.3, first: 0.7}), 0.5, manifest)
    assert gains[:2] == pytest.approx((0.35, 0.15))
    assert not any(gains[2:])
    assert not any(gains_of(blend(), 1.0, manifest))


def test_a_caller_who_names_nothing_gets_the_default_of_the_bundle(manifest):
    named = manifest.model_copy(update={"default_objective": manifest.actors[0].name})
    assert str(resolve_blend(Options("xa", "xb"), named)) == manifest.actors[0].name
    plain = manifest.model_copy(update={"default_objective": None})
    assert str(resolve_blend(Options("xa", "xb"), plain)) == "none"
    assert str(resolve_blend(Options("xa", "xb", blend()), named)) == "none"


def test_an_objective_the_bundle_does_not_have_is_refused(manifest):
    with pytest.raises(UnknownObjective, match="xa-xb"):
        resolve_blend(Options("xa", "xb", blend(nonsense=1.0)), manifest)


@pytest.mark.parametrize(
    ("options", "decoder"),
    [
        (Options("xa", "xb"), Greedy()),
        (Options("xa", "xb", decoder="beam", beam_size=3), Beam(3, 1, 1.0)),
        (Options("xa", "xb", decoder="beam", alternatives=7), Beam(8, 8, 1.0)),
        (Options("xa", "xb", decoder="beam", largest_beam=2), Beam(2, 1, 1.0)),
        (Options("xa", "xb", decoder="npad", samples=4, alternatives=1), Npad(4, 0.3, 2)),
    ],
)
def test_sizes_come_from_the_caller_then_from_the_bundle(manifest, options, decoder):
    sizes = {"beam_size": 5, "length_alpha": 1.0, "npad_samples": 10, "npad_sigma": 0.3}
    decoding = manifest.decoding.model_copy(update=sizes)
    assert decoder_of(options, manifest.model_copy(update={"decoding": decoding})) == decoder


def test_more_alternatives_than_the_search_has_are_refused(manifest):
    with pytest.raises(InvalidParameter, match="at least 4"):
        decoder_of(Options("xa", "xb", decoder="beam", beam_size=3, alternatives=3), manifest)


@pytest.mark.parametrize(
    ("weights", "text", "label"),
    [
        ({}, "none", "none"),
        ({"bleu": 1.0}, "bleu", "bleu"),
        ({"bleu": 0.5}, "bleu:0.5", "bleu"),
        ({"bleu": 0.7, "chrf": 0.3}, "bleu:0.7,chrf:0.3", "blend"),
    ],
)
def test_a_blend_is_written_as_it_is_asked_for_and_labelled_from_a_small_set(weights, text, label):
    assert (str(blend(**weights)), blend(**weights).label) == (text, label)
