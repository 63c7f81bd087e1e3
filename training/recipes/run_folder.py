"""The one place that knows the names of the files in a run's folder.

runs/<name>/
├── prepared.json                 what `prepare` did, and the fingerprint of what it did it from; written last
├── tokenizer.model               subwords of both sides, or source.model and target.model
├── data/                         the training text as ids
├── dev/<set>.{source,target}.txt, test/<set>.{source,target}.txt
├── checkpoints/                  to resume from, and to average
├── tensorboard/                  curves
├── model.safetensors, config.json   the trained model, and the config it was trained with
├── actors/<name>.safetensors, <name>.json
└── reports/                      tables and pictures of `evaluate` and `report`
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from training.config import Config
from training.corpus.reading import read_lines
from training.errors import CorpusError

DEFAULT_RUNS = Path("runs")


@dataclass(frozen=True)
class EvaluationSet:
    """A dev or test set: sentences and references, line by line."""

    name: str
    sources: list[str]
    references: list[str]

    def __len__(self) -> int:
        return len(self.sources)


@dataclass(frozen=True)
class RunFolder:
    """Paths inside one run's folder; nothing is created by asking for them."""

    path: Path
    is_joint: bool = True

    @classmethod
    def of(cls, config: Config, path: Path | None = None) -> "RunFolder":
        """Return the folder of a config's run: `path`, or runs/<name> when it is None."""
        return cls(path if path is not None else DEFAULT_RUNS / config.name, is_joint=config.tokenizer.joint)

    @property
    def prepared(self) -> Path:
        return self.path / "prepared.json"

    @property
    def source_tokenizer(self) -> Path:
        return self.path / ("tokenizer.model" if self.is_joint else "source.model")

    @property
    def target_tokenizer(self) -> Path:
        return self.path / ("tokenizer.model" if self.is_joint else "target.model")

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def dev(self) -> Path:
        return self.path / "dev"

    @property
    def test(self) -> Path:
        return self.path / "test"

    @property
    def start(self) -> "RunFolder":
        """The trained model that this run goes on from, when its config names one."""
        return RunFolder(self.path / "start", self.is_joint)

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def tensorboard(self) -> Path:
        return self.path / "tensorboard"

    @property
    def model(self) -> Path:
        return self.path / "model.safetensors"

    @property
    def config(self) -> Path:
        return self.path / "config.json"

    @property
    def actors(self) -> Path:
        return self.path / "actors"

    @property
    def reports(self) -> Path:
        return self.path / "reports"

    def actor(self, name: str) -> Path:
        return self.actors / f"{name}.safetensors"

    def dev_set(self, name: str) -> EvaluationSet:
        """Read a dev set that `prepare` wrote."""
        return _evaluation_set(self.dev, name)

    def test_set(self, name: str) -> EvaluationSet:
        """Read a test set that `prepare` wrote."""
        return _evaluation_set(self.test, name)

    def dev_sets(self, config: Config) -> Iterator[EvaluationSet]:
        """Read all dev sets, in the order of the config; the first decides early stopping."""
        return (self.dev_set(name) for name in config.corpus.dev)

    def test_sets(self, config: Config) -> Iterator[EvaluationSet]:
        """Read all test sets, in the order of the config."""
        return (self.test_set(name) for name in config.corpus.test)


def evaluation_files(folder: Path, name: str) -> tuple[Path, Path]:
    """Return the files of an evaluation set's sources and references."""
    return folder / f"{name}.source.txt", folder / f"{name}.target.txt"


def _evaluation_set(folder: Path, name: str) -> EvaluationSet:
    source, target = evaluation_files(folder, name)
    if not source.exists() or not target.exists():
        known = sorted(path.name.removesuffix(".source.txt") for path in folder.glob("*.source.txt"))
        raise CorpusError(
            f"{folder}: no set called {name!r} here (there is: {', '.join(known) or 'none'}); "
            "run `nudge-train prepare` first"
        )
    sources, references = list(read_lines(source)), list(read_lines(target))
    if len(sources) != len(references):
        raise CorpusError(f"{source}: {len(sources)} lines, but {len(references)} in {target}; prepare it again")
    return EvaluationSet(name, sources, references)
