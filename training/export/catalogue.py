"""models/README.md: the shipped bundles side by side, so that a user picks a pair and an objective from facts.

Everything in it comes from the bundles' manifests.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Manifest = Mapping[str, Any]

SIGNIFICANT = 0.05
METRICS = {"bleu": ("BLEU", 2), "chrf": ("chrF", 2), "perplexity": ("perplexity", 3), "length_ratio": ("length", 3)}

HEAD = """\
# The models

Each folder is a bundle that the service loads; [CONTRACT.md](CONTRACT.md) says what is in one. Beside it lies the
frozen model (`checkpoint.safetensors`), on which you can train an actor for an objective of your own
([training/README.md](../training/README.md)). The model cards have the data with credits and licences, the training,
and known failures.

This page is written from the bundles' manifests by `nudge-train catalogue`.
"""

LEGEND = """\
A request names its objective (`objective=bleu`); `none` is plain greedy decoding. In brackets is the change against
plain greedy, \\* where a paired bootstrap finds it significant (p < 0.05). Perplexity is the frozen model's own, of the
words chosen; length is that of the output over the reference's.
"""


def make_catalogue(manifests: Sequence[Manifest]) -> str:
    """The page about these bundles."""
    rows = [
        [
            f"[{one['name']}]({one['name']}/MODEL_CARD.md)",
            one["version"],
            f"{one['sizes']['parameters'] / 1e6:.1f}M",
            f"{sum(file['bytes'] for file in one['files'].values()) / 1e6:.1f} MB",
            ", ".join(f"`{actor['name']}`" for actor in one["actors"]) or "none",
            f"`{one['default_objective']}`" if one["default_objective"] else "plain greedy",
        ]
        for one in manifests
    ]
    overview = _table(["pair", "version", "parameters", "served", "objectives", "default"], rows)
    return "\n".join([HEAD, overview, "", LEGEND, *map(_pair, manifests)]).rstrip() + "\n"


def _pair(manifest: Manifest) -> str:
    objectives = [[f"`{actor['name']}`", actor["optimises"], actor["method"]] for actor in manifest["actors"]]
    sections = [f"## {manifest['source']} to {manifest['target']}"]
    if objectives:
        sections.append(_table(["objective", "optimises", "trained by"], objectives))
    for test_set in dict.fromkeys(score["test_set"] for score in manifest["scores"]):
        scores = [score for score in manifest["scores"] if score["test_set"] == test_set]
        baseline = next((one for one in scores if one["decoder"] == "greedy" and not one["objective"]), None)
        rows = [[_decoder(one), *_cells(one, baseline, manifest["actors"])] for one in scores]
        sections.append(_table([test_set, *(name for name, _ in METRICS.values())], rows))
    return "\n\n".join(sections) + "\n"


def _decoder(score: Mapping[str, Any]) -> str:
    objective = f", objective `{score['objective']}`" if score["objective"] else ""
    return f"{score['decoder']}{objective}"


def _cells(
    score: Mapping[str, Any], baseline: Mapping[str, Any] | None, actors: Sequence[Mapping[str, Any]]
) -> list[str]:
    cells = []
    for metric, (_, decimals) in METRICS.items():
        value = score.get(metric)
        if value is None:
            cells.append("")
            continue
        shown = f"{value:.{decimals}f}"
        if (
            baseline is not None
            and score["objective"]
            and metric != "length_ratio"
            and baseline.get(metric) is not None
        ):
            star = r"\*" if _is_significant(score, metric, actors) else ""
            shown += f" ({value - baseline[metric]:+.{decimals}f}{star})"
        cells.append(shown)
    return cells


def _is_significant(score: Mapping[str, Any], metric: str, actors: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the actor's change on this test set is, by the p-value that was measured with it."""
    wanted = "log_probability" if metric == "perplexity" else metric
    return any(
        gain["test_set"] == score["test_set"] and gain["metric"] == wanted and (gain.get("p") or 1.0) < SIGNIFICANT
        for actor in actors
        if actor["name"] == score["objective"]
        for gain in actor["gains"]
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] + ["--:"] * (len(headings) - 1) if len(headings) > 3 else ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
