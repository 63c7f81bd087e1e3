"""The result of an evaluation as a table: for the terminal (rich), for a document (Markdown), for a program (JSON)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group
from rich.table import Table

from training.evaluation.bootstrap import CONFIDENCE, Difference
from training.evaluation.metrics import METRICS, Scores

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Row:
    """One decoder on one test set."""

    decoder: str
    scores: Scores
    bleu_interval: tuple[float, float]  # 95% confidence
    tokens: int  # tokens of the outputs, eos included
    seconds: float  # of decoding alone
    truncated: int  # outputs that were cut at their length limit

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Comparison:
    """One decoder against another, by the names of their rows."""

    baseline: str
    system: str
    differences: dict[str, Difference]  # by metric


@dataclass(frozen=True)
class SetReport:
    """All decoders on one test set."""

    test_set: str
    sentences: int
    rows: Sequence[Row]
    comparisons: Sequence[Comparison]
    signatures: dict[str, str]
    draws: int  # of the bootstrap
    seed: int


ROW_HEADINGS = ("decoder", "BLEU", "95%", "chrF", "perplexity", "length", "tokens/s", "cut")
COMPARISON_HEADINGS = ("against", "decoder", *(f"Δ {metric.label} [95%] p" for metric in METRICS))


def row_cells(row: Row) -> tuple[str, ...]:
    """The cells of one decoder, in the order of `ROW_HEADINGS`."""
    low, high = row.bleu_interval
    return (
        row.decoder,
        f"{row.scores.bleu:.2f}",
        f"{low:.1f}–{high:.1f}",
        f"{row.scores.chrf:.2f}",
        f"{row.scores.perplexity:.3f}",
        f"{row.scores.length_ratio:.3f}",
        f"{row.tokens_per_second:,.0f}",
        str(row.truncated),
    )


def comparison_cells(comparison: Comparison) -> tuple[str, ...]:
    """The cells of one comparison, in the order of `COMPARISON_HEADINGS`; a star marks p < 0.05."""
    return (
        comparison.baseline,
        comparison.system,
        *(_difference_cell(comparison.differences[metric.name]) for metric in METRICS),
    )


def _difference_cell(difference: Difference) -> str:
    decimals = 3 if difference.metric == "log_probability" else 2
    star = " *" if difference.p_value < SIGNIFICANT else ""
    return (
        f"{difference.difference:+.{decimals}f} "
        f"[{difference.low:+.{decimals}f}, {difference.high:+.{decimals}f}] p={difference.p_value:.3f}{star}"
    )


def notes(report: SetReport) -> tuple[str, ...]:
    """What the numbers mean."""
    return (
        f"BLEU {report.signatures['bleu']} · chrF {report.signatures['chrf']}",
        "perplexity and log p: of the outputs' tokens (eos included) under the frozen model, without an actor",
        f"p: paired bootstrap (Koehn 2004), one-sided as in sacreBLEU, {report.draws} draws, seed {report.seed}; "
        f"* p < {SIGNIFICANT}, for better or worse",
    )


def to_rich(report: SetReport) -> Group:
    """For the terminal."""
    table = Table(*ROW_HEADINGS[:1], title=_title(report), title_justify="left")
    for heading in ROW_HEADINGS[1:]:
        table.add_column(heading, justify="right")
    for row in report.rows:
        table.add_row(*row_cells(row))
    parts: list[Table | str] = [table]
    if report.comparisons:
        comparisons = Table(*COMPARISON_HEADINGS)
        for comparison in report.comparisons:
            # rich reads [...] as markup, so the brackets of intervals are escaped.
            comparisons.add_row(*(cell.replace("[", r"\[") for cell in comparison_cells(comparison)))
        parts.append(comparisons)
    return Group(*parts, *notes(report))


def to_markdown(reports: Sequence[SetReport]) -> str:
    """For a document: the same tables, one section for each test set."""
    sections = []
    for report in reports:
        lines = [f"## {_title(report)}", "", *_markdown_table(ROW_HEADINGS, [row_cells(row) for row in report.rows])]
        if report.comparisons:
            cells = [comparison_cells(comparison) for comparison in report.comparisons]
            # A star would start emphasis.
            escaped = [tuple(cell.replace("*", r"\*") for cell in row) for row in cells]
            lines += ["", *_markdown_table(COMPARISON_HEADINGS, escaped, texts=2)]
        lines += ["", *(f"- {note}".replace("; *", r"; \*") for note in notes(report)), ""]
        sections.append("\n".join(lines))
    return "\n".join(sections)


def to_json(reports: Sequence[SetReport]) -> list[dict[str, Any]]:
    """For a program: everything, with full precision."""
    return [
        {
            "test_set": report.test_set,
            "sentences": report.sentences,
            "signatures": report.signatures,
            "bootstrap": {"draws": report.draws, "seed": report.seed, "confidence": CONFIDENCE},
            "rows": [
                asdict(row.scores)
                | {
                    "decoder": row.decoder,
                    "perplexity": row.scores.perplexity,
                    "bleu_interval": list(row.bleu_interval),
                    "tokens": row.tokens,
                    "seconds": row.seconds,
                    "tokens_per_second": row.tokens_per_second,
                    "truncated": row.truncated,
                }
                for row in report.rows
            ],
            "comparisons": [asdict(comparison) for comparison in report.comparisons],
        }
        for report in reports
    ]


def _title(report: SetReport) -> str:
    return f"{report.test_set} ({report.sentences:,} sentences)"


def _markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> list[str]:
    """Lines of a table whose first `texts` columns are text and whose others are numbers."""
    alignment = ["---"] * texts + ["---:"] * (len(headings) - texts)
    return ["| " + " | ".join(cells) + " |" for cells in (headings, alignment, *rows)]
