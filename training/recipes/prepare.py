"""`nudge-train prepare`: text in, subwords and ids out.

Read, clean, learn the subwords, encode.  The texts pass as streams, so the corpus never has to fit into memory (unless
words are to be aligned in it).
Everything is made in a partial folder and moved into the run when it is whole; its record is written last.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from training.config import Config, ParallelText, load_config
from training.corpus.cache import TokenCorpus
from training.corpus.cleaning import Cleaner, CleaningReport
from training.corpus.names import with_other_names
from training.corpus.reading import Pair, describe, is_short_enough, read_lines, read_pairs
from training.corpus.short_text import bare_phrases, in_any_case, lone_words
from training.errors import CorpusError, TrainingError
from training.recipes.prepared import Prepared, find_prepared, fingerprint_of, write_record
from training.recipes.run_folder import RunFolder, evaluation_files
from training.recipes.starting import fetch_start
from training.tokenizer.subwords import Subwords, learn_subwords, space_openings

PARTIAL = ".prepare-"  # and the id of the process that works in it
CHUNK_PAIRS = 10_000


def command(
    config: Annotated[Path, typer.Option(help="config of the experiment (TOML)")],
    run: Annotated[Path | None, typer.Option(help="folder of the run; runs/<name> by default")] = None,
    force: Annotated[bool, typer.Option(help="prepare again, even over a trained model")] = False,
) -> None:
    """Read and clean the corpora, learn the subwords, cache the ids."""
    loaded = load_config(config)
    prepare(loaded, RunFolder.of(loaded, run), force=force)


def prepare(config: Config, run: RunFolder, *, force: bool = False, console: Console | None = None) -> Prepared:
    """Make the run's data from the config's corpora, unless that is done already; return what is there."""
    console = console or Console(stderr=True)
    finished = find_prepared(config, run)
    if finished is not None and not force:
        console.print(f"{run.path}: prepared already from this config, nothing to do (--force prepares again)")
        return finished
    _refuse_to_pull_the_data_from_under_a_model(run, force)
    fingerprint = fingerprint_of(config)
    _remove_what_was_killed(run)
    partial = run.path / f"{PARTIAL}{os.getpid()}"
    partial.mkdir(parents=True)
    try:
        with _progress(console) as progress:
            prepared, reports = _prepare_into(RunFolder(partial, run.is_joint), config, progress, console)
        _move_into_place(partial, run)
        write_record(run, prepared, fingerprint, reports)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    console.print(
        f"{run.path}: {prepared.training_pairs:,} training pairs, {prepared.source_tokens:,} source and "
        f"{prepared.target_tokens:,} target tokens, vocabularies of {prepared.source_vocabulary:,} and "
        f"{prepared.target_vocabulary:,}",
        highlight=False,
    )
    return prepared


def _prepare_into(
    folder: RunFolder, config: Config, progress: Progress, console: Console
) -> tuple[Prepared, list[dict[str, Any]]]:
    # Evaluation sets first: they are small, and a wrong path is noticed in seconds rather than after minutes.
    write_evaluation_sets(folder.dev, config.corpus.dev, config)
    write_evaluation_sets(folder.test, config.corpus.test, config)
    if config.start_from is not None:
        fetch_start(config.start_from, folder)
    clean_text = folder.path / "clean.source.txt", folder.path / "clean.target.txt"
    reports, table = _write_clean_text(clean_text, config, progress)
    console.print(table)
    if config.start_from is None:
        source, target = _learn(folder, config, clean_text, progress)
    else:
        source, target = _given_subwords(folder, config)
    repeats = [(report.kept, text.repeat) for report, text in zip(reports, config.corpus.train, strict=True)]
    if config.corpus.short_text is not None or config.corpus.other_names is not None:
        repeats += _add_made_text(clean_text, config, progress, console)
    task = progress.add_task("encoding", total=sum(kept for kept, _ in repeats))
    TokenCorpus.write(
        folder.data,
        _repeated(_encoded(clean_text, source, target, progress, task), repeats),
        vocabulary=max(len(source), len(target)),
    )
    for path in clean_text:
        path.unlink()  # the ids decode to exactly this text
    corpus = TokenCorpus.open(folder.data)
    prepared = Prepared(
        training_pairs=len(corpus),
        source_tokens=len(corpus.source_ids),
        target_tokens=len(corpus.target_ids),
        source_vocabulary=len(source),
        target_vocabulary=len(target),
    )
    return prepared, [{**vars(report), "removed": dict(report.removed)} for report in reports]


def write_evaluation_sets(folder: Path, sets: dict[str, ParallelText], config: Config) -> None:
    """Write dev or test sets where `RunFolder` finds them; `folder` must be new."""
    folder.mkdir()
    for name, text in sets.items():
        source_path, target_path = evaluation_files(folder, name)
        with source_path.open("w", encoding="utf-8") as sources, target_path.open("w", encoding="utf-8") as targets:
            for pair in read_pairs(text, config.languages):
                if is_short_enough(pair, text):
                    sources.write(_line(pair[0]))
                    targets.write(_line(pair[1]))


def _write_clean_text(
    paths: tuple[Path, Path], config: Config, progress: Progress
) -> tuple[list[CleaningReport], Table]:
    """Read and clean all training texts into one pair of files; return a report for each text, and their table."""
    cleaner = Cleaner(config.corpus.cleaning, config.languages)
    with paths[0].open("w", encoding="utf-8") as sources, paths[1].open("w", encoding="utf-8") as targets:
        for text in config.corpus.train:
            name = describe(text)
            task = progress.add_task(f"reading and cleaning {name}", total=None)
            pairs = read_pairs(text, config.languages)
            kept = cleaner.clean(in_any_case(pairs) if text.any_case else pairs, name, text)
            for source, target in _ticking(kept, progress, task):
                sources.write(_line(source))
                targets.write(_line(target))
    if not any(report.kept for report in cleaner.reports):
        removed: Counter[str] = sum((report.removed for report in cleaner.reports), start=Counter())
        raise CorpusError(f"cleaning removed every training pair ({dict(removed)}); loosen corpus.cleaning")
    return cleaner.reports, cleaner.table()


def _add_made_text(
    paths: tuple[Path, Path], config: Config, progress: Progress, console: Console
) -> list[tuple[int, int]]:
    """Add to the clean text what is to be made of it; return how many pairs there are of each kind, and repeats."""
    corpus = config.corpus
    text = list(zip(*(read_lines(path) for path in paths), strict=True))
    made: list[tuple[Sequence[Pair], int]] = []
    if corpus.short_text is not None:
        task = progress.add_task("aligning words", total=None)
        phrases, words = list(bare_phrases(text, corpus.short_text)), list(lone_words(text, corpus.short_text))
        made += [(phrases, corpus.short_text.phrase_repeat)]
        made += [(word.pairs, word.repeat(corpus.short_text)) for word in words]
        progress.update(task, total=1, completed=1)
        console.print(f"made of it: {len(phrases):,} bare phrases, {len(words):,} lone words", highlight=False)
    if corpus.other_names is not None:
        translated = corpus.other_names.translated
        names = [] if translated is None else list(read_pairs(translated, config.languages))
        renamed = list(with_other_names(text, corpus.other_names, names))
        made.append((renamed, 1))
        console.print(f"made of it: {len(renamed):,} pairs with other names", highlight=False)
    for side, path in enumerate(paths):
        with path.open("a", encoding="utf-8") as file:
            file.writelines(_line(pair[side]) for pairs, _ in made for pair in pairs)
    return [(len(pairs), repeat) for pairs, repeat in made]


def _learn(
    folder: RunFolder, config: Config, clean_text: tuple[Path, Path], progress: Progress
) -> tuple[Subwords, Subwords]:
    settings = config.tokenizer
    task = progress.add_task("learning subwords", total=None)
    threads = os.cpu_count() or 1

    def learn(paths: Iterable[Path], model: Path, vocabulary: int) -> Subwords:
        return learn_subwords(
            _sample(list(paths), settings.training_sentences),
            model,
            vocabulary=vocabulary,
            character_coverage=settings.character_coverage,
            threads=threads,
            spaced_openings=settings.spaced_openings,
        )

    source = learn(clean_text if settings.joint else clean_text[:1], folder.source_tokenizer, settings.vocabulary)
    target = source
    if not settings.joint:
        target = learn(clean_text[1:], folder.target_tokenizer, settings.target_vocabulary or settings.vocabulary)
    progress.update(task, total=1, completed=1)
    return source, target


def _given_subwords(folder: RunFolder, config: Config) -> tuple[Subwords, Subwords]:
    """The subwords of the model to start from.  From now on they may have spaced openings, but not lose them."""
    paths = (folder.source_tokenizer, folder.target_tokenizer)
    if config.tokenizer.spaced_openings:
        for path in set(paths):
            space_openings(path)
    source, target = map(Subwords.load, paths)
    if source.has_spaced_openings != config.tokenizer.spaced_openings:
        raise TrainingError(
            f"start_from = {config.start_from}: its subwords have spaced openings; set tokenizer.spaced_openings = true"
        )
    return source, target


def _sample(paths: list[Path], sentences: int) -> Iterator[str]:
    """Yield at most `sentences` lines of the files, evenly spread over all of them."""
    lines = [sum(1 for _ in read_lines(path)) for path in paths]
    total = sum(lines)
    position = 0
    for path in paths:
        for line in read_lines(path):
            # Line number `position` is taken when it is the first at or after a multiple of total / sentences.
            if total <= sentences or position * sentences // total != (position - 1) * sentences // total:
                yield line
            position += 1


def _encoded(
    clean_text: tuple[Path, Path], source: Subwords, target: Subwords, progress: Progress, task: TaskID
) -> Iterator[tuple[list[int], list[int]]]:
    lines = zip(read_lines(clean_text[0]), read_lines(clean_text[1]), strict=True)
    threads = os.cpu_count() or 1
    while chunk := list(islice(lines, CHUNK_PAIRS)):
        source_ids = source.encode_many([pair[0] for pair in chunk], threads)
        target_ids = target.encode_many([pair[1] for pair in chunk], threads)
        progress.advance(task, len(chunk))
        yield from zip(source_ids, target_ids, strict=True)


def _repeated(
    pairs: Iterable[tuple[list[int], list[int]]], repeats: list[tuple[int, int]]
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the pairs of each text as often as it is to be seen in an epoch."""
    remaining = iter(pairs)
    for count, times in repeats:
        for pair in islice(remaining, count):
            for _ in range(times):
                yield pair


