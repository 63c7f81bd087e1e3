"""The subwords that a served decoder can say.

A joint vocabulary holds the subwords of both languages, and many of them occur in the source language alone: of 8,000
for German and English, English text uses 5,100.  The output layer is the largest product of a step, so the served one
keeps those that occur in the target text of the training corpus, and the bytes, from which all else can be spelt.

They are numbered anew.  The bundle says so by a subword model of its own for the target side, `output.model`, which
holds the kept subwords in their new order.  It can decode only: to encode, BPE needs the subwords in between too.

Shapes:  Vt target vocabulary · W words kept
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sentencepiece import sentencepiece_model_pb2

from training.corpus.cache import TokenCorpus
from training.errors import ExportError
from training.export.weights import ModelWeights

OUTPUT_TOKENIZER = "output.model"
BY_WORD = ("target_embedding.weight", "output.weight", "output.bias")

Ids = NDArray[np.int64]


def said_words(corpus: TokenCorpus, tokenizer: bytes) -> Ids:
    """The ids [W], ascending, that occur in the corpus's target text, with all bytes and special subwords."""
    pieces = _parse(tokenizer).pieces
    normal = sentencepiece_model_pb2.ModelProto.SentencePiece.Type.NORMAL  # type: ignore[attr-defined]
    is_kept = np.array([piece.type != normal for piece in pieces])
    is_kept[np.unique(corpus.target_ids)] = True
    return np.flatnonzero(is_kept)


def words_of(tokenizer: bytes, output_tokenizer: bytes) -> Ids:
    """The ids [W] in `tokenizer` of the subwords that an existing `output.model` holds."""
    numbers = {piece.piece: number for number, piece in enumerate(_parse(tokenizer).pieces)}
    try:
        return np.array([numbers[piece.piece] for piece in _parse(output_tokenizer).pieces])
    except KeyError as error:
        raise ExportError(f"{OUTPUT_TOKENIZER} has the subword {error}, which the model's vocabulary lacks") from None


def restrict_tokenizer(tokenizer: bytes, words: Ids) -> bytes:
    """A subword model that holds `words` alone, numbered in their order."""
    model = _parse(tokenizer)
    kept = [model.pieces[word] for word in words]
    del model.pieces[:]
    model.pieces.extend(kept)
    model.trainer_spec.vocab_size = len(kept)
    return bytes(model.SerializeToString(deterministic=True))


def restrict_model(model: ModelWeights, words: Ids) -> ModelWeights:
    """The same model with an output layer, and embeddings to go with it, for `words` alone."""
    arrays = {name: array[words] if name in BY_WORD else array for name, array in model.arrays.items()}
    return replace(model, sizes=replace(model.sizes, target_vocabulary=len(words)), arrays=arrays)


def _parse(tokenizer: bytes) -> "sentencepiece_model_pb2.ModelProto":  # type: ignore[name-defined]
    return sentencepiece_model_pb2.ModelProto.FromString(tokenizer)  # type: ignore[attr-defined]
