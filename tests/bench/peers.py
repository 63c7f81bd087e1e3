"""The peers of the serving benchmark, with random weights: speed does not depend on what the numbers are.

CTranslate2's Transformer in int8, sized to have as many parameters as the model it is measured against, and JoeyNMT's
recurrent model of the same sizes.
"""

import contextlib
import logging
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import ctranslate2
import numpy as np
import torch
from ctranslate2.specs import TransformerSpec
from ctranslate2.specs.common_spec import LayerNormSpec, LinearSpec
from joeynmt.model import build_model
from joeynmt.search import greedy
from joeynmt.vocabulary import Vocabulary

from training.export.weights import Sizes

Translate = Callable[[list[list[int]], int], None]  # (rows of source ids, tokens to produce)

WIDTH, HEADS = 256, 4  # of the Transformer


def transformer(sizes: Sizes, parameters: int, folder: Path, beam_size: int = 1) -> tuple[Translate, int]:
    """A CTranslate2 Transformer of about `parameters` parameters; return it and how many it has."""
    layers, ffn = _transformer_shape(sizes, parameters)
    spec = TransformerSpec.from_config(layers, HEADS)
    random = np.random.default_rng(0)

    def fill(linear: LinearSpec, outputs: int, inputs: int) -> None:
        linear.weight = random.normal(0, inputs**-0.5, (outputs, inputs)).astype(np.float32)
        linear.bias = np.zeros(outputs, np.float32)

    def normalise(norm: LayerNormSpec) -> None:
        norm.gamma, norm.beta = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)

    def feed_forward(layer: object) -> None:
        fill(layer.ffn.linear_0, ffn, WIDTH)  # type: ignore[attr-defined]
        fill(layer.ffn.linear_1, WIDTH, ffn)  # type: ignore[attr-defined]
        normalise(layer.ffn.layer_norm)  # type: ignore[attr-defined]

    positions = random.normal(0, 0.02, (256, WIDTH)).astype(np.float32)
    source = random.normal(0, WIDTH**-0.5, (sizes.source_vocabulary, WIDTH)).astype(np.float32)
    spec.encoder.embeddings[0].weight = source
    spec.encoder.position_encodings.encodings = positions
    normalise(spec.encoder.layer_norm)
    for layer in spec.encoder.layer:
        fill(layer.self_attention.linear[0], 3 * WIDTH, WIDTH)
        fill(layer.self_attention.linear[1], WIDTH, WIDTH)
        normalise(layer.self_attention.layer_norm)
        feed_forward(layer)
    target = random.normal(0, WIDTH**-0.5, (sizes.target_vocabulary, WIDTH)).astype(np.float32)
    spec.decoder.embeddings.weight = target
    spec.decoder.position_encodings.encodings = positions
    normalise(spec.decoder.layer_norm)
    fill(spec.decoder.projection, sizes.target_vocabulary, WIDTH)
    for layer in spec.decoder.layer:
        fill(layer.self_attention.linear[0], 3 * WIDTH, WIDTH)
        fill(layer.self_attention.linear[1], WIDTH, WIDTH)
        normalise(layer.self_attention.layer_norm)
        fill(layer.attention.linear[0], WIDTH, WIDTH)
        fill(layer.attention.linear[1], 2 * WIDTH, WIDTH)
        fill(layer.attention.linear[2], WIDTH, WIDTH)
        normalise(layer.attention.layer_norm)
        feed_forward(layer)
    words = ["<pad>", "<unk>", "<s>", "</s>", *(f"w{index}" for index in range(4, sizes.source_vocabulary))]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.validate()
    spec.optimize(quantization="int8")
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))
    translator = ctranslate2.Translator(str(folder), compute_type="int8", intra_threads=1, inter_threads=1)

    def translate(rows: list[list[int]], length: int) -> None:
        translator.translate_batch(
            [[words[index] for index in row] for row in rows],
            beam_size=beam_size,
            min_decoding_length=length,
            max_decoding_length=length,
        )

    return translate, _transformer_parameters(sizes, layers, ffn)


def _transformer_parameters(sizes: Sizes, layers: int, ffn: int) -> int:
    embeddings = WIDTH * (sizes.source_vocabulary + 2 * sizes.target_vocabulary)
    return embeddings + layers * (4 * WIDTH**2 + 8 * WIDTH**2 + 4 * WIDTH * ffn)


def _transformer_shape(sizes: Sizes, parameters: int) -> tuple[int, int]:
    """Layers on either side and the feed-forward width that come closest to `parameters`, as deep as 4×width allows."""
    candidates = [(layers, 64 * units) for layers in range(1, 7) for units in range(8, 25)]
    return min(
        candidates,
        key=lambda shape: (
            round(abs(_transformer_parameters(sizes, *shape) - parameters) / parameters, 2),
            abs(shape[1] - 4 * WIDTH),
        ),
    )


def recurrent(sizes: Sizes) -> tuple[Translate, int]:
    """JoeyNMT's GRU model of the same sizes, with its defaults."""
    logging.getLogger("joeynmt").setLevel(logging.WARNING)
    special = SimpleNamespace(
        unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>", sep_token=None,
        unk_id=0, pad_id=1, bos_id=2, eos_id=3, sep_id=None, lang_tags=[],
    )  # fmt: skip
    vocabulary = Vocabulary([str(index) for index in range(4, sizes.source_vocabulary)], special)
    shared = {"type": "recurrent", "rnn_type": "gru", "embeddings": {"embedding_dim": sizes.embedding}}
    model = build_model(
        {
            "encoder": shared | {"hidden_size": sizes.encoder, "bidirectional": True},
            "decoder": shared | {"hidden_size": sizes.decoder},
        },
        src_vocab=vocabulary,
        trg_vocab=vocabulary,
    )
    model.eval()
    with contextlib.suppress(AttributeError):
        model.decoder.output_layer.bias.data[3] = -100.0

    def translate(rows: list[list[int]], length: int) -> None:
        source = torch.tensor(rows)
        mask = (source != 1).unsqueeze(1)
        with torch.no_grad():
            encoded, hidden, _, _ = model(
                return_type="encode", src=source, src_length=mask.sum(2).squeeze(1), src_mask=mask
            )
            greedy(mask, length, model, encoded, hidden, generate_unk=True)

    return translate, sum(parameter.numel() for parameter in model.parameters())
