"""MODEL_CARD.md: what a person should know before using a bundle, made from what the exporter knows."""

from collections.abc import Mapping, Sequence
from typing import Any

from training.config import Export
from training.export.manifest import BundleFacts


def make_model_card(facts: BundleFacts, export: Export, parity: Mapping[str, str]) -> str:
    """Return the card.  `parity` holds what the export's gates measured, a line each."""
    sections = [
        _introduction(facts, export),
        _section("Intended use", [export.intended_use] if export.intended_use else []),
        _section("Known failures", [f"- {failure}" for failure in export.known_failures]),
        _section("Data and credits", [f"- {credit}" for credit in export.credits]),
        _training(facts),
        _scores(facts),
        _actors(facts),
        _section("Checked at export", [f"- {name}: {result}" for name, result in parity.items()]),
        _confidence(facts),
        _section("Licence", [f"The weights are under {facts.licence}."]),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _introduction(facts: BundleFacts, export: Export) -> str:
    sizes = facts.model.sizes
    kind = "int8 with fixed activation scales" if facts.quantisation == "int8" else "fp32"
    refined = f" refined by {sizes.refinement} layers of self-attention" if sizes.refinement else ""
    description = export.description or f"Translates {facts.source} to {facts.target}."
    return (
        f"# {facts.name} {facts.version}\n\n{description}\n\n"
        f"Attention-GRU model of {facts.model.parameters / 1e6:.1f} million parameters: embeddings {sizes.embedding},"
        f" encoder 2 × {sizes.encoder}{refined}, decoder {sizes.decoder}, attention {sizes.attention},"
        f" readout {sizes.readout},"
        f" vocabularies of {sizes.source_vocabulary} and {sizes.target_vocabulary} subwords; {kind}."
    )


def _training(facts: BundleFacts) -> str:
    provenance = facts.provenance
    lines = []
    if provenance.get("config"):
        lines.append(f"- config: `{provenance['config']}`")
    if provenance.get("steps") is not None:
        lines.append(f"- updates: {provenance['steps']:,}")
    if provenance.get("cpu_hours") is not None:
        lines.append(f"- CPU hours: {provenance['cpu_hours']:.2f}")
    return _section("Training", lines)


def _scores(facts: BundleFacts) -> str:
    columns = (("bleu", "BLEU", 2), ("chrf", "chrF", 2), ("perplexity", "perplexity", 2), ("length_ratio", "length", 3))
    rows = [
        [
            str(score["test_set"]),
            str(score["decoder"]) + (f" + {score['objective']}" if score.get("objective") else ""),
            *(_number(score.get(key), decimals) for key, _, decimals in columns),
        ]
        for score in facts.scores
    ]
    table = _table(["test set", "decoder", *(heading for _, heading, _ in columns)], rows)
    signatures = sorted({str(score["signature"]) for score in facts.scores if score.get("signature")})
    return _section("Scores", [*table, "", *(f"`{signature}`" for signature in signatures)] if rows else [])


def _actors(facts: BundleFacts) -> str:
    if not facts.actors:
        return ""
    default = facts.default_objective or "none: plain greedy"
    lines = [f"Objectives a request can name (default {default}):", ""]
    lines += _table(
        ["objective", "optimises", "trained by", "units"],
        [[a.weights.name, a.optimises or a.objective, a.method, str(a.weights.units)] for a in facts.actors],
    )
    gains = [
        [
            actor.weights.name,
            str(gain["test_set"]),
            str(gain["metric"]),
            _number(gain["greedy"], 2),
            _number(gain["actor"], 2),
            _number(gain.get("beam"), 2),
            _number(gain.get("p"), 3),
        ]
        for actor in facts.actors
        for gain in actor.gains
    ]
    if gains:
        headings = ["objective", "test set", "metric", "greedy", "with the actor", "beam", "p against greedy"]
        lines += ["", *_table(headings, gains)]
    return _section("Objectives", lines)


def _confidence(facts: BundleFacts) -> str:
    if facts.calibration is None:
        return ""
    return _section("Confidence", [f"{facts.calibration['meaning']}; fitted on {facts.calibration['fitted_on']}."])


def _section(heading: str, lines: Sequence[str]) -> str:
    return f"## {heading}\n\n" + "\n".join(lines).rstrip() if lines else ""


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [headings, ["---"] * len(headings), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def _number(value: Any, decimals: int) -> str:
    return "" if value is None else f"{value:.{decimals}f}"
