"""Start from a shipped bundle: the run's folder that `nudge-train actor` and `nudge-train report` need.

The bundle's frozen model, subwords and actors are unpacked.  For an actor, a parallel text of one's own is cleaned and
split into training pairs and two held-out sets, one to choose the actor on and one to report on; for a report, the
config's dev and test sets are all it takes.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from training.config import Config, Corpus, ParallelText
from training.corpus.cache import TokenCorpus
from training.corpus.cleaning import Cleaner
from training.corpus.reading import Pair, describe, read_pairs
from training.errors import CorpusError
from training.export.bundle import MANIFEST_NAME
from training.export.checkpoint import SHIPPED_NAME, unpack_bundle
from training.nmt.checkpoint import DESCRIPTION, load_description, write_atomically
from training.recipes.prepare import write_evaluation_sets
from training.recipes.run_folder import RunFolder, evaluation_files
from training.tokenizer.subwords import Subwords

DEV, TEST = "held-out-dev", "held-out-test"
FEWEST_PAIRS = 50
LARGEST_HELD_OUT = 500


def adopt(bundle: Path, text: ParallelText, run: Path, console: Console) -> Config:
    """Make `run` the folder of a training on `text` with the bundle's model; return its config.

    A folder that was made before is used as it is, provided that it was made of the same text.
    """
    if not (run / DESCRIPTION).exists():
        unpack_bundle(bundle, run)
    description = load_description(run)
    config = Config.model_validate(description["config"])
    folder = RunFolder.of(config, run)
    if folder.data.exists():
        if config.corpus.train != (text,):
            raise CorpusError(
                f"{run} was made of {describe(config.corpus.train[0])}, not of {describe(text)}; give another --run"
            )
        return config
    cleaner = Cleaner(config.corpus.cleaning, config.languages)
    pairs = list(cleaner.clean(read_pairs(text, config.languages), describe(text), text))
    train, dev, test = split(pairs)
    own_sets = {}
    for part, name, held_out in ((folder.dev, DEV, dev), (folder.test, TEST, test)):
        own_sets[name] = _write_set(part, name, held_out)
    own = Corpus(train=(text,), dev={DEV: own_sets[DEV]}, test={TEST: own_sets[TEST]}, cleaning=config.corpus.cleaning)
    config = config.model_copy(update={"corpus": own})
    description["config"] = config.model_dump(mode="json")
    contents = json.dumps(description, indent=2) + "\n"
    write_atomically(run / DESCRIPTION, lambda path: path.write_text(contents, encoding="utf-8"))
    source, target = Subwords.load(folder.source_tokenizer), Subwords.load(folder.target_tokenizer)
    # Last, for it says that the folder is made.
    TokenCorpus.write(
        folder.data,
        zip(
            source.encode_many([pair[0] for pair in train]),
            target.encode_many([pair[1] for pair in train]),
            strict=True,
        ),
        vocabulary=max(len(source), len(target)),
    )
    console.print(
        f"{run}: the model of {bundle}, {len(train):,} training pairs of {describe(text)}, {len(dev):,} held out to "
        f"choose on and {len(test):,} to report on",
        highlight=False,
    )
    return config


def unpack_to_report(bundle: Path, config: Config, run: Path) -> RunFolder:
    """Make `run` a folder with the bundle's model and actors and the config's dev and test sets; return it.

    A folder that was made before is used as it is, provided that it was made of the same bundle.
    """
    folder, shipped = RunFolder.of(config, run), run / SHIPPED_NAME
    if folder.test.exists():
        if not shipped.is_file() or shipped.read_bytes() != (bundle / MANIFEST_NAME).read_bytes():
            raise CorpusError(f"{run} was not made of {bundle} as it is now; remove it, or give another --run")
        return folder
    if not folder.model.exists():
        unpack_bundle(bundle, run)
    languages = Config.model_validate(load_description(run)["config"]).languages
    if languages != config.languages:
        raise CorpusError(
            f"{bundle} translates {languages.source} to {languages.target}, the config's texts are "
            f"{config.languages.source} and {config.languages.target}"
        )
    shutil.rmtree(folder.dev, ignore_errors=True)
    write_evaluation_sets(folder.dev, config.corpus.dev, config)
    partial = run / "test.partial"
    shutil.rmtree(partial, ignore_errors=True)
    write_evaluation_sets(partial, config.corpus.test, config)
    partial.rename(folder.test)  # last, for it says that the folder is made
    return folder


def split(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Training pairs and two held-out sets of a tenth each (at most 500), spread evenly over the text."""
    if len(pairs) < FEWEST_PAIRS:
        raise CorpusError(
            f"{len(pairs)} pairs are left of the text after cleaning; an actor needs at least {FEWEST_PAIRS}, and "
            "thousands to learn something"
        )
    every = max(10, len(pairs) // LARGEST_HELD_OUT)
    dev = [pair for index, pair in enumerate(pairs) if index % every == 0]
    test = [pair for index, pair in enumerate(pairs) if index % every == every // 2]
    train = [pair for index, pair in enumerate(pairs) if index % every not in (0, every // 2)]
    return train, dev, test


def _write_set(folder: Path, name: str, pairs: Sequence[Pair]) -> ParallelText:
    files = evaluation_files(folder, name)
    folder.mkdir(parents=True, exist_ok=True)
    for path, side in zip(files, (0, 1), strict=True):
        path.write_text("".join(pair[side] + "\n" for pair in pairs), encoding="utf-8")
    return ParallelText(source=files[0].resolve(), target=files[1].resolve())
