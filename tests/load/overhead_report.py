"""The results of `make overhead`: a table on the screen and in Markdown, a picture, and all numbers as JSON."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from paired import (
    Estimate,
    Round,
    Slice,
    Statistic,
    compare,
    compare_latencies,
    cpu_per_token,
    latency_percentile,
    pooled,
    requests_per_s,
    seconds_per_token,
)
from rich.console import Console
from rich.table import Table
from traffic import Kind, Pair


@dataclass(frozen=True, slots=True)
class Column:
    """A number of the table: how it is computed from a slice, and how it is shown."""

    name: str
    statistic: Statistic
    scale: float
    digits: int
    percent: float | None = None  # of the latencies, where it is one of their percentiles

    def compare(self, rounds: Sequence[Round], kind: str, baseline: str, starts: int) -> Estimate:
        if self.percent is not None:
            return compare_latencies(rounds, kind, baseline, self.percent, starts=starts)
        return compare(rounds, kind, baseline, self.statistic, starts=starts)

    def show(self, part: Slice) -> str:
        return f"{self.statistic(part) * self.scale:,.{self.digits}f}"


COLUMNS = (
    Column("p50 ms", latency_percentile(50), 1000, 1, percent=50),
    Column("p95 ms", latency_percentile(95), 1000, 1, percent=95),
    Column("p99 ms", latency_percentile(99), 1000, 1, percent=99),
    Column("requests/s", requests_per_s, 1, 1),
    Column("ms/token", seconds_per_token, 1000, 3),
    Column("CPU ms/token", cpu_per_token, 1000, 3),
)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was measured; `results` by the number of callers."""

    pair: Pair
    kinds: Sequence[Kind]
    results: Mapping[int, Sequence[Round]]
    starts: int  # of the processes, with as many rounds each
    sentences: int
    before: dict[str, Any]
    after: dict[str, Any]

    @property
    def baseline(self) -> str:
        return self.kinds[0].name

    @property
    def choices(self) -> list[Kind]:
        """Those that ask for an objective where another kind asks the same bundle for none."""
        return [kind for kind in self.kinds if kind.plain is not None]

    def estimate(self, callers: int, kind: str, column: Column, baseline: str | None = None) -> Estimate:
        return column.compare(self.results[callers], kind, baseline or self.baseline, self.starts)


