"""`nudge-train novel`: sentences of one language that a pair's texts do not have, for a model to translate."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from training.corpus.novelty import novel
from training.corpus.reading import read_columns, read_lines
from training.errors import CorpusError
from training.nmt.checkpoint import write_atomically


def command(
    text: Annotated[list[Path], typer.Option(help="where to look: plain text, or .tsv, also .gz and .xz; repeatable")],
    known: Annotated[list[Path], typer.Option(help="what is known already, training text and test sets; repeatable")],
    out: Annotated[Path, typer.Option(help="a file with a sentence on each line")],
    column: Annotated[int, typer.Option(min=0, help="column of the language in the TSV files, counting from 0")] = 0,
    label_column: Annotated[int, typer.Option(min=0, help="column of the labels in the files of --text")] = 2,
    label: Annotated[list[str] | None, typer.Option(help="lines of --text with this label only; repeatable")] = None,
    max_words: Annotated[int, typer.Option(min=1, help="longer sentences are left out")] = 30,
) -> None:
    """Collect the sentences of some texts that others do not have."""
    wanted = frozenset(label or ())
    found = (one for path in text for one in _sentences(path, column, label_column, wanted))
    already = (one for path in known for one in _sentences(path, column))
    sentences = list(novel(found, already, max_words))
    if not sentences:
        raise CorpusError(_nothing(text, known, wanted))
    write_atomically(out, lambda path: path.write_text("\n".join(sentences) + "\n", encoding="utf-8"))
    Console(stderr=True).print(f"{len(sentences):,} sentences → {out}", highlight=False)


def _sentences(path: Path, column: int, label_column: int = 0, wanted: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the sentences of a file: its lines, or a column of a TSV, of lines with one of the wanted labels."""
    if ".tsv" not in path.suffixes:
        yield from read_lines(path)
        return
    for columns in read_columns(path, 1 + max(column, label_column if wanted else 0)):
        if not wanted or columns[label_column] in wanted:
            yield columns[column]


def _nothing(text: Sequence[Path], known: Sequence[Path], wanted: frozenset[str]) -> str:
    labelled = f" labelled {' or '.join(sorted(wanted))}" if wanted else ""
    return f"no sentence{labelled} in {', '.join(map(str, text))} that is not in {', '.join(map(str, known))} too"
