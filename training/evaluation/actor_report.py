"""What actors achieve on test sets, against greedy, beam search and the controls: the facts, and how they are written.

Shapes of the report: systems (every decoder, one row each), changes (every actor against its baselines), seeds (means
over actors that differ in their seed alone), and sentences that say what follows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import mean, stdev
from typing import Any

from training.evaluation.bootstrap import Difference

SIGNIFICANT = 0.05
LABELS = {"bleu": "BLEU", "chrf": "chrF", "log_probability": "log p"}
DECIMALS = {"bleu": 2, "chrf": 2}
# The metric that an objective is about; others are means of their own, under the objective's name.
METRIC_OF = {"bleu": "bleu", "chrf": "chrf", "perplexity": "log_probability"}


GREEDY_HEADINGS = ("of beam's gain", "beyond constant", "beyond length bonus", "influence", "minutes")


def metric_of(objective: str) -> str:
    return METRIC_OF.get(objective, objective)


def label_of(metric: str) -> str:
    return LABELS.get(metric, metric)


@dataclass(frozen=True)
class System:
    """One decoder on one test set."""

    name: str
    scores: Mapping[str, float]  # by metric
    length_ratio: float
    tokens_per_second: float
    truncated: int


@dataclass(frozen=True)
class ActorResult:
    """One actor on one test set."""

    name: str
    group: str  # actors that differ in their seed alone share it
    objective: str
    method: str
    is_control: bool
    minutes: float
    against_greedy: Mapping[str, Difference]
    against_beam: Mapping[str, Difference] | None  # of beam search with the actor
    share_of_beam: float | None  # of beam search's gain in the actor's own metric
    against_constant: Difference | None  # in its own metric
    against_length_bonus: Difference | None
    mean_influence: float
    notable_share: float  # of tokens whose influence exceeds 0.001

    @property
    def own_metric(self) -> str:
        return metric_of(self.objective)

    @property
    def own_change(self) -> Difference:
        return self.against_greedy[self.own_metric]


@dataclass(frozen=True)
class SetResult:
    """One test set."""

    test_set: str
    sentences: int
    systems: Sequence[System]
    actors: Sequence[ActorResult]
    notes: Sequence[str]
    length_bonuses: Mapping[str, float] = field(default_factory=dict)  # tuned on dev, by objective


def is_significant(difference: Difference) -> bool:
    # Equal outputs have no spread, so that any test finds their difference of exactly 0 "significant".
    return difference.difference != 0 and difference.p_value < SIGNIFICANT


def change_cell(difference: Difference | None) -> str:
    """+1.23\\* (p = .004), the star for p < 0.05."""
    if difference is None:
        return "–"
    star = r"\*" if is_significant(difference) else ""
    decimals = DECIMALS.get(difference.metric, 3)
    if difference.difference == 0:
        return "none"
    return f"{difference.difference:+.{decimals}f}{star} (p {difference.p_value:.3f})"


def groups(actors: Sequence[ActorResult]) -> dict[str, list[ActorResult]]:
    """Actors by group, in order."""
    found: dict[str, list[ActorResult]] = {}
    for actor in actors:
        found.setdefault(actor.group, []).append(actor)
    return found


def verdicts(result: SetResult) -> list[str]:
    """What the numbers say, in sentences: the worth of the state-dependent part, and the cross pattern."""
    lines = []
    for actor in result.actors:
        if actor.is_control:
            continue
        label = label_of(actor.own_metric)
        for control, difference in (
            ("the best constant action", actor.against_constant),
            ("greedy with a tuned length bonus", actor.against_length_bonus),
        ):
            if difference is None:
                lines.append(
                    f"`{actor.name}`: no comparison with {control}, which has not been trained for this objective."
                )
            elif difference.difference > 0 and is_significant(difference):
                lines.append(f"`{actor.name}` beats {control} by {change_cell(difference)} {label}.")
            else:
                lines.append(f"`{actor.name}` does **not** beat {control} ({change_cell(difference)} {label}).")
    return lines + _cross_pattern(result)


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


def to_markdown(result: SetResult) -> str:
    """The tables and verdicts of one test set."""
    metrics = list(result.systems[0].scores)
    sections = [
        f"### {result.test_set} ({result.sentences:,} sentences)",
        _table(
            ["decoder", *map(label_of, metrics), "length", "tokens/s", "cut"],
            [
                [
                    f"`{system.name}`",
                    *(f"{system.scores[metric]:.{DECIMALS.get(metric, 3)}f}" for metric in metrics),
                    f"{system.length_ratio:.3f}",
                    f"{system.tokens_per_second:,.0f}",
                    str(system.truncated),
                ]
                for system in result.systems
            ],
        ),
        "Actors against plain greedy decoding:",
        _table(
            ["actor", "objective", *(f"Δ {label_of(metric)}" for metric in metrics), *GREEDY_HEADINGS],
            [_greedy_cells(actor, metrics) for actor in result.actors],
            texts=2,
        ),
    ]
    with_beam = [actor for actor in result.actors if actor.against_beam is not None]
    if with_beam:
        sections += [
            "Beam search with the actor against beam search:",
            _table(
                ["actor", *(f"Δ {label_of(metric)}" for metric in metrics)],
                [
                    [f"`{actor.name}`", *(change_cell((actor.against_beam or {}).get(metric)) for metric in metrics)]
                    for actor in with_beam
                ],
            ),
        ]
    seeds = _seed_rows(result, metrics)
    if seeds:
        sections += [
            "Mean ± standard deviation over seeds, against greedy:",
            _table(["actors", "seeds", *(f"Δ {label_of(metric)}" for metric in metrics), "of beam's gain"], seeds),
        ]
    sections.append("\n".join(f"- {line}" for line in (*verdicts(result), *result.notes)))
    return "\n\n".join(sections) + "\n"


def _greedy_cells(actor: ActorResult, metrics: Sequence[str]) -> list[str]:
    share = "–" if actor.share_of_beam is None else f"{actor.share_of_beam:.0%}"
    return [
        f"`{actor.name}`" + (" (control)" if actor.is_control else ""),
        f"{actor.objective}: {actor.method}",
        *(change_cell(actor.against_greedy.get(metric)) for metric in metrics),
        share,
        change_cell(actor.against_constant),
        change_cell(actor.against_length_bonus),
        f"{actor.mean_influence:.3f} nats, {actor.notable_share:.0%} of tokens",
        f"{actor.minutes:.1f}",
    ]


def _seed_rows(result: SetResult, metrics: Sequence[str]) -> list[list[str]]:
    rows = []
    for group, members in groups(result.actors).items():
        if len(members) < 2:
            continue
        cells = [
            _mean_cell([actor.against_greedy[metric].difference for actor in members], metric) for metric in metrics
        ]
        shares = [actor.share_of_beam for actor in members if actor.share_of_beam is not None]
        share = f"{mean(shares):.0%} ± {stdev(shares):.0%}" if len(shares) > 1 else "–"
        rows.append([f"`{group}`", str(len(members)), *cells, share])
    return rows


def _mean_cell(values: Sequence[float], metric: str) -> str:
    decimals = DECIMALS.get(metric, 3)
    return f"{mean(values):+.{decimals}f} ± {stdev(values):.{decimals}f}"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    alignment = ["---"] * texts + ["---:"] * (len(headings) - texts)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (headings, alignment, *rows))


def to_json(results: Sequence[SetResult]) -> list[dict[str, Any]]:
    """Everything, with full precision, and the verdicts."""
    return [asdict(result) | {"verdicts": verdicts(result)} for result in results]
