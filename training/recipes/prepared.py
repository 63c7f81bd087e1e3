"""The record of a prepared run: what is there, and the fingerprint of what it was made from.

A run whose `prepared.json` has the config's fingerprint is prepared, and nothing else is.
"""

import hashlib
import json
import os
from dataclasses import dataclass
from typing import Any

from training.config import Config
from training.corpus.reading import input_files
from training.errors import CorpusError
from training.recipes.run_folder import RunFolder

FORMAT = 1


@dataclass(frozen=True)
class Prepared:
    """What `prepare` left in the run's folder."""

    training_pairs: int
    source_tokens: int
    target_tokens: int
    source_vocabulary: int
    target_vocabulary: int


def require_prepared(config: Config, run: RunFolder) -> Prepared:
    """Return what `prepare` left in the run's folder; raise `CorpusError` when it is not there or of another config."""
    if not run.prepared.exists():
        raise CorpusError(f"{run.path}: not prepared yet; run `nudge-train prepare` with this config first")
    finished = find_prepared(config, run)
    if finished is None:
        raise CorpusError(
            f"{run.path}: prepared from another config or from other files; run `nudge-train prepare` again"
        )
    return finished


def fingerprint_of(config: Config) -> dict[str, Any]:
    """Return what decides the outcome: the config's sections, and the size and time of every file they name.

    Folders are left out, so that a prepared run can be moved to another machine, with its corpora or without.
    """
    sections = config.model_dump(mode="json", include={"languages", "corpus", "tokenizer"})
    _leave_out_what_is_new(sections["corpus"])
    if not sections["tokenizer"]["spaced_openings"]:
        del sections["tokenizer"]["spaced_openings"]
    if config.start_from is not None:
        sections["start_from"] = config.start_from.name
    texts = [*config.corpus.train, *config.corpus.dev.values(), *config.corpus.test.values()]
    if config.corpus.other_names is not None and config.corpus.other_names.translated is not None:
        texts.append(config.corpus.other_names.translated)
    paths = [path for text in texts for path in input_files(text)]
    described = json.dumps(sections, sort_keys=True)
    for path in paths:
        described = described.replace(json.dumps(str(path)), json.dumps(path.name))
    status = [path.stat() if path.exists() else None for path in paths]
    return {
        "config": hashlib.sha256(described.encode()).hexdigest(),
        "files": [[entry.st_size, entry.st_mtime_ns] if entry else None for entry in status],
    }


def _leave_out_what_is_new(corpus: dict[str, Any]) -> None:
    """Remove options that are not used, where they are younger than runs that should stay prepared."""
    del corpus["lessons"]  # read when an actor is trained
    for name in ("short_text", "other_names"):
        if corpus[name] is None:
            del corpus[name]
    for text in (*corpus["train"], *corpus["dev"].values(), *corpus["test"].values()):
        for name in ("any_case", "lines"):
            if not text[name]:
                del text[name]


def find_prepared(config: Config, run: RunFolder) -> Prepared | None:
    """Return what is prepared in `run`, or None when it is not finished or not of this config and these files."""
    try:
        record = json.loads(run.prepared.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    now = fingerprint_of(config)
    if record.get("format") != FORMAT or record.get("config") != now["config"]:
        return None
    if any(there not in (None, then) for there, then in zip(now["files"], record["files"], strict=True)):
        return None
    return Prepared(**{name: record[name] for name in Prepared.__dataclass_fields__})


def write_record(run: RunFolder, prepared: Prepared, fingerprint: dict[str, Any], texts: list[dict[str, Any]]) -> None:
    """Declare the run prepared: the last thing that `prepare` does."""
    record = {"format": FORMAT, **fingerprint, **vars(prepared), "texts": texts}
    partial = run.prepared.with_name(f".{run.prepared.name}.partial-{os.getpid()}")
    partial.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(run.prepared)
