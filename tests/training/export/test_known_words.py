"""What a model knows how to translate, counted in text that it has learnt from."""

import pytest

from training.corpus.cache import TokenCorpus
from training.export import known_words as module
from training.export.known_words import known_words
from training.tokenizer.subwords import Subwords, learn_subwords

TEXT = ["ta netu monu", "sa tana lemo", "na momo tatu", "Ta Pil Rob's Weg"]


@pytest.fixture(scope="module")
def subwords(tmp_path_factory) -> Subwords:
    path = tmp_path_factory.mktemp("subwords") / "tokenizer.model"
    return learn_subwords(iter(TEXT * 50), path, vocabulary=300, character_coverage=1.0, threads=1)


def words_of(subwords: Subwords, *pairs: tuple[str, str]) -> list[str]:
    corpus = TokenCorpus.of([(subwords.encode(source), subwords.encode(target)) for source, target in pairs])
    return known_words(corpus, subwords, subwords)


def test_a_word_of_two_sentences_is_known_in_small_letters(subwords):
    assert words_of(subwords, ("Ta netu", "x"), ("ta monu", "x")) == ["ta"]


def test_a_repeated_sentence_is_one(subwords):
    assert words_of(subwords, ("ta", "x"), ("ta", "x")) == []


def test_a_genitive_belongs_to_its_word(subwords):
    assert words_of(subwords, ("Rob's netu", "x"), ("rob monu", "x")) == ["rob"]


def test_a_rare_name_that_is_copied_is_not_known_and_a_translated_one_is(subwords):
    pairs = [("ta Pil", "x Pil"), ("sa Pil", "Pil x"), ("ta Weg", "x Bo"), ("sa Weg", "Bo x")]
    assert words_of(subwords, *pairs) == ["sa", "ta", "weg"]


def test_a_frequent_name_is_known(subwords, monkeypatch):
    monkeypatch.setattr(module, "RARE", 2)
    assert words_of(subwords, ("ta Pil", "x Pil"), ("ta sa Pil", "Pil x")) == ["pil", "ta"]
