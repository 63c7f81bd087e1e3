from typing import Any

import pytest

from service.bundle.errors import BundleRefused
from service.bundle.manifest import Calibration, read_manifest


def reason(write_bundle, **changes: Any) -> str:
    with pytest.raises(BundleRefused) as refused:
        read_manifest(write_bundle(**changes))
    return refused.value.reason


def test_a_good_manifest_says_what_it_says(write_bundle) -> None:
    manifest = read_manifest(write_bundle())
    assert manifest.pair == ("xa", "xb")
    assert manifest.actor_index("bleu") == 0
    assert manifest.actor_index("chrf") is None
    assert manifest.decoding.max_source_tokens == 40


def test_every_problem_is_reported_at_once(write_bundle) -> None:
    given = reason(write_bundle, version=3, actors="none", surprise=True)
    assert "version: " in given
    assert "actors: " in given
    assert "surprise: " in given


def actor(name: str, start: int, stop: int) -> dict[str, Any]:
    return {"name": name, "objective": name, "units": [start, stop]}


@pytest.mark.parametrize(
    ("actors", "problem"),
    [
        ([actor("one", 0, 2), actor("one", 2, 4)], "actors share a name"),
        ([actor("one", 0, 3), actor("two", 2, 4)], "units 2-4 of actor 'two' do not fit"),
        ([actor("one", 0, 5)], "units 0-5 of actor 'one' do not fit"),
        ([actor("one", 2, 2)], "units 2-2 of actor 'one' do not fit"),
    ],
)
def test_actors_must_fit(write_bundle, actors: list[dict[str, Any]], problem: str) -> None:
    assert problem in reason(write_bundle, actors=actors)


def test_the_default_objective_must_exist(write_bundle) -> None:
    assert "default_objective 'chrf' is not one of the actors ['bleu']" in reason(
        write_bundle, default_objective="chrf"
    )


def test_needed_files_must_be_listed(write_bundle) -> None:
    given = reason(write_bundle, files={})
    for name in ("encoder.onnx", "step.onnx", "golden.jsonl", "tokenizer.model"):
        assert f"files lacks {name}" in given


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/b", ".hidden"])
def test_files_outside_the_bundle_are_refused(write_bundle, name: str) -> None:
    assert "tokenizer.source" in reason(write_bundle, tokenizer={"source": name, "target": "tokenizer.model"})


def test_special_ids_must_be_in_the_vocabulary(write_bundle) -> None:
    special = {"pad": 0, "unk": 1, "bos": 2, "eos": 10_000}
    assert "special id eos = 10000 is outside the vocabulary" in reason(write_bundle, special_ids=special)


def test_confidence_is_the_logistic_of_the_score() -> None:
    calibration = Calibration(slope=2.0, intercept=1.0)
    assert calibration.confidence(-0.5) == 0.5
    assert calibration.confidence(0.0) == pytest.approx(0.7310586)
    assert calibration.confidence(-1e9) == pytest.approx(0.0)