def describe_machine() -> dict[str, Any]:
    """What the numbers depend on, and how busy the machine is with other things."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "processor": names[0].partition(":")[2].strip() if names else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load_average": round(os.getloadavg()[0], 2),
        "onnxruntime": version("onnxruntime"),
        "settings": {name: value for name, value in sorted(os.environ.items()) if name.startswith("NUDGE_")},
    }


def write_report(report: Report, folder: Path, console: Console) -> None:
    """Show the tables and write overhead.md, overhead.json and overhead.png."""
    for callers in report.results:
        console.print(_table(report, callers))
    if report.choices:
        console.print(_choices_table(report))
    console.print(_conditions(report), highlight=False)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "overhead.md").write_text(as_markdown(report), encoding="utf-8")
    (folder / "overhead.json").write_text(json.dumps(as_json(report), indent=1), encoding="utf-8")
    draw(report, folder / "overhead.png")
    console.print(f"written to {folder}: overhead.md, overhead.json, overhead.png")


def _cells(report: Report, callers: int, kind: str, line_break: str) -> list[str]:
    everything = pooled(report.results[callers], kind)
    cells = []
    for column in COLUMNS:
        shown = column.show(everything)
        if kind != report.baseline:
            estimate = report.estimate(callers, kind, column)
            shown += f"{line_break}×{estimate.ratio:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"
        cells.append(shown)
    return cells


def _table(report: Report, callers: int) -> Table:
    noun = "caller" if callers == 1 else "callers"
    table = Table(title=f"{callers} {noun}; × no actors, {len(report.results[callers])} rounds [95%]")
    table.add_column("")
    for column in COLUMNS:
        table.add_column(column.name, justify="right")
    for kind in report.kinds:
        # Brackets would be read as markup.
        table.add_row(kind.name, *(cell.replace("[", r"\[") for cell in _cells(report, callers, kind.name, "\n")))
    return table


def _choice_rows(report: Report) -> list[list[str]]:
    """What an objective costs where the actors are served anyway: ratios to plain requests to the same bundle."""
    rows = []
    for callers in report.results:
        for kind in report.choices:
            estimates = [report.estimate(callers, kind.name, column, kind.plain) for column in COLUMNS]
            rows.append(
                [str(callers), kind.name, *(f"×{one.ratio:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in estimates)]
            )
    return rows


def _choices_table(report: Report) -> Table:
    table = Table(title="to ask for an objective or for none, of the same bundle [95%]")
    for name in ("callers", "", *(column.name for column in COLUMNS)):
        table.add_column(name, justify="right" if name else "left")
    for row in _choice_rows(report):
        table.add_row(*(cell.replace("[", r"\[") for cell in row))
    return table


def as_markdown(report: Report) -> str:
    """One table for all numbers of callers, and one of what it costs to ask for an objective."""
    lines = [
        "| callers | decoding | " + " | ".join(column.name for column in COLUMNS) + " |",
        "|--:|---|" + "--:|" * len(COLUMNS),
    ]
    for callers in report.results:
        lines += [
            f"| {callers} | {kind.name} | " + " | ".join(_cells(report, callers, kind.name, "<br>")) + " |"
            for kind in report.kinds
        ]
    lines += ["", _conditions(report)]
    if report.choices:
        lines += [
            "",
            "Against plain requests to the same bundle:",
            "",
            "| callers | decoding | " + " | ".join(column.name for column in COLUMNS) + " |",
            "|--:|---|" + "--:|" * len(COLUMNS),
            *("| " + " | ".join(row) + " |" for row in _choice_rows(report)),
        ]
    return "\n".join(lines) + "\n"


def _conditions(report: Report) -> str:
    before, after = report.before, report.after
    settings = ", ".join(f"{name}={value}" for name, value in before["settings"].items()) or "default settings"
    rounds = ", ".join(
        f"{len(rounds)} of {len(rounds[0][report.baseline].latencies_s)} ({callers} callers)"
        for callers, rounds in report.results.items()
    )
    return (
        f"{report.pair.model}; rounds and requests of each way of decoding in a round: {rounds}, drawn from"
        f" {report.sentences} sentences; processes started {report.starts} times; × is against the bundle without"
        f" actors, in the same rounds [95% bootstrap interval over starts and rounds]."
        f" {before['processor']}, {before['cores']} cores for service and callers,"
        f" load average {before['load_average']} before and {after['load_average']} after; onnxruntime"
        f" {before['onnxruntime']}; {settings}."
    )


def as_json(report: Report) -> dict[str, Any]:
    """Every slice, so that other statistics can be taken later."""
    return {
        "model": report.pair.model,
        "before": report.before,
        "after": report.after,
        "sentences": report.sentences,
        "starts": report.starts,
        "callers": {
            str(callers): {
                kind.name: {
                    "parameters": kind.variants,
                    "estimates": {
                        column.name: asdict(report.estimate(callers, kind.name, column)) for column in COLUMNS
                    },
                    "against_plain": {
                        column.name: asdict(report.estimate(callers, kind.name, column, kind.plain))
                        for column in (COLUMNS if kind.plain else ())
                    },
                    "rounds": [asdict(one[kind.name]) for one in rounds],
                }
                for kind in report.kinds
            }
            for callers, rounds in report.results.items()
        },
    }


def draw(report: Report, path: Path) -> None:
    """Above, how much more CPU and time a token takes than without actors; below, tokens/s of everything."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    close = [kind.name for kind in report.kinds[1:] if not kind.name.startswith("beam")]
    names = [kind.name for kind in report.kinds]
    figure, axes = plt.subplots(
        2, len(report.results), figsize=(4.2 * len(report.results) + 1.2, 6.4), squeeze=False, layout="constrained"
    )
    for index, callers in enumerate(report.results):
        above, below = axes[0][index], axes[1][index]
        for shift, column, colour in ((-0.14, COLUMNS[5], "#1f6f8b"), (0.14, COLUMNS[4], "#e07a3f")):
            estimates = [report.estimate(callers, name, column) for name in close]
            places = np.arange(len(close)) + shift
            centres = [100 * (one.ratio - 1) for one in estimates]
            spread = [[100 * (e.ratio - e.low) for e in estimates], [100 * (e.high - e.ratio) for e in estimates]]
            label = {"ms/token": "time of a token", "CPU ms/token": "CPU time of a token"}[column.name]
            above.errorbar(centres, places, xerr=spread, fmt="o", color=colour, label=label, capsize=3)
        above.axvline(0, color="0.4", linewidth=0.8)
        above.set_title("1 caller" if callers == 1 else f"{callers} callers")
        above.set_xlabel("more than without actors, %")
        above.set_yticks(range(len(close)), close if index == 0 else [""] * len(close))
        above.invert_yaxis()
        speeds = [1 / seconds_per_token(pooled(report.results[callers], name)) for name in names]
        bars = below.barh(names if index == 0 else range(len(names)), speeds, color="#9db8c4")
        below.bar_label(bars, [f"{speed:,.0f}" for speed in speeds], padding=3, fontsize=8)
        below.set_xlim(right=1.2 * max(speeds))
        below.set_xlabel("tokens/s")
        if index:
            below.set_yticks([])
        below.invert_yaxis()
        for axis in (above, below):
            axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].legend(frameon=False, fontsize=8, loc="best")
    figure.suptitle(f"{report.pair.model}: what an actor costs")
    figure.savefig(path, dpi=150)
    plt.close(figure)
