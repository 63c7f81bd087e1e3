"""`nudge-train evaluate`: every decoder on every test set, with significance.

test sets → subwords → decoders → text → BLEU, chrF, perplexity, length, speed → paired bootstrap → tables
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from torch import nn

from training.config import Config, load_config
from training.errors import EvaluationError
from training.evaluation.bootstrap import DEFAULT_DRAWS, DEFAULT_SEED, compare
from training.evaluation.decoders import Decoder
from training.evaluation.prepared_set import Measurement, PreparedSet
from training.evaluation.table import Comparison, SetReport, to_json, to_markdown, to_rich
from training.nmt.allocator import keep_freed_memory
from training.nmt.checkpoint import load_model, write_atomically
from training.nmt.model import Actor, TranslationModel
from training.policy.actor import model_for
from training.policy.actor_file import load_actor
from training.recipes.run_folder import EvaluationSet, RunFolder
from training.tokenizer.subwords import Subwords

PLAIN_DECODERS = ("greedy", "beam", "npad")


def command(
    config: Annotated[Path, typer.Option(help="config of the experiment (TOML)")],
    run: Annotated[Path | None, typer.Option(help="folder of the run; runs/<name> by default")] = None,
    decoder: Annotated[
        list[str] | None,
        typer.Option(help="greedy, beam, npad, actor:NAME, beam+actor:NAME, beam:10, …; all by default; repeatable"),
    ] = None,
    test_set: Annotated[
        list[str] | None,
        typer.Option("--set", help="a test set, or dev/NAME for a dev set; all test sets by default; repeatable"),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option("--compare", help="two decoders, A,B: is B better than A? all against the first by default"),
    ] = None,
    draws: Annotated[int, typer.Option(min=1, help="resampled test sets of the bootstrap")] = DEFAULT_DRAWS,
    seed: Annotated[int, typer.Option(help="seed of the bootstrap")] = DEFAULT_SEED,
    threads: Annotated[int, typer.Option(min=1, help="threads to compute with")] = 1,
) -> None:
    """Measure decoders: BLEU, chrF, perplexity, length and speed, and whether their differences are real."""
    torch.set_num_threads(threads)
    loaded = load_config(config)
    evaluate(
        loaded,
        RunFolder.of(loaded, run),
        decoder,
        sets=test_set,
        compare=None if against is None else [_pair(text) for text in against],
        draws=draws,
        seed=seed,
        console=Console(),
    )


def evaluate(
    config: Config,
    run: RunFolder,
    decoders: Sequence[str] | None = None,
    *,
    sets: Sequence[str] | None = None,
    compare: Sequence[tuple[str, str]] | None = None,
    actors: Mapping[str, Actor] | None = None,
    draws: int = DEFAULT_DRAWS,
    seed: int = DEFAULT_SEED,
    console: Console | None = None,
) -> list[SetReport]:
    """Evaluate a run's model and write reports/evaluate.{json,md} and the outputs beside them.

    By default: greedy, beam, NPAD and every actor of the run; all test sets (the dev sets where there are none); and
    every row against the first.  `actors` gives actors that are not (yet) files of the run.
    """
    keep_freed_memory()
    console = console or Console(stderr=True)
    chosen = [Decoder.parse(name) for name in decoders or default_decoders(run)]
    names = [decoder.name for decoder in chosen]
    pairs = list(compare) if compare is not None else [(names[0], name) for name in names[1:]]
    _check_pairs(pairs, names)
    texts = list(_evaluation_sets(config, run, sets))
    model, _ = load_model(run.path)
    loaded_actors = {
        decoder.actor: (actors or {}).get(decoder.actor) or load_actor(run.actor(decoder.actor), model.sizes)
        for decoder in chosen
        if decoder.actor is not None
    }
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    for module in (model, *loaded_actors.values()):
        if isinstance(module, nn.Module):
            module.to(device)

    reports = []
    source, target = Subwords.load(run.source_tokenizer), Subwords.load(run.target_tokenizer)
    for text in texts:
        prepared = PreparedSet(text.name, text.sources, text.references, source, target)
        with progress_bar(console) as bar:
            measured = {
                decoder.name: _measure(model, prepared, decoder, loaded_actors, config, draws, seed, bar)
                for decoder in chosen
            }
        reports.append(_report(prepared, measured, pairs, draws, seed))
        for name, measurement in measured.items():
            _write_outputs(run, text.name, name, measurement)
        console.print(to_rich(reports[-1]), highlight=False)
    _write_reports(run, config, reports)
    console.print(f"→ {run.reports / 'evaluate.json'}", highlight=False)
    return reports


def default_decoders(run: RunFolder) -> list[str]:
    """The plain decoders, then greedy with each of the run's actors."""
    return [*PLAIN_DECODERS, *(f"actor:{path.stem}" for path in sorted(run.actors.glob("*.safetensors")))]


