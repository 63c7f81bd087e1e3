"""What is known of a run before it is exported: what `evaluate` measured, and what the bundle it came from says."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training.errors import EvaluationError, ExportError
from training.evaluation.decoders import Decoder


def read_scores(path: Path, actors: Sequence[str]) -> list[dict[str, Any]]:
    """Return a manifest's scores from reports/evaluate.json: plain decoders and this bundle's actors; [] if none."""
    if not path.is_file():
        return []
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        return [
            entry
            for test_set in report["test_sets"]
            for row in test_set["rows"]
            if (entry := _entry(test_set, row, actors)) is not None
        ]
    except (KeyError, TypeError, ValueError, EvaluationError) as error:
        raise ExportError(f"{path} is not a report of `nudge-train evaluate` ({error!r}); evaluate again") from None


def read_shipped_scores(path: Path) -> list[dict[str, Any]]:
    """Return the scores of the manifest that a run was unpacked with; [] for a run that was trained here."""
    if not path.is_file():
        return []
    scores: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["scores"]
    return scores


def shipped_state_range(path: Path) -> float:
    """Return the state range of that manifest, so that the same actors give the same graphs again; 1 without one."""
    if not path.is_file():
        return 1.0
    return float(json.loads(path.read_text(encoding="utf-8"))["provenance"].get("state_range", 1.0))


def shipped_spelling(path: Path) -> str:
    """Return the characters that the bundle's model knows by their bytes; none if its manifest does not say."""
    return str(json.loads(path.read_text(encoding="utf-8")).get("learnt_by_bytes", ""))


def _entry(test_set: dict[str, Any], row: dict[str, Any], actors: Sequence[str]) -> dict[str, Any] | None:
    decoder = Decoder.parse(row["decoder"])
    if decoder.actor is not None and decoder.actor not in actors:
        return None
    return {
        "test_set": test_set["test_set"],
        "decoder": decoder.method if decoder.size is None else f"{decoder.method}:{decoder.size}",
        "objective": decoder.actor,
        "bleu": round(row["bleu"], 2),
        "chrf": round(row["chrf"], 2),
        "perplexity": round(row["perplexity"], 3),
        "length_ratio": round(row["length_ratio"], 3),
        "signature": test_set["signatures"]["bleu"],
    }
