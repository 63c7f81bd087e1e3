"""Subwords by sentencepiece: BPE with byte fallback, everything inside the one model file.

**Every text round-trips**: `decode(encode(text)) == text` for any string of Unicode scalar values, character by
character: emoji, unknown scripts, combining marks, tabs, newlines, leading, trailing and repeated spaces, U+0000.
What makes it so:

- No Unicode normalisation (NFKC would turn "ﬁ" into "fi" and "²" into "2"), and no squeezing of spaces.
- A character without a symbol of its own is spelt as its UTF-8 bytes, so there is no unknown word.
- sentencepiece writes a space as "▁" (U+2581), so a "▁" in the text would come back as a space.  A normalisation
  rule in the model file escapes it: ▁ becomes U+E000 U+E001 and U+E000 becomes U+E000 U+E002; the
  denormalisation rule beside it undoes this.

Digits are separate subwords, so that numbers are copied and not learnt one by one.

A model file may say that it has spaced openings (see `training.tokenizer.openings`); all that reads it then does so.
"""

import io
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from training.corpus.cache import BOS, EOS, PAD, UNK
from training.errors import TokenizerError
from training.tokenizer.openings import spaced, unspaced

# sentencepiece's rule files: code points in hexadecimal, what is read TAB what is written.
ESCAPE_RULES = "2581\tE000 E001\nE000\tE000 E002\n"
UNESCAPE_RULES = "E000 E001\t2581\nE000 E002\tE000\n"

LONGEST_TRAINING_SENTENCE_BYTES = 8192

# The name of the normalisation in a model file, which sentencepiece does not look at.
SPACED_OPENINGS = "spaced-openings"


class Subwords:
    """A subword model: text to ids and back."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor, has_spaced_openings: bool = False) -> None:
        self._processor = processor
        self.has_spaced_openings = has_spaced_openings

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model file; raise `TokenizerError` when it is missing, broken or has other special ids than ours."""
        if not path.is_file():
            raise TokenizerError(f"{path}: no such subword model; run `nudge-train prepare` first")
        return cls.parse(path.read_bytes(), name=str(path))

    @classmethod
    def parse(cls, model: bytes, name: str = "subword model") -> Self:
        """The same from the contents of a model file."""
        processor = sentencepiece.SentencePieceProcessor()
        try:
            processor.load_from_serialized_proto(model)
        except (OSError, RuntimeError) as error:
            raise TokenizerError(f"{name}: not a sentencepiece model ({error})") from None
        special = (processor.pad_id(), processor.unk_id(), processor.bos_id(), processor.eos_id())
        if special != (PAD, UNK, BOS, EOS):
            raise TokenizerError(
                f"{name}: its pad, unk, bos and eos are {special}, not {(PAD, UNK, BOS, EOS)}; "
                "learn the subwords with `nudge-train prepare`"
            )
        return cls(processor, _parse(model).normalizer_spec.name == SPACED_OPENINGS)

    def __len__(self) -> int:
        """Return the size of the vocabulary."""
        return int(self._processor.get_piece_size())

    def byte_of(self, id: int) -> int | None:
        """Return the byte that a subword stands for, None for any other subword."""
        return int(self._processor.id_to_piece(id)[3:-1], 16) if self._processor.is_byte(id) else None

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`, without bos and eos."""
        return list(self._processor.encode(self._read(text)))

    def encode_many(self, texts: Sequence[str], threads: int = 1) -> list[list[int]]:
        """Return `encode` of each text."""
        return list(self._processor.encode([self._read(text) for text in texts], num_threads=threads))

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of `ids`; special ids have no text."""
        text = str(self._processor.decode([int(id) for id in ids]))
        return unspaced(text) if self.has_spaced_openings else text

    def decode_many(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Return `decode` of each sequence."""
        return [self.decode(ids) for ids in sequences]

    def piece(self, id: int) -> str:
        """Return the subword of one id as a string; "▁" at its start begins a word."""
        return str(self._processor.id_to_piece(int(id)))

    def spelling_pieces(self) -> dict[str, int]:
        """Return the ids of the subwords that spell text by their own letters: neither special ids nor bytes."""
        special = {PAD, UNK, BOS, EOS}
        return {self.piece(id): id for id in range(len(self)) if id not in special and self.byte_of(id) is None}

    def pieces(self, text: str) -> list[str]:
        """Return the subwords of `text` as strings, for people to look at."""
        return list(self._processor.encode(self._read(text), out_type=str))

    def _read(self, text: str) -> str:
        return spaced(text) if self.has_spaced_openings else text


def learn_subwords(
    sentences: Iterable[str],
    path: Path,
    *,
    vocabulary: int,
    character_coverage: float = 0.9995,
    threads: int = 1,
    spaced_openings: bool = False,
) -> Subwords:
    """Learn at most `vocabulary` subwords from `sentences` and write the model file, the same one for the same input.

    A small corpus may not have that many different subwords; the model is then smaller, never padded.
    """
    model = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        escape, unescape = Path(folder, "escape.tsv"), Path(folder, "unescape.tsv")
        escape.write_text(ESCAPE_RULES, encoding="ascii")
        unescape.write_text(UNESCAPE_RULES, encoding="ascii")
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=map(spaced, sentences) if spaced_openings else iter(sentences),
                model_writer=model,
                model_type="bpe",
                vocab_size=vocabulary,
                hard_vocab_limit=False,
                character_coverage=character_coverage,
                byte_fallback=True,
                split_digits=True,
                pad_id=PAD,
                unk_id=UNK,
                bos_id=BOS,
                eos_id=EOS,
                normalization_rule_tsv=str(escape),
                denormalization_rule_tsv=str(unescape),
                remove_extra_whitespaces=False,
                max_sentence_length=LONGEST_TRAINING_SENTENCE_BYTES,
                num_threads=threads,
                minloglevel=2,
            )
        except (OSError, RuntimeError) as error:
            raise TokenizerError(
                f"sentencepiece could not learn {vocabulary} subwords: {_last_line(error)}\n"
                "The vocabulary must hold 4 special ids, 256 bytes and every character of the corpus: "
                "raise tokenizer.vocabulary, lower tokenizer.character_coverage, or give it more text"
            ) from None
    finished = _without_traces(model.getvalue())
    _write(path, with_spaced_openings(finished) if spaced_openings else finished)
    return Subwords.load(path)


def space_openings(path: Path) -> Subwords:
    """Let the subwords of a model file, learnt without, have spaced openings from now on."""
    _write(path, with_spaced_openings(path.read_bytes()))
    return Subwords.load(path)


def with_spaced_openings(serialized: bytes) -> bytes:
    """Return the model with the mark that says so."""
    model = _parse(serialized)
    model.normalizer_spec.name = SPACED_OPENINGS
    return bytes(model.SerializeToString(deterministic=True))


def _write(path: Path, model: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    partial.write_bytes(model)
    partial.replace(path)


def _parse(serialized: bytes) -> "sentencepiece_model_pb2.ModelProto":  # type: ignore[name-defined]
    return sentencepiece_model_pb2.ModelProto.FromString(serialized)  # type: ignore[attr-defined]


def _without_traces(serialized: bytes) -> bytes:
    """Return the model without the names of temporary files and the number of threads, which change nothing."""
    model = _parse(serialized)
    model.normalizer_spec.ClearField("normalization_rule_tsv")
    model.denormalizer_spec.ClearField("normalization_rule_tsv")
    model.trainer_spec.ClearField("num_threads")
    return bytes(model.SerializeToString(deterministic=True))


def _last_line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
