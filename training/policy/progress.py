"""What an actor's training shows while it runs: a live line on a terminal, and a line for each look at the dev set."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from training.policy.watch import ActorState, Look


@contextmanager
def counting(console: Console, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar for work on many sentences; yields a function that takes how many were finished since its last call."""
    with _bar(console) as bar:
        task = bar.add_task(what, total=total, facts="")
        yield lambda finished: bar.advance(task, finished)
        console.print(f"{what}: {bar.tasks[task].completed:,.0f} of {total:,}", highlight=False)


class ActorDisplay:
    """The live line of one actor's training."""

    def __init__(self, console: Console, name: str, total: int) -> None:
        self.console = console
        self.bar = _bar(console)
        self.task = self.bar.add_task(name, total=total, facts="")
        self.dev = ""

    def __enter__(self) -> "ActorDisplay":
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def updated(self, state: ActorState, measures: dict[str, float]) -> None:
        self.bar.update(self.task, completed=state.update, facts=_listed(measures) + self.dev)

    def looked(self, state: ActorState, look: Look) -> None:
        best = state.best_look
        self.dev = f" · dev {look.dev.objective:.4f}" + (f" (best {best.dev.objective:.4f})" if best else "")
        self.console.print(
            f"update {look.update:>5}{self.dev} · BLEU {look.dev.bleu:.2f} · log p {look.dev.log_probability:.4f} · "
            f"length {look.dev.length_ratio:.3f} · {_listed(look.measures)}",
            highlight=False,
        )
        if look.is_collapse:
            self.console.print(
                f"the actor has collapsed at update {look.update}: going back to the best one so far "
                f"({best.dev.objective:.4f} at update {best.update}) with half the learning rate"
                if best
                else "the actor has collapsed at its first look",
                style="red",
                highlight=False,
            )


def _listed(measures: dict[str, float]) -> str:
    return " · ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in measures.items())


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        console=console,
        disable=not console.is_terminal,
    )
