"""Text to token ids and back, by the sentencepiece models of a bundle."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from sentencepiece import SentencePieceProcessor

from service.text.openings import spaced, unspaced, unspaced_pieces

# A model may spell any byte, also a line break in the middle of a sentence.
_UNWANTED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd]")
_OTHER_SPACE = re.compile(r"[^\S ]")


class Tokeniser:
    """The source side encodes, the target side decodes; the two may be one model."""

    def __init__(
        self,
        source_model: Path,
        target_model: Path,
        eos_id: int,
        learnt_by_bytes: str = "",
        *,
        has_spaced_openings: bool = False,
    ) -> None:
        self._source = SentencePieceProcessor(model_file=str(source_model))
        same = source_model == target_model
        self._target = self._source if same else SentencePieceProcessor(model_file=str(target_model))
        self._eos_id = eos_id
        self._is_known: dict[str, bool] = {}
        self._learnt_by_bytes = frozenset(learnt_by_bytes)
        self._has_spaced_openings = has_spaced_openings
        # A sentence is counted when it is cut out and encoded a moment later.
        self._source_ids = lru_cache(maxsize=512)(self._encode_source)

    def encode(self, sentence: str) -> tuple[int, ...]:
        """Ids of a source sentence, ending with eos."""
        return (*self._source_ids(sentence), self._eos_id)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of target ids, on one line; bytes that are not UTF-8 together stand for no character and are dropped."""
        text = _UNWANTED.sub("", str(self._target.decode(list(ids)))).strip()
        return unspaced(text) if self._has_spaced_openings else text

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The subwords behind target ids, with a space where a word begins.

        A character that is spelled in bytes is shown at the last of them.
        """
        pieces: list[str] = []
        spelled = b""
        for token in ids:
            piece = self._target.id_to_piece(token)
            if not self._target.is_byte(token):
                spelled = b""
                pieces.append(piece.replace("▁", " "))
                continue
            spelled += bytes([int(piece[3:-1], 16)])  # <0xE2>
            try:
                pieces.append(spelled.decode())
                spelled = b""
            except UnicodeDecodeError:
                pieces.append("")
        return unspaced_pieces(pieces) if self._has_spaced_openings else pieces

    def count(self, sentence: str) -> int:
        """Tokens of a source sentence, without eos."""
        return len(self._source_ids(sentence))

    def _encode_source(self, text: str) -> list[int]:
        """The model has learnt from composed text with plain spaces: some systems write ü as two characters."""
        text = _OTHER_SPACE.sub(" ", unicodedata.normalize("NFC", text))
        return list(self._source.encode(spaced(text) if self._has_spaced_openings else text))

    def knows(self, cluster: str) -> bool:
        """Whether the source model has a piece for this character (with its combining marks).

        One that it would spell in bytes, or drop, cannot be translated and is better carried over as it is; unless the
        bundle says that the model has learnt its bytes.
        """
        known = self._is_known.get(cluster)
        if known is None:
            if len(self._is_known) > 50_000:  # a caller who sends all of Unicode must not fill the memory
                self._is_known.clear()
            ids = self._encode_source(cluster)
            is_spelled = any(self._source.is_byte(token) or self._source.is_unknown(token) for token in ids)
            is_learnt = unicodedata.normalize("NFC", cluster) in self._learnt_by_bytes
            known = self._is_known[cluster] = bool(ids) and (is_learnt or not is_spelled)
        return known
