"""What every decoder returns, and how long it may become."""

from dataclasses import dataclass
from typing import Self

from training.config import Decoding


@dataclass(frozen=True)
class Hypothesis:
    """One output sentence, with the log-probabilities of the decoder that produced it.

    An actor changes the distributions it decodes from, so the log-probabilities of a nudged decoder are not those of
    the frozen model; `training.decoding.scoring` gives the latter for any output.
    """

    ids: tuple[int, ...]  # without eos
    token_log_probabilities: tuple[float, ...]  # eos included; a truncated output has none
    is_truncated: bool = False

    @property
    def log_probability(self) -> float:
        """log p(y | x): the sum over the tokens, eos included."""
        return sum(self.token_log_probabilities)

    @property
    def score(self) -> float:
        """Mean token log-probability, eos included."""
        return self.log_probability / max(1, len(self.token_log_probabilities))


@dataclass(frozen=True)
class LengthLimits:
    """The longest output of a source: min(maximum, ratio · source tokens + extra) tokens, eos included.

    Source tokens are what the encoder reads, eos included.  A decoder takes at most that many steps; an output that has
    not ended by then is cut and flagged as truncated.
    """

    ratio: float
    extra: int
    maximum: int

    @classmethod
    def from_config(cls, config: Decoding) -> Self:
        return cls(config.max_length_ratio, config.max_length_extra, config.max_length)

    def limit(self, source_tokens: int) -> int:
        """Steps that a source of so many tokens is decoded for, at most."""
        return max(1, min(self.maximum, int(self.ratio * source_tokens) + self.extra))