def progress_bar(console: Console) -> Progress:
    """A line for each decoder: sentences done, time spent, time left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )


def _measure(
    model: TranslationModel,
    prepared: PreparedSet,
    decoder: Decoder,
    actors: Mapping[str, Actor],
    config: Config,
    draws: int,
    seed: int,
    bar: Progress,
) -> Measurement:
    task = bar.add_task(f"{prepared.name} {decoder.name}", total=len(prepared))
    actor = None if decoder.actor is None else actors[decoder.actor]
    acted_on = model_for(model, actor) if isinstance(actor, nn.Module) else model
    return prepared.measure(
        model,
        decoder.name,
        lambda sources: decoder.decode(acted_on, sources, config.decoding, actor, partial(bar.advance, task)),
        has_actor=actor is not None,
        draws=draws,
        seed=seed,
    )


def _report(
    prepared: PreparedSet,
    measured: Mapping[str, Measurement],
    pairs: Sequence[tuple[str, str]],
    draws: int,
    seed: int,
) -> SetReport:
    comparisons = [
        Comparison(first, second, compare(measured[first].resampled, measured[second].resampled))
        for first, second in pairs
    ]
    rows = [measurement.row for measurement in measured.values()]
    return SetReport(prepared.name, len(prepared), rows, comparisons, prepared.references.signatures(), draws, seed)


def _evaluation_sets(config: Config, run: RunFolder, sets: Sequence[str] | None) -> Iterator[EvaluationSet]:
    """The named sets; by default the test sets, or the dev sets of a config that has none."""
    default = list(config.corpus.test) or [f"dev/{name}" for name in config.corpus.dev]
    for name in default if sets is None else sets:
        found = run.dev_set(name.removeprefix("dev/")) if name.startswith("dev/") else run.test_set(name)
        yield replace(found, name=name)


def _pair(text: str) -> tuple[str, str]:
    first, comma, second = text.partition(",")
    if not comma:
        raise EvaluationError(f"--compare is {text!r}; give two decoders, as in greedy,beam")
    return first.strip(), second.strip()


def _check_pairs(pairs: Sequence[tuple[str, str]], names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise EvaluationError(f"a decoder is named twice: {', '.join(names)}")
    unknown = sorted({name for pair in pairs for name in pair} - set(names))
    if unknown:
        raise EvaluationError(
            f"cannot compare {', '.join(unknown)}, which is not evaluated; the decoders are {', '.join(names)}"
        )


def _write_outputs(run: RunFolder, test_set: str, decoder: str, measurement: Measurement) -> None:
    """One output a line, so that other tools can score or diff them."""
    lines = "".join(" ".join(text.splitlines()) + "\n" for text in measurement.texts)
    path = run.reports / "outputs" / test_set / f"{decoder.replace(':', '-')}.txt"
    write_atomically(path, lambda temporary: temporary.write_text(lines, encoding="utf-8"))


def _write_reports(run: RunFolder, config: Config, reports: Sequence[SetReport]) -> None:
    contents: dict[str, Any] = {
        "name": config.name,
        "languages": config.languages.model_dump(),
        "decoding": config.decoding.model_dump(),
        "test_sets": to_json(reports),
    }
    text = json.dumps(contents, indent=2, ensure_ascii=False) + "\n"
    write_atomically(run.reports / "evaluate.json", lambda path: path.write_text(text, encoding="utf-8"))
    table = f"# {config.name}\n\n{to_markdown(reports)}"
    write_atomically(run.reports / "evaluate.md", lambda path: path.write_text(table, encoding="utf-8"))
