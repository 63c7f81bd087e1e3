"""What a run under load showed, and whether that is good."""

from dataclasses import dataclass, field
from statistics import median, quantiles

MAX_GROWTH = 0.05
SHOWN = 5


@dataclass(slots=True)
class Memory:
    """Samples of the service's resident memory, in bytes."""

    samples: list[float] = field(default_factory=list)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The medians of the first and of the last fifth; a single sample may catch a passing peak."""
        fifth = len(self.samples) // 5
        return (median(self.samples[:fifth]), median(self.samples[-fifth:])) if fifth else None

    @property
    def growth(self) -> float | None:
        """By which share memory has grown; None if it was not watched long enough to say."""
        return self.ends[1] / self.ends[0] - 1 if self.ends else None


@dataclass(slots=True)
class Verdict:
    max_growth: float = MAX_GROWTH
    answers: int = 0
    hang_ups: int = 0
    seconds: float = 0.0
    left_over: float = 0.0  # sentences in the service after the last caller had gone
    errors: list[str] = field(default_factory=list)
    mismatches: list[str] = field(default_factory=list)
    latencies_s: list[float] = field(default_factory=list)
    memory: Memory = field(default_factory=Memory)

    @property
    def faults(self) -> list[str]:
        """Why the run failed; nothing if it did not."""
        growth = self.memory.growth
        found = []
        if not self.answers:
            found.append("there was no answer at all")
        if self.errors:
            found.append(f"{len(self.errors)} errors")
        if self.mismatches:
            found.append(f"{len(self.mismatches)} answers differ from those given alone")
        if growth is None:
            found.append("memory could not be watched: the run was too short, or /metrics does not tell")
        elif growth > self.max_growth:
            found.append(f"memory grew by {growth:.1%}, more than {self.max_growth:.0%}")
        if self.left_over:
            found.append(f"{self.left_over:.0f} sentences were still in the service at the end")
        return found

    @property
    def is_good(self) -> bool:
        return not self.faults

    def told(self) -> str:
        """The outcome in a few lines."""
        lines = [f"{self.answers} answers in {self.seconds:.0f} s, {self.hang_ups} callers hung up"]
        if len(self.latencies_s) > 1:
            cuts = quantiles(self.latencies_s, n=100, method="inclusive")
            lines.append("latency: " + ", ".join(f"p{p} {1000 * cuts[p - 1]:.0f} ms" for p in (50, 95, 99)))
        if self.memory.ends:
            first, last = (end / 1e6 for end in self.memory.ends)
            lines.append(f"memory: {first:.1f} MB at first, {last:.1f} MB at last ({self.memory.growth:+.1%})")
        for name, entries in (("error", self.errors), ("differs", self.mismatches)):
            lines += [f"{name}: {entry}" for entry in entries[:SHOWN]]
        lines.append("FAILED: " + "; ".join(self.faults) if self.faults else "good: every answer was as if given alone")
        return "\n".join(lines)
