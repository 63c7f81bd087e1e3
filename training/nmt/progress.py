"""What a training run shows while it runs: a live line on a terminal, a line per evaluation elsewhere, TensorBoard."""

import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter

from training.nmt.trainer import Evaluation, TrainingState


class TrainingDisplay:
    """The progress bar with tokens/s, ETA and dev BLEU, and the TensorBoard log behind it."""

    def __init__(self, console: Console, tensorboard: Path, total_steps: int, first_step: int) -> None:
        self.console = console
        # purge_step hides what a killed run had logged beyond the checkpoint it resumes from.
        self.writer = SummaryWriter(str(tensorboard), purge_step=first_step + 1)
        self.bar = Progress(
            TextColumn("pretrain"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed}/{task.total} updates"),
            TextColumn("{task.fields[facts]}"),
            TimeElapsedColumn(),
            TextColumn("eta"),
            TimeRemainingColumn(elapsed_when_finished=True, compact=True),
            console=console,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task("pretrain", total=total_steps, completed=first_step, facts="")
        self.best_bleu = ""
        self.last = (time.monotonic(), 0)

    def __enter__(self) -> "TrainingDisplay":
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()
        self.writer.close()

    def updated(self, state: TrainingState, loss: float, rate: float) -> None:
        speed = self._tokens_per_second(state.tokens)
        self.bar.update(self.task, completed=state.step, facts=f"loss {loss:.2f} · {speed:,.0f} tok/s{self.best_bleu}")
        if state.step % 20 == 0:
            for name, value in (("train/loss", loss), ("train/learning_rate", rate), ("train/tokens_per_s", speed)):
                self.writer.add_scalar(name, value, state.step)

    def evaluated(self, state: TrainingState, evaluation: Evaluation) -> None:
        best = state.best
        self.best_bleu = f" · dev BLEU {evaluation.dev_bleu:.2f}" + (f" (best {best.dev_bleu:.2f})" if best else "")
        self.writer.add_scalar("dev/bleu", evaluation.dev_bleu, state.step)
        self.console.print(
            f"update {evaluation.step:>6} · {evaluation.tokens / 1e6:6.2f}M words · {evaluation.seconds / 60:5.1f} min "
            f"· loss {evaluation.train_loss:.3f}{self.best_bleu}",
            highlight=False,
        )

    def _tokens_per_second(self, tokens: int) -> float:
        """Speed since the last call, evaluations included."""
        now, (then, before) = time.monotonic(), self.last
        self.last = (now, tokens)
        return (tokens - before) / max(1e-9, now - then) if before else 0.0
