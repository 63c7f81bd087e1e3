"""A whole config, read from TOML with every problem reported in one go.

`extends = "other.toml"` takes all that the file does not say itself from another one, beside it.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from training.config.actors import ActorTraining
from training.config.model import Decoding, Export, Model, Pretrain
from training.config.section import FileName, Section
from training.config.text import Corpus, Languages, Tokenizer
from training.errors import ConfigError


class Config(Section):
    """A whole experiment: from text to bundle."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", description="names the run's folder")
    languages: Languages
    start_from: Path | None = Field(
        default=None,
        description="go on from a trained model, of a run or a bundle: its subwords and its weights, on this text",
    )
    corpus: Corpus
    tokenizer: Tokenizer = Tokenizer()
    model: Model = Model()
    pretrain: Pretrain = Pretrain()
    decoding: Decoding = Decoding()
    actors: dict[FileName, ActorTraining] = Field(default_factory=dict)
    export: Export = Export()

    @property
    def actors_dev(self) -> dict[str, int]:
        """The dev sets that the first actor names, with their sentences; none: all of the first dev set."""
        return next((dict(actor.dev) for actor in self.actors.values()), {})

    @property
    def actors_dev_name(self) -> str:
        """What reports call them."""
        return " + ".join(self.actors_dev) or next(iter(self.corpus.dev))

    @model_validator(mode="after")
    def separate_vocabularies_have_two_sizes(self) -> Self:
        if self.tokenizer.joint and self.tokenizer.target_vocabulary is not None:
            raise ValueError("tokenizer.target_vocabulary is for joint = false")
        return self

    @model_validator(mode="after")
    def actors_look_at_dev_sets_that_exist(self) -> Self:
        for name, actor in self.actors.items():
            unknown = [f"`{dev}`" for dev in actor.dev if dev not in self.corpus.dev]
            if unknown:
                known = ", ".join(f"`{dev}`" for dev in self.corpus.dev)
                raise ValueError(f"actors.{name}.dev names {', '.join(unknown)}; the dev sets are {known}")
        return self


def load_config(path: Path) -> Config:
    """Read and check a config; raise `ConfigError` with every problem at once."""
    problems: list[str] = []
    resolved = _read(path, problems)
    try:
        config = Config.model_validate(resolved)
    except ValidationError as error:
        for detail in error.errors():
            place = ".".join(str(part) for part in detail["loc"]) or "config"
            problems.append(f"{place}: {detail['msg']} (given: {detail['input']!r:.80})")
    if problems:
        raise ConfigError(str(path), problems)
    return config


EXTENDS = "extends"
CORPUS_PATHS = {"tsv", "source", "target"}


def _read(path: Path, problems: list[str], above: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Return the tables of a file, over those of the one that it extends, if any."""
    here = path.resolve()
    if here in above:
        raise ConfigError(str(path), [f"{EXTENDS}: the file extends itself, by way of {above[-1].name}"])
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(str(path), ["no such file"]) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(str(path), [f"not valid TOML: {error}"]) from None
    extended = raw.pop(EXTENDS, None)
    own = _resolve_paths(raw, here.parent, problems)
    if extended is None:
        return own
    if not isinstance(extended, str):
        raise ConfigError(str(path), [f"{EXTENDS}: the name of another config is needed (given: {extended!r:.80})"])
    return _over(_read(here.parent / extended, problems, (*above, here)), own)


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """`above`, with what only `below` has: tables key by key, all else as a whole."""
    both = {key: _over(below[key], value) for key, value in above.items() if _are_tables(below.get(key), value)}
    return below | above | both


def _are_tables(*values: object) -> bool:
    return all(isinstance(value, dict) for value in values)


def _resolve_paths(value: Any, base: Path, problems: list[str], inside_corpus: bool = False) -> Any:
    """Return `value` with `${NAME}` expanded and relative paths made absolute."""
    if isinstance(value, list):
        return [_resolve_paths(item, base, problems, inside_corpus) for item in value]
    if not isinstance(value, dict):
        return value
    result: dict[str, object] = {}
    for key, item in value.items():
        if isinstance(item, str) and (key == "start_from" or (inside_corpus and key in CORPUS_PATHS)):
            result[key] = str(base / _expand(item, problems))
        else:
            result[key] = _resolve_paths(item, base, problems, inside_corpus or key == "corpus")
    return result


def _expand(text: str, problems: list[str]) -> str:
    def replace(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in os.environ:
            problems.append(f"{text}: the environment variable {name} is not set; set it to the folder of your corpora")
            return ""
        # A relative folder in the environment is meant from where the command runs, not from where the config lies.
        return str(Path(os.environ[name]).absolute())

    return re.sub(r"\$\{(\w+)\}", replace, text)
