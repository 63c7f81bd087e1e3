"""Small bundles of random weights, written by hand: the exporter's graphs, a tokeniser, golden examples."""

import asyncio
import hashlib
import io
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from service.bundle.graphs import model_shape
from service.bundle.manifest import Manifest
from service.engine.engine import Engine
from service.engine.sessions import open_session
from service.engine.types import Job
from training.export.encoder import build_encoder
from training.export.step import build_step
from training.export.weights import ModelWeights, Sizes, random_actor, random_weights

SENTENCES = ["the cat sat", "a dog ran home", "the dog saw the cat", "we saw a small house", "home", "a cat ran"]
VOCABULARY = 60
UNITS = 4
WriteBundle = Callable[..., Path]


def train_tokeniser() -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 20),
        model_writer=model,
        vocab_size=VOCABULARY,
        model_type="bpe",
        hard_vocab_limit=False,
        pad_id=0,
        unk_id=1,
        bos_id=2,
        eos_id=3,
        minloglevel=2,
        num_threads=1,
    )
    return model.getvalue()


def base_manifest(vocabulary: int, sizes: Sizes) -> dict[str, Any]:
    return {
        "format": 1,
        "name": "xa-xb",
        "version": "1.0.0",
        "created": "2026-01-31T12:00:00Z",
        "source": "xa",
        "target": "xb",
        "special_ids": {"pad": 0, "unk": 1, "bos": 2, "eos": 3},
        "sizes": {
            "source_vocabulary": vocabulary,
            "target_vocabulary": vocabulary,
            "state": sizes.decoder,
            "key": sizes.attention,
            "values": 3 * sizes.decoder + sizes.readout + UNITS,
            "actor_units": UNITS,
            "parameters": 1000,
        },
        "tokenizer": {"source": "tokenizer.model", "target": "tokenizer.model"},
        "quantisation": {"kind": "int8", "weight_bits": 7, "activations": "fixed"},
        "decoding": {
            "max_length_ratio": 2.0,
            "max_length_extra": 20,
            "max_length": 200,
            "max_source_tokens": 40,
            "beam_size": 3,
            "length_alpha": 1.0,
            "npad_samples": 3,
            "npad_sigma": 0.3,
        },
        "calibration": {"slope": 1.0, "intercept": 2.0, "meaning": "nothing", "fitted_on": "nothing"},
        "default_objective": None,
        "actors": [
            {"name": "bleu", "objective": "bleu", "optimises": "", "method": "", "units": [0, UNITS], "gains": []}
        ],
        "scores": [],
        "files": {},
        "provenance": {"config": "none"},
    }


class BundleKit:
    """The parts of a good bundle, in memory."""

    def __init__(self, seed: int) -> None:
        tokeniser_model = train_tokeniser()
        self.tokeniser = sentencepiece.SentencePieceProcessor(model_proto=tokeniser_model)
        vocabulary = self.tokeniser.vocab_size()
        sizes = Sizes(vocabulary, vocabulary, embedding=8, encoder=8, decoder=16, attention=8, readout=8)
        weights = random_weights(sizes, seed=seed, scale=1.0)
        bias = weights["output.bias"].copy()
        bias[3] += 4.0
        weights = ModelWeights(sizes, {**weights.arrays, "output.bias": bias})
        actors = [random_actor("bleu", UNITS, sizes, seed=seed, scale=1.0)]
        self.manifest = base_manifest(vocabulary, sizes)
        self.files = {
            "tokenizer.model": tokeniser_model,
            "encoder.onnx": build_encoder(weights, actors, "int8").SerializeToString(),
            "step.onnx": build_step(weights, actors, "int8").SerializeToString(),
        }
        self.files["golden.jsonl"] = asyncio.run(self._golden())

    async def _golden(self) -> bytes:
        manifest = Manifest.model_validate({**self.manifest, "files": facts({**self.files, "golden.jsonl": b""})})
        sessions = [open_session(self.files[name], 1) for name in ("encoder.onnx", "step.onnx")]
        engine = Engine(sessions[0], sessions[1], model_shape(manifest))
        engine.start()
        lines = []
        for text in SENTENCES:
            job = Job((*self.tokeniser.encode(text), 3), (0.0,), has_guard=False)
            for objective, gains in ((None, (0.0,)), ("bleu", (1.0,))):
                best = (await engine.submit(replace(job, gains=gains))).best
                lines.append(
                    {
                        "text": text,
                        "source_ids": job.source_ids,
                        "decoder": "greedy",
                        "objective": objective,
                        "output_ids": best.ids,
                        "output": self.tokeniser.decode(list(best.ids)),
                        "score": best.score,
                    }
                )
        await engine.close()
        return "".join(json.dumps(line) + "\n" for line in lines).encode()


def facts(files: dict[str, bytes]) -> dict[str, dict[str, Any]]:
    return {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)} for name, content in files.items()
    }


@pytest.fixture(scope="session")
def kits() -> dict[int, BundleKit]:
    """Bundles of two random models, by seed."""
    return {seed: BundleKit(seed) for seed in (1, 2)}


@pytest.fixture
def models_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    return folder


@pytest.fixture
def write_bundle(models_dir: Path, kits: dict[int, BundleKit]) -> WriteBundle:
    """Write a bundle as the exporter does: under a hidden name, then renamed over what is there."""

    def write(
        source: str = "xa",
        target: str = "xb",
        *,
        seed: int = 1,
        contents: dict[str, bytes] | None = None,
        **changes: Any,
    ) -> Path:
        kit = kits[seed]
        files = {**kit.files, **(contents or {})}
        name = f"{source}-{target}"
        manifest = {
            **kit.manifest,
            "name": name,
            "source": source,
            "target": target,
            "files": facts(files),
            **changes,
        }
        partial, folder, aside = models_dir / ".partial", models_dir / name, models_dir / ".aside"
        partial.mkdir()
        for file_name, content in files.items():
            (partial / file_name).write_bytes(content)
        (partial / "manifest.json").write_text(json.dumps(manifest))
        if folder.exists():
            folder.rename(aside)
        partial.rename(folder)
        shutil.rmtree(aside, ignore_errors=True)
        return folder

    return write
