"""The paper's figures: what each actor changes in each objective, and learning with and without critic-awareness."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from training.evaluation.actor_report import ActorResult, SetResult, groups, is_significant, label_of
from training.nmt.checkpoint import write_atomically

PANELS = ("bleu", "log_probability")


def draw_changes(result: SetResult, path: Path) -> None:
    """Changes in BLEU (left) and log-probability (right), greedy above, with beam search below.

    A bar is the mean over an actor's seeds, a dot one seed; a red star marks a bar all of whose seeds are significant.
    """
    with_beam = [actor for actor in result.actors if actor.against_beam is not None]
    rows: list[tuple[str, Sequence[ActorResult], str]] = [("greedy", result.actors, "against_greedy")]
    if with_beam:
        rows.append(("beam search", with_beam, "against_beam"))
    figure, axes = plt.subplots(len(rows), 2, figsize=(10, 3.4 * len(rows)), layout="constrained", squeeze=False)
    for line, (name, actors, against) in zip(axes, rows, strict=True):
        for axis, metric in zip(line, PANELS, strict=True):
            _bars(axis, groups(actors), metric, against)
            axis.set_title(f"{label_of(metric)}: change against {name}", fontsize=10)
    figure.suptitle(f"{result.test_set}", fontsize=11)
    write_atomically(path, lambda temporary: figure.savefig(temporary, dpi=100, format="png"))
    plt.close(figure)


def _bars(axis: Axes, found: Mapping[str, Sequence[ActorResult]], metric: str, against: str) -> None:
    for place, members in enumerate(found.values()):
        changes = [getattr(actor, against)[metric] for actor in members]
        height = mean(change.difference for change in changes)
        is_own = members[0].own_metric == metric
        axis.bar(place, height, color="tab:blue" if is_own else "lightgray", width=0.7)
        axis.plot([place] * len(changes), [change.difference for change in changes], "k.", markersize=3)
        if all(map(is_significant, changes)):
            axis.plot(place, height, "*", color="red", markersize=9)
    axis.axhline(0, color="black", linewidth=0.8)
    axis.set_xticks(range(len(found)), list(found), rotation=30, ha="right", fontsize=8)


def draw_critic_awareness(
    curves: Mapping[str, Sequence[tuple[int, float]]], aware: Mapping[str, bool], path: Path, objective: str
) -> None:
    """The dev objective over actor updates, critic-aware against vanilla, with greedy decoding as the line in green.

    A thin line is one seed, a thick one the mean, the band reaches from the worst to the best seed.
    """
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    for kind, is_aware, colour in (("critic-aware", True, "tab:blue"), ("vanilla", False, "tab:orange")):
        seeds = [dict(points) for name, points in curves.items() if aware[name] is is_aware]
        for seed in seeds:
            axis.plot(list(seed), list(seed.values()), color=colour, linewidth=0.7, alpha=0.6)
        shared = sorted(set.intersection(*map(set, seeds))) if seeds else []
        if shared:
            values = [[seed[update] for seed in seeds] for update in shared]
            label = f"{kind}, mean of {len(seeds)} seed{'s' if len(seeds) > 1 else ''}"
            axis.plot(shared, list(map(mean, values)), color=colour, linewidth=2.2, label=label)
            axis.fill_between(shared, list(map(min, values)), list(map(max, values)), color=colour, alpha=0.15)
    start = next(iter(curves.values()))[0][1]
    axis.axhline(start, color="tab:green", linewidth=1, label="greedy decoding")
    axis.set(
        xlabel="actor updates", ylabel=f"dev {objective}", title="Policy gradient with and without critic-awareness"
    )
    axis.legend(fontsize=8)
    write_atomically(path, lambda temporary: figure.savefig(temporary, dpi=110, format="png"))
    plt.close(figure)
