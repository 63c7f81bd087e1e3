"""An objective of the user's own: any `module:function`, checked before anything is trained.

    # my_objective.py, in the folder from which nudge-train is called
    def polite(hypotheses, references, sources):
        return [1.0 if "please" in hypothesis else 0.0 for hypothesis in hypotheses]

    polite.bounded = True     # every number lies in [0, 1]; leave it out when that is not so

The function takes hypotheses and references, and sources if it has a third parameter; options of the config reach it
as keyword arguments.  It returns one finite number for each hypothesis, the higher the better.
"""

import importlib
import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from training.errors import ObjectiveError
from training.policy.objectives.contract import Objective, Translations

PROBE = Translations(
    sources=["ein Hund läuft .", "zwei Frauen"],
    hypotheses=["a dog runs .", ""],
    references=["a dog is running .", "two women"],
)


class OwnObjective(Objective):
    """Wraps the function; every answer is checked, since a wrong one would only show as a bad actor much later."""

    def __init__(self, path: str, options: Mapping[str, Any]) -> None:
        self.name = path
        self._function = _find(path)
        self._options = dict(options)
        self._takes_sources = _takes_sources(path, self._function, self._options)
        self.is_bounded = bool(getattr(self._function, "bounded", False))
        self.optimises = _first_line(self._function) or f"the user's own objective {path}"
        self.score(PROBE)

    def score(self, translations: Translations) -> list[float]:
        arguments: list[Sequence[str]] = [translations.hypotheses, translations.references]
        if self._takes_sources:
            arguments.append(translations.sources)
        try:
            answer = self._function(*(list(argument) for argument in arguments), **self._options)
        except Exception as error:
            raise ObjectiveError(f"{self.name} failed: {type(error).__name__}: {error}") from error
        return self._checked(answer, len(translations))

    def _checked(self, answer: object, count: int) -> list[float]:
        try:
            scores = [float(value) for value in answer]  # type: ignore[attr-defined]
        except (TypeError, ValueError):
            raise ObjectiveError(f"{self.name} returned {answer!r:.80}; it must return a list of numbers") from None
        if len(scores) != count:
            raise ObjectiveError(f"{self.name} returned {len(scores)} numbers for {count} hypotheses; return one each")
        for score in scores:
            if not math.isfinite(score):
                raise ObjectiveError(f"{self.name} returned {score}; every score must be a finite number")
            if self.is_bounded and not 0 <= score <= 1:
                raise ObjectiveError(
                    f"{self.name} is declared bounded and returned {score}; keep to [0, 1] or drop `.bounded`"
                )
        return scores


def _find(path: str) -> Callable[..., Any]:
    module_name, _, function_name = path.partition(":")
    if not module_name or not function_name:
        raise ObjectiveError(f"{path!r} is not of the form module:function")
    # The user's module lies in the current folder, which a console script does not have on its path.
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name.split(".")[0] and error.name != module_name:
            raise ObjectiveError(f"{path}: the module was found, but it needs {error.name!r}, which was not") from error
        raise ObjectiveError(
            f"{path}: no module {module_name!r} in {Path.cwd()} or among the installed packages"
        ) from None
    except Exception as error:
        raise ObjectiveError(f"{path}: importing the module failed: {type(error).__name__}: {error}") from error
    function = getattr(module, function_name, None)
    if not callable(function):
        there = sorted(name for name, value in vars(module).items() if callable(value) and not name.startswith("_"))
        raise ObjectiveError(f"{path}: {module_name} has no function {function_name!r}; it has: {', '.join(there)}")
    return function


def _takes_sources(path: str, function: Callable[..., Any], options: Mapping[str, Any]) -> bool:
    """Whether the function wants the sources too; raise when it cannot be called as the contract says."""
    signature = inspect.signature(function)
    for count in (3, 2):
        try:
            signature.bind(*range(count), **options)
        except TypeError:
            continue
        return count == 3
    raise ObjectiveError(
        f"{path}{signature} cannot be called with (hypotheses, references) or (hypotheses, references, sources)"
        + (f" and the options {dict(options)}" if options else "")
    )


def _first_line(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").strip().split("\n")[0].rstrip(".")
