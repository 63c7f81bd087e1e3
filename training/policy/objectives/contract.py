"""The contract of a decoding objective R: what it is given, and what it has to return."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from training.errors import ObjectiveError


@dataclass(frozen=True)
class Translations:
    """Hypotheses with all that an objective may look at, line by line."""

    sources: Sequence[str]
    hypotheses: Sequence[str]
    references: Sequence[str]
    # Mean token log-probability of each hypothesis under the frozen model, for objectives that ask for it.
    mean_log_probabilities: Sequence[float] | None = None
    token_counts: Sequence[int] | None = None  # of each hypothesis, eos included: what those means are over

    def __post_init__(self) -> None:
        counts = [len(self.sources), len(self.hypotheses), len(self.references)]
        counts += [len(column) for column in (self.mean_log_probabilities, self.token_counts) if column is not None]
        if len(set(counts)) != 1:
            raise ObjectiveError(
                f"{counts} sources, hypotheses, references (and log-probabilities, token counts): give one of each"
            )

    def __len__(self) -> int:
        return len(self.hypotheses)

    def part(self, lines: slice) -> "Translations":
        """Some of the lines."""
        columns = (self.sources, self.hypotheses, self.references, self.mean_log_probabilities, self.token_counts)
        return Translations(*(None if column is None else column[lines] for column in columns))  # type: ignore[arg-type]


class Objective(ABC):
    """R(Ŷ): a number for each hypothesis, the higher the better.

    `is_bounded` says that all numbers lie in [0, 1]; the critic then ends in a sigmoid, else in a linear layer.
    """

    name: str
    optimises: str  # one sentence for the bundle's manifest
    is_bounded: bool = True
    needs_log_probabilities: bool = False

    @abstractmethod
    def score(self, translations: Translations) -> list[float]:
        """The objective of each hypothesis."""

    def corpus_score(self, translations: Translations) -> float:
        """The objective of a whole dev or test set, by which actors are chosen; the mean unless there is a better."""
        scores = self.score(translations)
        return sum(scores) / max(1, len(scores))
