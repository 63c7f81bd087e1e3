"""`nudge-train pivot`: more pairs of sentences that people wrote, found through translations that they share."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from training.corpus.pivoting import Pair, bridged
from training.corpus.reading import read_columns, read_lines
from training.errors import CorpusError
from training.nmt.checkpoint import write_atomically

SHARED, OTHER, LABEL = 0, 1, 2  # columns of the texts


def command(
    text: Annotated[Path, typer.Option(help="the pairs to add to: .tsv of sentence, translation and label")],
    out: Annotated[Path, typer.Option(help="a .tsv of the new pairs")],
    through: Annotated[
        list[Path] | None, typer.Option(help="pairs of the same first language with another one; repeatable")
    ] = None,
    known: Annotated[
        list[Path] | None, typer.Option(help="sentences of the first language to leave out, a line each; repeatable")
    ] = None,
    label: Annotated[list[str] | None, typer.Option(help="lines with this label only; repeatable")] = None,
    most: Annotated[int, typer.Option(min=2, help="pass over what more sentences than so many are translated as")] = 12,
) -> None:
    """Pair sentences that share a translation with each other's translations."""
    wanted = frozenset(label or ())
    pairs = list(_pairs(text, wanted))
    texts = (_pairs(path, wanted) for path in (text, *(through or ())))
    already = (line for path in known or () for line in read_lines(path))
    found = sorted(bridged(pairs, texts, already, most))
    if not found:
        labelled = f" labelled {' or '.join(sorted(wanted))}" if wanted else ""
        names = ", ".join(map(str, (text, *(through or ()))))
        raise CorpusError(f"no two sentences{labelled} of {names} share a translation that one of them lacks")
    write_atomically(out, lambda path: path.write_text("".join(f"{one}\t{other}\n" for one, other in found), "utf-8"))
    Console(stderr=True).print(f"{len(pairs):,} pairs gave {len(found):,} more → {out}", highlight=False)


def _pairs(path: Path, wanted: frozenset[str]) -> Iterator[Pair]:
    for columns in read_columns(path, 1 + (LABEL if wanted else OTHER)):
        if not wanted or columns[LABEL] in wanted:
            yield columns[SHARED], columns[OTHER]
