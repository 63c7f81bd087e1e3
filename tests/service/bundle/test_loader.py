import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from service.bundle import golden
from service.bundle.errors import BundleRefused
from service.bundle.loader import LoadedPair, load_bundle
from service.engine.types import Job


@contextmanager
def loaded(folder: Path) -> Iterator[LoadedPair]:
    pair = load_bundle(folder)
    try:
        yield pair
    finally:
        asyncio.run(pair.engine.close())


def refusal(folder: Path) -> str:
    with pytest.raises(BundleRefused) as refused:
        load_bundle(folder)
    assert refused.value.path == folder
    return refused.value.reason


def test_a_good_bundle_is_loaded_and_translates(write_bundle, kits) -> None:
    with loaded(write_bundle()) as pair:
        assert pair.pair == ("xa", "xb")
        first = json.loads(kits[1].files["golden.jsonl"].splitlines()[0])
        output = asyncio.run(pair.engine.submit(Job(pair.tokeniser.encode(first["text"]), (0.0,), has_guard=False)))
        assert list(output.best.ids) == first["output_ids"]


def test_a_bundle_with_wrong_checksum_is_refused(write_bundle, kits) -> None:
    folder = write_bundle()
    changed = bytearray(kits[1].files["step.onnx"])
    changed[len(changed) // 2] ^= 1
    (folder / "step.onnx").write_bytes(bytes(changed))
    assert refusal(folder) == "step.onnx does not have the checksum in the manifest: copy or export it again"


def test_a_truncated_file_is_refused(write_bundle, kits) -> None:
    folder = write_bundle()
    size = len(kits[1].files["encoder.onnx"])
    (folder / "encoder.onnx").write_bytes(kits[1].files["encoder.onnx"][:-7])
    assert refusal(folder).startswith(f"encoder.onnx has {size - 7} bytes and should have {size}")


def test_a_missing_file_is_refused(write_bundle) -> None:
    folder = write_bundle()
    (folder / "tokenizer.model").unlink()
    assert refusal(folder) == "tokenizer.model cannot be read: No such file or directory"


def with_words(folder: Path, content: bytes) -> Path:
    (folder / "known_words.txt").write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["known_words"] = "known_words.txt"
    manifest["files"]["known_words.txt"] = {"sha256": sha256(content).hexdigest(), "bytes": len(content)}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_a_bundle_says_which_words_its_model_knows(write_bundle) -> None:
    with loaded(write_bundle()) as plain, loaded(with_words(plain.folder, b"cat\n")) as pair:
        assert not plain.lexicon.is_strange("Sheffield")
        assert pair.lexicon.is_strange("Sheffield")
        assert not pair.lexicon.is_strange("Cat")


def test_a_list_of_words_that_is_none_is_refused(write_bundle) -> None:
    reason = refusal(with_words(write_bundle(), b"cat\n\n"))
    assert reason == "known_words.txt: it must have a word on each line, and nothing else"


def test_a_missing_list_of_words_is_refused(write_bundle) -> None:
    folder = with_words(write_bundle(), b"cat\n")
    (folder / "known_words.txt").unlink()
    assert refusal(folder) == "known_words.txt cannot be read: No such file or directory"


def test_another_format_is_refused_before_anything_else_is_read(write_bundle) -> None:
    folder = write_bundle(format=2, sizes="of a future that we do not know")
    assert refusal(folder).startswith("the bundle has format 2, and this service reads format 1")


def test_a_manifest_that_is_not_json_is_refused(write_bundle) -> None:
    folder = write_bundle()
    (folder / "manifest.json").write_text('{"format": 1,')
    assert refusal(folder).startswith("manifest.json: ")


def test_a_folder_named_for_another_pair_is_refused(write_bundle, models_dir) -> None:
    folder = write_bundle().rename(models_dir / "de-en")
    assert refusal(folder).startswith("it translates xa to xb: rename the folder")


def test_a_graph_that_is_none_is_refused(write_bundle) -> None:
    assert refusal(write_bundle(contents={"step.onnx": b"not a graph"})).startswith("step.onnx is not a graph")


def test_a_graph_with_other_inputs_is_refused(write_bundle, kits) -> None:
    reason = refusal(write_bundle(contents={"step.onnx": kits[1].files["encoder.onnx"]}))
    assert "step.onnx does not fit the manifest" in reason
    assert "input previous_ids is missing" in reason
    assert "input source_ids is not known" in reason
    assert "output log_probabilities is missing" in reason


def test_sizes_that_are_not_the_graphs_are_refused(write_bundle, kits) -> None:
    reason = refusal(write_bundle(sizes={**kits[1].manifest["sizes"], "state": 17}))
    assert "output state is tensor(float) ['B', 16], not tensor(float) ['B', 17]" in reason


def test_a_tokeniser_that_is_none_is_refused(write_bundle) -> None:
    assert refusal(write_bundle(contents={"tokenizer.model": b"nonsense"})).startswith("the tokeniser cannot be opened")


def golden_with(kit, **changes: object) -> bytes:
    first, *rest = kit.files["golden.jsonl"].splitlines()
    return b"\n".join([json.dumps({**json.loads(first), **changes}).encode(), *rest])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"output_ids": [5, 5, 5]}, "not [5, 5, 5]"),
        ({"score": -9.0}, "-9.0000 ± 0.05 is expected"),
        ({"score": float("nan")}, "nan"),
        ({"objective": "chrf"}, "objective 'chrf', but the actors are ['bleu']"),
        ({"text": "a dog"}, "'a dog' becomes"),
        ({"decoder": "magic"}, "line 1: decoder"),
        ({"source_ids": [999, 3], "text": "the cat sat"}, "becomes"),
    ],
)
def test_a_golden_mismatch_is_refused(write_bundle, kits, changes: dict[str, object], reason: str) -> None:
    given = refusal(write_bundle(contents={"golden.jsonl": golden_with(kits[1], **changes)}))
    assert given.startswith("golden.jsonl: ")
    assert reason in given


def test_a_bundle_without_golden_examples_is_refused(write_bundle) -> None:
    assert "no examples" in refusal(write_bundle(contents={"golden.jsonl": b"\n"}))


def test_a_refused_bundle_leaves_no_thread_behind(write_bundle, kits) -> None:
    import threading

    before = threading.active_count()
    refusal(write_bundle(contents={"golden.jsonl": golden_with(kits[1], output_ids=[5])}))
    assert threading.active_count() == before


def test_where_batch_mates_change_bits_rows_are_decoded_one_by_one(write_bundle, monkeypatch, caplog) -> None:
    """Stands in for a processor that fails the self-test as long as rows share a call."""
    replay = golden.replay

    async def replay_on_odd_processor(engine, manifest, examples) -> bool:
        return await replay(engine, manifest, examples) and not engine.settings.rows_together

    monkeypatch.setattr("service.bundle.loader.replay", replay_on_odd_processor)
    with loaded(write_bundle()) as pair:
        assert not pair.engine.settings.rows_together
    assert "one by one" in caplog.text
