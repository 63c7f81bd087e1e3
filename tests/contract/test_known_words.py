"""The list of known words is written by one half and read by the other: both must take the same thing for a word."""

import pytest

from service.text.lexicon import Lexicon
from service.text.strangers import strangers
from training.corpus.cache import TokenCorpus
from training.export.known_words import known_words
from training.tokenizer.subwords import Subwords, learn_subwords

# Two sentences for every word, so that the model knows it.
TEXT = [
    "Gestern traf Jürgen O'Neill’s Freund in Weiß-Großstadt",
    "Heute traf Jürgen O'Neill's Freund in Weiß-Großstadt gestern",
    "Heute Großvater in Weiß-Großstadt heute Großvater",
    "Gestern Großvater heute",
]


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory) -> Lexicon:
    path = tmp_path_factory.mktemp("subwords") / "tokenizer.model"
    subwords: Subwords = learn_subwords(iter(TEXT * 50), path, vocabulary=320, character_coverage=1.0, threads=1)
    corpus = TokenCorpus.of([(subwords.encode(sentence), subwords.encode("x")) for sentence in TEXT])
    return Lexicon.parse("".join(f"{word}\n" for word in known_words(corpus, subwords, subwords)).encode())


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("sentence", TEXT)
def test_no_word_of_the_text_is_strange(lexicon, sentence, language):
    assert list(strangers(sentence, language, lexicon)) == []


def test_another_name_in_the_same_place_is(lexicon):
    assert [*strangers("Heute traf Okonkwo's Freund in Weiß-Großstadt", "en", lexicon)] == [(11, 18, False)]
