import gzip
import lzma
from pathlib import Path

import pytest

from training.config import Languages, ParallelText
from training.corpus.reading import describe, read_lines, read_pairs
from training.errors import CorpusError

GERMAN_ENGLISH = Languages(source="de", target="en")


def read(text: ParallelText) -> list[tuple[str, str]]:
    return list(read_pairs(text, GERMAN_ENGLISH))


def plain(tmp_path: Path, source: bytes, target: bytes) -> ParallelText:
    (tmp_path / "a.de").write_bytes(source)
    (tmp_path / "a.en").write_bytes(target)
    return ParallelText(source=tmp_path / "a.de", target=tmp_path / "a.en")


def test_two_plain_files_are_read_line_by_line(tmp_path: Path) -> None:
    text = plain(tmp_path, "Ja.\nNein, grün.\n".encode(), b"Yes.\nNo, green.\n")
    assert read(text) == [("Ja.", "Yes."), ("Nein, grün.", "No, green.")]
    assert describe(text) == "a.de + a.en"


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_compressed_files_are_opened(tmp_path: Path, suffix: str, compress) -> None:
    (tmp_path / f"a.de{suffix}").write_bytes(compress(b"Ja.\n"))
    (tmp_path / "a.en").write_bytes(b"Yes.\n")
    assert read(ParallelText(source=tmp_path / f"a.de{suffix}", target=tmp_path / "a.en")) == [("Ja.", "Yes.")]


def test_windows_line_ends_and_a_byte_order_mark_are_taken_off(tmp_path: Path) -> None:
    assert read(plain(tmp_path, b"\xef\xbb\xbfJa.\r\nNein.\r\n", b"Yes.\nNo.")) == [("Ja.", "Yes."), ("Nein.", "No.")]


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    odd = "a\u2028b\x0bc\x0cd\x85e\rf"
    assert read(plain(tmp_path, odd.encode() + b"\n", b"x\n")) == [(odd, "x")]


@pytest.mark.parametrize(
    ("source", "target", "shorter", "line"), [(b"1\n2\n3\n", b"1\n2\n", "a.en", 2), (b"1\n", b"1\n2\n", "a.de", 1)]
)
def test_uneven_files_name_the_one_that_ends_and_its_last_line(tmp_path: Path, source, target, shorter, line) -> None:
    with pytest.raises(CorpusError, match=rf"{shorter}: ends after line {line}, but .* goes on"):
        read(plain(tmp_path, source, target))


def test_bad_utf8_names_the_file_the_line_and_the_byte(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.de, line 2: not UTF-8 \(byte 0xfc at position 2\)"):
        read(plain(tmp_path, b"Ja.\ngr\xfcn\n", b"Yes.\ngreen\n"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"nowhere\.tsv: no such file"):
        read(ParallelText(tsv=tmp_path / "nowhere.tsv"))


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="after line 0: cannot be read"):
        list(read_lines(tmp_path))


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_a_cut_off_archive_names_the_file(tmp_path: Path, suffix: str, compress) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(compress(bytes(range(32, 127)) * 1000 + b"\n")[:-20])
    with pytest.raises(CorpusError, match=rf"a\{suffix}, after line \d: cannot be read"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_file_that_is_no_archive_names_the_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"just text\n")
    with pytest.raises(CorpusError, match=rf"a\{suffix}, after line 0: cannot be read"):
        list(read_lines(path))


def test_empty_files_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.de \+ a\.en: no sentence pair in it"):
        read(plain(tmp_path, b"", b""))


def tsv(tmp_path: Path, content: str, **columns) -> ParallelText:
    (tmp_path / "a.tsv").write_text(content, encoding="utf-8")
    return ParallelText(tsv=tmp_path / "a.tsv", **columns)


def test_tsv_columns_are_chosen(tmp_path: Path) -> None:
    text = tsv(tmp_path, "Yes.\tJa.\tnews\nNo.\tNein.\ttalk\n", source_column=1, target_column=0)
    assert read(text) == [("Ja.", "Yes."), ("Nein.", "No.")]


def test_tsv_labels_filter(tmp_path: Path) -> None:
    text = tsv(tmp_path, "Ja.\tYes.\tnews\nNein.\tNo.\ttalk\n", label_column=2, labels=("talk", "film"))
    assert read(text) == [("Nein.", "No.")]
    assert describe(text) == "a.tsv [talk, film]"


def test_labels_that_no_line_has_are_an_error_that_lists_those_there_are(tmp_path: Path) -> None:
    text = tsv(tmp_path, "a\tb\tnews\na\tb\ttalk\n", label_column=2, labels=("film",))
    with pytest.raises(CorpusError, match="no line is labelled film in column 2; labels in the file: news, talk"):
        read(text)


def test_a_missing_column_names_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.tsv, line 2: 1 column\(s\) where column 1 .* is asked for: 'Nein'"):
        read(tsv(tmp_path, "Ja\tYes\nNein\n"))


@pytest.mark.parametrize(("lines", "letters"), [((1, 2), "ab"), ((2, 2), "b"), ((3, 9), "cd"), (None, "abcd")], ids=str)
def test_some_lines_of_a_text_are_read_alone(tmp_path: Path, lines, letters: str) -> None:
    (tmp_path / "a.tsv").write_text("a\tA\nb\tB\nc\tC\nd\tD\n", encoding="utf-8")
    text = ParallelText(tsv=tmp_path / "a.tsv", lines=lines)
    assert read(text) == [(letter, letter.upper()) for letter in letters]
    assert describe(text) == ("a.tsv" if lines is None else f"a.tsv ({lines[0]} to {lines[1]})")


def test_lines_behind_the_end_of_a_text_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\tA\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"a\.tsv \(2 to 3\): no sentence pair"):
        read(ParallelText(tsv=tmp_path / "a.tsv", lines=(2, 3)))


def test_quotes_in_tsv_are_text(tmp_path: Path) -> None:
    assert read(tsv(tmp_path, 'Er sagte "ja\t"Yes" he said\n')) == [('Er sagte "ja', '"Yes" he said')]


def test_the_toy_corpus_needs_its_languages() -> None:
    with pytest.raises(CorpusError, match="from xa to xb, not from de to en"):
        read(ParallelText(toy=3))
    assert len(list(read_pairs(ParallelText(toy=3), Languages(source="xa", target="xb")))) == 3
