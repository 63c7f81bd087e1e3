from itertools import product
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from training.errors import TokenizerError
from training.tokenizer.subwords import Subwords, learn_subwords

# Every way to join a few stems and endings: enough repetition for BPE to find them.
WORDS = [
    stem + ending for stem, ending in product(["wander", "spiel", "garten", "hör"], ["n", "t", "te", "end", "ung"])
]
SENTENCES = [
    f"{first.title()} und {second}, {third} 2024." for first, second, third in product(WORDS, WORDS, WORDS[:5])
]

ODD_TEXTS = [
    "",
    " ",
    "   ",
    " leading",
    "trailing ",
    "two  spaces",
    "\t",
    "line\nbreak\r\n",
    "\x00",
    "a\x00b",
    "▁",
    "▁▁ ▁a▁b ▁",
    "\ue000",
    "\ue000\ue001",
    "\ue000▁\ue002",
    "😀",
    "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪",
    "u\u0308ber",
    "\u0308",
    "ﬁ Ⅷ ² ½ ｆｕｌｌ",
    "日本語 한국어 العربية ไทย ᚠᚢᚦ",
    "<s></s><pad><unk>",
    "<0x41>",
    "\u00a0\u3000\u200b\ufeff\ufffd",
    " ⁇ ",
    "\U0010ffff",
]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("subwords") / "tokenizer.model"
    learn_subwords(SENTENCES, path, vocabulary=400)
    return path


@pytest.fixture(scope="module")
def subwords(model_file: Path) -> Subwords:
    return Subwords.load(model_file)


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_text_round_trips(subwords: Subwords, text: str) -> None:
    assert subwords.decode(subwords.encode(text)) == text


@given(st.text())
def test_every_text_round_trips(subwords: Subwords, text: str) -> None:
    assert subwords.decode(subwords.encode(text)) == text


@given(st.text(alphabet=" ▁\ue000\ue001\ue002ab\t<>0x41"))
def test_every_mix_of_the_escape_characters_round_trips(subwords: Subwords, text: str) -> None:
    assert subwords.decode(subwords.encode(text)) == text


@given(st.text(), st.text())
def test_different_texts_have_different_ids(subwords: Subwords, first: str, second: str) -> None:
    assert (subwords.encode(first) == subwords.encode(second)) == (first == second)


def test_sentencepiece_alone_reads_the_file_and_agrees(model_file: Path, subwords: Subwords) -> None:
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model_file))
    for text in [*ODD_TEXTS, *SENTENCES[:20]]:
        assert processor.encode(text) == subwords.encode(text)
        assert processor.decode(processor.encode(text)) == text


def test_no_text_is_encoded_with_a_special_id(subwords: Subwords) -> None:
    for text in [*ODD_TEXTS, *SENTENCES[:20]]:
        assert not {0, 1, 2, 3} & set(subwords.encode(text))


def test_special_ids_have_no_text(subwords: Subwords) -> None:
    ids = subwords.encode("Wandern und hören")
    assert subwords.decode([2, *ids, 3, 0, 0]) == "Wandern und hören"


def test_frequent_words_become_one_subword_and_digits_stay_apart(subwords: Subwords) -> None:
    assert subwords.pieces("und 2024") == ["▁und", "▁", "2", "0", "2", "4"]


def test_encode_many_is_encode_of_each(subwords: Subwords) -> None:
    assert subwords.encode_many(ODD_TEXTS, threads=2) == [subwords.encode(text) for text in ODD_TEXTS]


def test_learning_twice_writes_the_same_file(tmp_path: Path, model_file: Path) -> None:
    learn_subwords(iter(SENTENCES), tmp_path / "again.model", vocabulary=400, threads=2)
    assert (tmp_path / "again.model").read_bytes() == model_file.read_bytes()


def test_a_small_corpus_gives_a_smaller_vocabulary(tmp_path: Path) -> None:
    subwords = learn_subwords(["ab ab"], tmp_path / "tiny.model", vocabulary=8000)
    # 4 special ids, 256 bytes, ▁ a b and whatever merges of "▁ab" there are.
    assert 263 <= len(subwords) <= 266


def test_a_vocabulary_too_small_for_the_bytes_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"could not learn 200 subwords.*\n.*raise tokenizer\.vocabulary"):
        learn_subwords(SENTENCES, tmp_path / "tokenizer.model", vocabulary=200)
    assert list(tmp_path.iterdir()) == []


def test_no_text_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="could not learn"):
        learn_subwords([], tmp_path / "tokenizer.model", vocabulary=400)


def test_a_missing_model_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="run `nudge-train prepare` first"):
        Subwords.load(tmp_path / "tokenizer.model")


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(b"not a model")
    with pytest.raises(TokenizerError, match="not a sentencepiece model"):
        Subwords.load(tmp_path / "tokenizer.model")


def test_a_model_with_other_special_ids_is_refused(tmp_path: Path) -> None:
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_prefix=str(tmp_path / "foreign"), model_type="char", minloglevel=2
    )
    with pytest.raises(TokenizerError, match=r"pad, unk, bos and eos are \(-1, 0, 1, 2\), not \(0, 1, 2, 3\)"):
        Subwords.load(tmp_path / "foreign.model")
