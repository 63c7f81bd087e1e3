"""From a folder to a pair that can be served, or to the reason why not.

    manifest ─► sizes and checksums ─► graphs ─► tokeniser ─► engine ─► golden replay, self-test ─► LoadedPair

Nothing is served that has not passed all of it.
"""

import asyncio
import ctypes
import hashlib
import logging
from dataclasses import dataclass, replace
from pathlib import Path

from service.bundle.errors import BundleRefused
from service.bundle.golden import GoldenExample, GoldenMismatch, parse_golden, replay
from service.bundle.graphs import encoder_signature, model_shape, open_graph, step_signature
from service.bundle.manifest import GOLDEN_NAME, Manifest, read_manifest
from service.engine.engine import Engine
from service.engine.types import EngineSettings
from service.text.lexicon import NO_LEXICON, Lexicon
from service.text.tokeniser import Tokeniser

logger = logging.getLogger(__name__)

LOADED_FILES = ("encoder.onnx", "step.onnx", GOLDEN_NAME)


@dataclass(frozen=True, slots=True, eq=False)
class LoadedPair:
    """A bundle in service."""

    folder: Path
    manifest: Manifest
    engine: Engine
    tokeniser: Tokeniser
    lexicon: Lexicon = NO_LEXICON

    @property
    def pair(self) -> tuple[str, str]:
        return self.manifest.pair


def load_bundle(folder: Path, settings: EngineSettings | None = None) -> LoadedPair:
    """Load and check a bundle; its engine is running.  Blocks for a second or so: call it off the event loop."""
    settings = settings or EngineSettings()
    manifest = read_manifest(folder)
    if folder.name != f"{manifest.source}-{manifest.target}":
        raise BundleRefused(
            folder, f"it translates {manifest.source} to {manifest.target}: rename the folder to match, or export again"
        )
    contents = _read_files(folder, manifest)
    try:
        examples = parse_golden(contents[GOLDEN_NAME])
    except GoldenMismatch as error:
        raise BundleRefused(folder, f"{GOLDEN_NAME}: {error}") from None
    tokeniser = _open_tokeniser(folder, manifest, examples)
    lexicon = _read_lexicon(folder, manifest, contents)
    sessions = [
        open_graph(folder, name, contents.pop(name), signature(manifest.sizes), settings.threads)
        for name, signature in (("encoder.onnx", encoder_signature), ("step.onnx", step_signature))
    ]
    for attempt in (settings, replace(settings, rows_together=False)):
        engine = Engine(sessions[0], sessions[1], model_shape(manifest), attempt, name=f"engine-{folder.name}")
        if _passes(folder, engine, manifest, examples):
            _return_free_memory()
            return LoadedPair(folder, manifest, engine, tokeniser, lexicon)
        logger.warning(
            "%s: on this processor a row's bits depend on its batch; rows will be decoded one by one, which is slower",
            folder.name,
        )
    raise BundleRefused(folder, "the same sentence gives different answers when it is decoded twice")


def _read_files(folder: Path, manifest: Manifest) -> dict[str, bytes]:
    """Compare every file with the manifest; return the contents of those that are loaded from memory."""
    contents: dict[str, bytes] = {}
    for name, facts in manifest.files.items():
        try:
            content = (folder / name).read_bytes()
        except OSError as error:
            raise BundleRefused(folder, f"{name} cannot be read: {error.strerror}") from None
        if len(content) != facts.bytes:
            raise BundleRefused(
                folder,
                f"{name} has {len(content)} bytes and should have {facts.bytes}: an incomplete copy, or it was changed",
            )
        if hashlib.sha256(content).hexdigest() != facts.sha256:
            raise BundleRefused(folder, f"{name} does not have the checksum in the manifest: copy or export it again")
        if name in LOADED_FILES or name == manifest.known_words:
            contents[name] = content
    return contents


def _open_tokeniser(folder: Path, manifest: Manifest, examples: list[GoldenExample]) -> Tokeniser:
    try:
        tokeniser = Tokeniser(
            folder / manifest.tokenizer.source,
            folder / manifest.tokenizer.target,
            manifest.special_ids.eos,
            manifest.learnt_by_bytes,
            has_spaced_openings=manifest.spaced_openings,
        )
    except Exception as error:  # sentencepiece raises bare RuntimeError and OSError
        raise BundleRefused(folder, f"the tokeniser cannot be opened: {error}") from error
    for example in examples:
        ids = tokeniser.encode(example.text)
        if tuple(ids) != example.source_ids:
            raise BundleRefused(
                folder, f"{GOLDEN_NAME}: {example.text!r} becomes {list(ids)}, not {list(example.source_ids)}"
            )
    return tokeniser


def _read_lexicon(folder: Path, manifest: Manifest, contents: dict[str, bytes]) -> Lexicon:
    if manifest.known_words is None:
        return NO_LEXICON
    try:
        return Lexicon.parse(contents.pop(manifest.known_words))
    except ValueError as error:  # UnicodeDecodeError is one
        raise BundleRefused(folder, f"{manifest.known_words}: {error}") from None


def _passes(folder: Path, engine: Engine, manifest: Manifest, examples: list[GoldenExample]) -> bool:
    """Start the engine and replay the examples; close it again unless the replay went well."""
    engine.start()
    is_served = False
    try:
        is_served = asyncio.run(replay(engine, manifest, examples))
    except GoldenMismatch as error:
        raise BundleRefused(folder, f"{GOLDEN_NAME}: {error}") from None
    finally:
        if not is_served:
            asyncio.run(engine.close(drain=False))
    return is_served


def _return_free_memory() -> None:
    """Give back what onnxruntime used to optimise the graphs; glibc would keep it, tens of megabytes a bundle."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