def _line(sentence: str) -> str:
    # Sentences of files cannot hold a line break; those of public corpora in other formats can.
    return sentence.replace("\n", " ") + "\n"


def _ticking(pairs: Iterable[Pair], progress: Progress, task: TaskID) -> Iterator[Pair]:
    count = 0
    for count, pair in enumerate(pairs, start=1):
        if count % 1000 == 0:
            progress.update(task, completed=count)
        yield pair
    progress.update(task, total=count, completed=count)


def _refuse_to_pull_the_data_from_under_a_model(run: RunFolder, force: bool) -> None:
    if not force and (run.model.exists() or run.checkpoints.exists()):
        raise TrainingError(
            f"{run.path}: holds a model that was trained on other data; new subwords would make it useless. "
            "Choose another --run, or prepare again with --force"
        )


def _remove_what_was_killed(run: RunFolder) -> None:
    """Remove the partial folders of processes that are no more."""
    for partial in run.path.glob(f"{PARTIAL}*"):
        try:
            os.kill(int(partial.name.removeprefix(PARTIAL)), 0)
        except ProcessLookupError:
            shutil.rmtree(partial)


def _move_into_place(partial: Path, run: RunFolder) -> None:
    run.prepared.unlink(missing_ok=True)  # from here to the new record, the run counts as unprepared
    for stale in ("tokenizer.model", "source.model", "target.model"):
        (run.path / stale).unlink(missing_ok=True)
    for part in sorted(partial.iterdir()):
        destination = run.path / part.name
        if destination.is_dir():
            shutil.rmtree(destination)
        part.rename(destination)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    )
