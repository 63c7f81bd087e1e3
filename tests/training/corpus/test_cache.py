from pathlib import Path

import numpy as np
import pytest

from training.corpus.cache import EOS, TokenCorpus
from training.errors import CorpusError


def test_pairs_come_back_closed_by_eos(tmp_path: Path) -> None:
    TokenCorpus.write(tmp_path / "data", [([5, 6], [7]), ([], [8, 9, 10])])
    corpus = TokenCorpus.open(tmp_path / "data")
    assert len(corpus) == 2
    assert [side.tolist() for side in corpus.pair(0)] == [[5, 6, 3], [7, 3]]
    assert [side.tolist() for side in corpus.pair(1)] == [[3], [8, 9, 10, 3]]
    assert corpus.source_lengths.tolist() == [3, 1]
    assert corpus.target_lengths.tolist() == [2, 4]
    assert corpus.source_lengths.dtype == np.int32


def test_ids_take_two_bytes_unless_the_vocabulary_is_larger(tmp_path: Path) -> None:
    TokenCorpus.write(tmp_path / "small", [([5], [6])], vocabulary=65_535)
    TokenCorpus.write(tmp_path / "large", [([70_000], [6])], vocabulary=80_000)
    assert TokenCorpus.open(tmp_path / "small").source_ids.dtype == np.uint16
    assert TokenCorpus.open(tmp_path / "large").pair(0)[0].tolist() == [70_000, 3]


def test_an_id_outside_the_vocabulary_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ids from 3 to 99 in a cache for a vocabulary of 50"):
        TokenCorpus.write(tmp_path / "data", [([99], [5])], vocabulary=50)
    assert list(tmp_path.iterdir()) == []


def test_a_failing_writer_leaves_the_older_cache_untouched(tmp_path: Path) -> None:
    TokenCorpus.write(tmp_path / "data", [([5], [6])])

    def broken():
        yield [7], [8]
        raise RuntimeError("the disk of the corpus went away")

    with pytest.raises(RuntimeError, match="went away"):
        TokenCorpus.write(tmp_path / "data", broken())
    assert TokenCorpus.open(tmp_path / "data").pair(0)[0].tolist() == [5, 3]
    assert [entry.name for entry in tmp_path.iterdir()] == ["data"]


def test_a_rewritten_cache_replaces_the_older_one(tmp_path: Path) -> None:
    TokenCorpus.write(tmp_path / "data", [([5], [6]), ([5], [6])])
    TokenCorpus.write(tmp_path / "data", [([7], [8])])
    corpus = TokenCorpus.open(tmp_path / "data")
    assert [len(corpus), corpus.pair(0)[1].tolist()] == [1, [8, 3]]


def test_an_empty_cache_opens_empty(tmp_path: Path) -> None:
    TokenCorpus.write(tmp_path / "data", [])
    assert len(TokenCorpus.open(tmp_path / "data")) == 0


def test_a_missing_cache_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="run `nudge-train prepare` first"):
        TokenCorpus.open(tmp_path / "nowhere")


def test_a_cut_file_of_ids_is_noticed(tmp_path: Path) -> None:
    TokenCorpus.write(tmp_path / "data", [([5, 6], [7])])
    ids = tmp_path / "data" / "source.ids"
    ids.write_bytes(ids.read_bytes()[:-2])
    with pytest.raises(CorpusError, match=r"source\.ids: 4 bytes, not the 6 of 3 tokens"):
        TokenCorpus.open(tmp_path / "data")


def test_a_cache_of_another_format_is_refused(tmp_path: Path) -> None:
    TokenCorpus.write(tmp_path / "data", [([5, 6], [7])])
    description = tmp_path / "data" / "cache.json"
    description.write_text(description.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(CorpusError, match="cache format 99, not 1"):
        TokenCorpus.open(tmp_path / "data")


def test_many_ids_cross_the_write_buffer_unharmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.corpus.cache.BUFFERED_IDS", 4)
    pairs = [([index + 4] * (index % 5), [index + 4] * (index % 3)) for index in range(50)]
    TokenCorpus.write(tmp_path / "data", pairs)
    corpus = TokenCorpus.open(tmp_path / "data")
    for index, (source, target) in enumerate(pairs):
        assert [side.tolist() for side in corpus.pair(index)] == [[*source, 3], [*target, 3]]


def test_a_corpus_can_be_extended_in_memory(tmp_path: Path) -> None:
    TokenCorpus.write(tmp_path / "ids", [([5, 6], [7]), ([8], [9, 10])])
    corpus = TokenCorpus.open(tmp_path / "ids")
    extended = corpus.extended([([11, 12], []), ([], [13])])
    assert [tuple(part.tolist() for part in extended.pair(index)) for index in range(4)] == [
        ([5, 6, EOS], [7, EOS]),
        ([8, EOS], [9, 10, EOS]),
        ([11, 12, EOS], [EOS]),
        ([EOS], [13, EOS]),
    ]
    assert len(corpus) == 2
