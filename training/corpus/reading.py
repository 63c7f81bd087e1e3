"""Parallel text, read as a stream of sentence pairs; whatever is wrong with a file is an error with its name and line.

Lines end at "\\n" (a "\\r" before it goes too) and nowhere else: U+2028, form feeds and the like stay in the sentence,
where Python's `splitlines` would cut and shift every later line against the other side.
"""

import gzip
import lzma
import zlib
from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import BinaryIO, cast

from training.config import Languages, ParallelText
from training.corpus.public import public_pairs
from training.corpus.toy import SOURCE_LANGUAGE, TARGET_LANGUAGE, toy_pairs
from training.errors import CorpusError

Pair = tuple[str, str]

UTF8_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LABELS_SHOWN = 12


def describe(text: ParallelText) -> str:
    """Return a short name of `text` for tables and messages."""
    if text.toy is not None:
        return f"toy (seed {text.toy_seed})"
    if text.mtdata is not None:
        return text.mtdata
    part = f" ({text.lines[0]:,} to {text.lines[1]:,})" if text.lines is not None else ""
    if text.tsv is not None:
        return (f"{text.tsv.name} [{', '.join(text.labels)}]" if text.labels else text.tsv.name) + part
    return f"{cast(Path, text.source).name} + {cast(Path, text.target).name}{part}"


def input_files(text: ParallelText) -> list[Path]:
    """Return the files that `text` is read from (none for the toy and for public corpora)."""
    return [path for path in (text.source, text.target, text.tsv) if path is not None]


def read_pairs(text: ParallelText, languages: Languages) -> Iterator[Pair]:
    """Yield the pairs of `text` as they are; raise `CorpusError` on malformed input, and when there is no pair."""
    pairs = _all_pairs(text, languages)
    is_empty = True
    for pair in pairs if text.lines is None else islice(pairs, text.lines[0] - 1, text.lines[1]):
        is_empty = False
        yield pair
    if is_empty:
        raise CorpusError(f"{describe(text)}: no sentence pair in it")


def _all_pairs(text: ParallelText, languages: Languages) -> Iterator[Pair]:
    """Yield the pairs of the whole text, whichever lines of it are asked for."""
    if text.tsv is not None:
        return _read_tsv(text, text.tsv)
    if text.mtdata is not None:
        return public_pairs(text.mtdata, languages.source, languages.target)
    if text.toy is not None:
        _require_toy_languages(languages)
        return toy_pairs(text.toy, text.toy_seed)
    return _read_plain(cast(Path, text.source), cast(Path, text.target))


def is_short_enough(pair: Pair, text: ParallelText) -> bool:
    """Whether a pair is within the `max_words` of its text."""
    return text.max_words is None or max(len(side.split()) for side in pair) <= text.max_words


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, plain, .gz or .xz, without their ends."""
    number = 0
    try:
        with _open(path) as file:
            for number, line in enumerate(file, start=1):
                raw = line.removesuffix(b"\n").removesuffix(b"\r")
                if number == 1:
                    raw = raw.removeprefix(UTF8_BYTE_ORDER_MARK)
                try:
                    decoded = raw.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise CorpusError(
                        f"{path}, line {number}: not UTF-8 (byte 0x{raw[error.start]:02x} at position {error.start}); "
                        "convert the file, for example with iconv"
                    ) from None
                yield decoded
    except FileNotFoundError:
        raise CorpusError(f"{path}: no such file") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise CorpusError(f"{path}, after line {number}: cannot be read ({error})") from None


def read_columns(path: Path, needed: int) -> Iterator[list[str]]:
    """Yield the columns of every line of a TSV; a line with fewer than `needed` is an error."""
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) < needed:
            raise CorpusError(
                f"{path}, line {number}: {len(columns)} column(s) where column {needed - 1} "
                f"(counting from 0) is asked for: {line!r:.80}"
            )
        yield columns


def _open(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    if path.suffix == ".xz":
        return cast(BinaryIO, lzma.open(path, "rb"))
    return path.open("rb")


def _read_plain(source: Path, target: Path) -> Iterator[Pair]:
    for number, (source_line, target_line) in enumerate(zip_longest(read_lines(source), read_lines(target))):
        if source_line is None or target_line is None:
            shorter, longer = (source, target) if source_line is None else (target, source)
            raise CorpusError(
                f"{shorter}: ends after line {number}, but {longer} goes on; "
                "the two files must have the same number of lines"
            )
        yield source_line, target_line


def _read_tsv(text: ParallelText, path: Path) -> Iterator[Pair]:
    wanted = frozenset(text.labels)
    columns_needed = 1 + max(text.source_column, text.target_column, text.label_column or 0)
    seen_labels: set[str] = set()
    is_empty, has_match = True, False
    for columns in read_columns(path, columns_needed):
        is_empty = False
        if wanted and text.label_column is not None:
            label = columns[text.label_column]
            if len(seen_labels) < LABELS_SHOWN:
                seen_labels.add(label)
            if label not in wanted:
                continue
        has_match = True
        yield columns[text.source_column], columns[text.target_column]
    if not is_empty and not has_match:
        raise CorpusError(
            f"{path}: no line is labelled {' or '.join(text.labels)} in column {text.label_column}; "
            f"labels in the file: {', '.join(sorted(seen_labels))}"
        )


def _require_toy_languages(languages: Languages) -> None:
    if (languages.source, languages.target) != (SOURCE_LANGUAGE, TARGET_LANGUAGE):
        raise CorpusError(
            f"the toy corpus is from {SOURCE_LANGUAGE} to {TARGET_LANGUAGE}, "
            f"not from {languages.source} to {languages.target}; set languages accordingly"
        )
