import numpy as np
import pytest

from training.corpus.cache import TokenCorpus
from training.errors import ExportError
from training.export.output_words import restrict_model, restrict_tokenizer, said_words, words_of
from training.export.weights import Sizes, random_weights
from training.tokenizer.subwords import learn_subwords

SOURCE = ["der hund schläft im garten", "die katze schläft im haus"] * 30
TARGET = ["the dog sleeps in the garden", "the cat sleeps in the house"] * 30
BYTES_AND_SPECIAL = 256 + 4


@pytest.fixture(scope="module")
def joint(tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    return learn_subwords([*SOURCE, *TARGET], path, vocabulary=330), path.read_bytes()


@pytest.fixture(scope="module")
def words(joint, tmp_path_factory):
    subwords, model = joint
    folder = tmp_path_factory.mktemp("corpus") / "data"
    TokenCorpus.write(folder, zip(subwords.encode_many(SOURCE), subwords.encode_many(TARGET), strict=True))
    return said_words(TokenCorpus.open(folder), model)


def test_words_of_the_source_language_alone_are_not_said(joint, words) -> None:
    subwords, _ = joint
    said = {id for text in TARGET for id in subwords.encode(text)}
    assert set(words.tolist()) == said | set(range(BYTES_AND_SPECIAL))
    assert {id for text in SOURCE for id in subwords.encode(text)} - set(words.tolist())
    assert words.tolist() == sorted(words.tolist())


def test_the_restricted_tokenizer_decodes_the_new_numbers_to_the_same_text(joint, words) -> None:
    subwords, model = joint
    restricted = type(subwords).parse(restrict_tokenizer(model, words))
    assert len(restricted) == len(words) < len(subwords)
    number = {int(word): index for index, word in enumerate(words)}
    for text in (*TARGET[:2], "🦔 ←"):  # the last is spelt in bytes
        ids = [id for id in subwords.encode(text) if id in number]
        assert restricted.decode([number[id] for id in ids]) == subwords.decode(ids)


def test_words_are_found_again_by_their_tokenizer(joint, words) -> None:
    _, model = joint
    assert words_of(model, restrict_tokenizer(model, words)).tolist() == words.tolist()


def test_a_tokenizer_of_another_vocabulary_is_refused(joint, words) -> None:
    _, model = joint
    with pytest.raises(ExportError, match="which the model's vocabulary lacks"):
        words_of(restrict_tokenizer(model, words), model)


def test_the_restricted_model_keeps_the_rows_of_its_words() -> None:
    sizes = Sizes(9, 7, embedding=4, encoder=2, decoder=3, attention=2, readout=4)
    model = random_weights(sizes)
    restricted = restrict_model(model, np.array([0, 1, 2, 3, 6]))
    assert restricted.sizes.target_vocabulary == 5
    assert restricted.sizes.source_vocabulary == 9
    for name in ("target_embedding.weight", "output.weight", "output.bias"):
        assert restricted[name][4] == pytest.approx(model[name][6])
    assert {name: array.shape for name, array in restricted.arrays.items()} == restricted.sizes.shapes()
