"""Everything that can go wrong in the offline half, as one tree.

    NudgeTrainError
    ├── ConfigError       a config file that cannot be used; carries every problem at once
    ├── CorpusError       parallel text that cannot be read; names the file and the line
    ├── TokenizerError    a subword model that is missing, broken or does not fit the config
    ├── TrainingError     a run that cannot start, resume or go on (NaN, foreign checkpoint, …)
    ├── ObjectiveError    a decoding objective that is unknown or does not honour its contract
    ├── EvaluationError   a test set or a decoder that cannot be evaluated
    └── ExportError       a bundle that cannot be written, or failed its parity gate

The command line prints the message of any of these and exits with 1; anything else is a bug and shows a traceback.
"""


class NudgeTrainError(Exception):
    """Base of the tree: the message is meant for the user, and says what was given, what is allowed, what to do."""


class ConfigError(NudgeTrainError):
    """A config that cannot be used.  `problems` holds one line for each thing that is wrong."""

    def __init__(self, path: str, problems: list[str]) -> None:
        self.path = path
        self.problems = problems
        super().__init__(f"{path}: {len(problems)} problem(s)\n" + "\n".join(f"  - {problem}" for problem in problems))


class CorpusError(NudgeTrainError):
    """Parallel text that cannot be read."""


class TokenizerError(NudgeTrainError):
    """A subword model that is missing, broken or does not fit the config."""


class TrainingError(NudgeTrainError):
    """A training run that cannot start, resume or go on."""


class ObjectiveError(NudgeTrainError):
    """A decoding objective that is unknown, or does not honour its contract."""


class EvaluationError(NudgeTrainError):
    """A test set or a decoder that cannot be evaluated."""


class ExportError(NudgeTrainError):
    """A bundle that cannot be written, or did not pass its parity gate."""
