"""The learning curve as a picture."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from training.nmt.checkpoint import write_atomically
from training.nmt.trainer import Evaluation


def draw_learning_curve(evaluations: list[Evaluation], path: Path, title: str) -> None:
    """Dev BLEU and training loss over target words seen, as a PNG."""
    millions = [one.tokens / 1e6 for one in evaluations]
    figure, left = plt.subplots(figsize=(7, 4.2), layout="constrained")
    left.plot(millions, [one.dev_bleu for one in evaluations], color="tab:blue", marker="o", markersize=3)
    best = max(evaluations, key=lambda one: one.dev_bleu)
    left.axhline(best.dev_bleu, color="tab:blue", linewidth=0.6, linestyle=":")
    left.set(xlabel="target words seen (millions)", title=f"{title}: best dev BLEU {best.dev_bleu:.2f}")
    left.set_ylabel("dev BLEU (greedy)", color="tab:blue")
    right = left.twinx()
    right.plot(millions, [one.train_loss for one in evaluations], color="tab:red", linewidth=1)
    right.set_ylabel("training loss (nats a word)", color="tab:red")
    write_atomically(path, lambda temporary: figure.savefig(temporary, dpi=120, format="png"))
    plt.close(figure)
