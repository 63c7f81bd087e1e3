"""How an actor learnt, as a picture: its objective on the dev set above, what training watched below."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from training.nmt.checkpoint import write_atomically
from training.policy.watch import Look

MEASURES = ("loss", "action_norm", "critic_error", "critic_correlation", "effective_samples")


def draw_actor_curve(looks: list[Look], path: Path, title: str) -> None:
    """The dev objective, length and probability over updates, and each measure of the training in its own panel."""
    measured = [name for name in MEASURES if any(name in look.measures for look in looks)]
    panels = ["objective", "length_ratio", "log_probability", *measured]
    rows = (len(panels) + 2) // 3
    figure, axes = plt.subplots(rows, 3, figsize=(11, 2.6 * rows), layout="constrained", squeeze=False, sharex=True)
    for axis, name in zip(axes.flat, panels, strict=False):
        if name in measured:
            points = [(look.update, look.measures[name]) for look in looks if name in look.measures]
        else:
            points = [(look.update, getattr(look.dev, name)) for look in looks]
            axis.axhline(points[0][1], color="tab:green", linewidth=0.8, label="at the start")
        axis.plot(*zip(*points, strict=True), color="tab:blue", marker="o", markersize=2, linewidth=1)
        for look in looks:
            if look.is_collapse:
                axis.axvline(look.update, color="tab:red", linewidth=0.8, linestyle=":")
        axis.set_title(f"dev {name}" if name not in measured else name, fontsize=9)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    axes[0][0].legend(fontsize=7)
    figure.suptitle(title, fontsize=11)
    write_atomically(path, lambda temporary: figure.savefig(temporary, dpi=110, format="png"))
    plt.close(figure)
