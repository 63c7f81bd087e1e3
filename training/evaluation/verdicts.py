"""What the numbers of a report say, in sentences: the worth of what an actor sees, and the paper's cross pattern."""

from collections.abc import Sequence
from dataclasses import asdict
from statistics import mean
from typing import Any

from training.evaluation.actor_report import (
    ActorResult,
    SetResult,
    groups,
    is_significant,
    label_of,
    metric_of,
    spread,
)
from training.evaluation.bootstrap import Difference


def verdicts(result: SetResult) -> list[str]:
    """A sentence for each actor and control, and one for each objective."""
    lines = []
    for group, members in groups(result.actors).items():
        if members[0].is_control:
            continue
        for control, differences in (
            ("the best constant action", [actor.against_constant for actor in members]),
            ("greedy with a tuned length bonus", [actor.against_length_bonus for actor in members]),
        ):
            lines.append(_against_control(group, members, control, differences))
    return lines + _cross_pattern(result)


def _against_control(
    group: str, members: Sequence[ActorResult], control: str, differences: Sequence[Difference | None]
) -> str:
    """Whether most seeds of an actor are significantly better than a control."""
    known = [difference for difference in differences if difference is not None]
    if not known:
        return f"`{group}`: no comparison with {control}, which has not been trained for this objective."
    own = members[0].own_metric
    wins = sum(difference.difference > 0 and is_significant(difference) for difference in known)
    seeds = f"p < .05 in {wins} of {len(known)} seed{'s' if len(known) > 1 else ''}"
    amount = f"{spread([difference.difference for difference in known], own)} {label_of(own)}, {seeds}"
    if 2 * wins > len(known):
        return f"`{group}` beats {control}: {amount}."
    return f"`{group}` does **not** beat {control}: {amount}."


def _cross_pattern(result: SetResult) -> list[str]:
    """Whether each objective is served best by the actors that were trained for it."""
    lines = []
    actors = [actor for actor in result.actors if not actor.is_control]
    for objective in dict.fromkeys(actor.objective for actor in actors):
        metric = metric_of(objective)
        means = {
            group: mean(actor.against_greedy[metric].difference for actor in members)
            for group, members in groups(actors).items()
        }
        best = max(means, key=lambda group: means[group])
        winner = next(actor for actor in actors if actor.group == best)
        if len(means) > 1:
            verdict = "as the paper found" if winner.objective == objective else "**not** the actor trained for it"
            lines.append(f"Best in {label_of(metric)}: `{best}` ({means[best]:+.3f}), {verdict}.")
    return lines


def to_json(results: Sequence[SetResult]) -> list[dict[str, Any]]:
    """Everything, with full precision, and the verdicts."""
    return [asdict(result) | {"verdicts": verdicts(result)} for result in results]
