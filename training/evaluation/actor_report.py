"""What actors achieve on test sets, against greedy, beam search and the controls: the facts, and how they are written.

Shapes of the report: systems (every decoder, one row each), changes (every actor against its baselines), seeds (means
over actors that differ in their seed alone).  `training.evaluation.verdicts` says in sentences what follows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev

from training.evaluation.bootstrap import Difference

SIGNIFICANT = 0.05
LABELS = {"bleu": "BLEU", "chrf": "chrF", "log_probability": "log p"}
DECIMALS = {"bleu": 2, "chrf": 2}
# The metric that an objective is about; others are means of their own, under the objective's name.
METRIC_OF = {"bleu": "bleu", "chrf": "chrf", "perplexity": "log_probability"}


GREEDY_HEADINGS = ("of beam's gain", "beyond constant", "beyond length bonus", "influence", "CPU minutes")
SUMMARY_HEADINGS = (
    "of beam's gain",
    "better, p < .05",
    "constant action alone",
    "beyond constant",
    "beyond length bonus",
)


def metric_of(objective: str) -> str:
    return METRIC_OF.get(objective, objective)


def label_of(metric: str) -> str:
    return LABELS.get(metric, metric)


@dataclass(frozen=True)
class System:
    """One decoder on one test set."""

    name: str
    scores: Mapping[str, float]  # by metric
    length_ratio: float  # of the outputs to the references, in words
    character_ratio: float  # the same in characters
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
    minutes: float | None  # of training, on one core, where it was written down
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


def _is_better(difference: Difference) -> bool:
    return difference.difference > 0 and is_significant(difference)


def is_significant(difference: Difference) -> bool:
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


def summary(result: SetResult) -> str:
    """One row for each group of actors: what it gains in its own objective, and how much of that a control reaches."""
    rows = []
    for group, members in groups(result.actors).items():
        own = members[0].own_metric
        constant = [
            actor.own_change.difference - actor.against_constant.difference
            for actor in members
            if actor.against_constant is not None
        ]
        rows.append(
            [
                f"`{group}`" + (" (control)" if members[0].is_control else ""),
                members[0].objective,
                str(len(members)),
                f"{spread([actor.own_change.difference for actor in members], own)} {label_of(own)}",
                share_cell(members),
                f"{sum(_is_better(actor.own_change) for actor in members)} of {len(members)}",
                spread(constant, own) if constant else "–",
                _beyond([actor.against_constant for actor in members]),
                _beyond([actor.against_length_bonus for actor in members]),
            ]
        )
    return _table(["actor", "objective", "seeds", "change against greedy", *SUMMARY_HEADINGS], rows, texts=2)


def to_markdown(result: SetResult) -> str:
    """The tables of one test set."""
    metrics = list(result.systems[0].scores)
    sections = [
        f"### {result.test_set} ({result.sentences:,} sentences)",
        _table(
            ["decoder", *map(label_of, metrics), "length", "characters", "tokens/s", "cut"],
            [
                [
                    f"`{system.name}`",
                    *(f"{system.scores[metric]:.{DECIMALS.get(metric, 3)}f}" for metric in metrics),
                    f"{system.length_ratio:.3f}",
                    f"{system.character_ratio:.3f}",
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
    sections.append("\n".join(f"- {line}" for line in result.notes))
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
        "–" if actor.minutes is None else f"{actor.minutes:.1f}",
    ]


def _seed_rows(result: SetResult, metrics: Sequence[str]) -> list[list[str]]:
    return [
        [
            f"`{group}`",
            str(len(members)),
            *(spread([actor.against_greedy[metric].difference for actor in members], metric) for metric in metrics),
            share_cell(members),
        ]
        for group, members in groups(result.actors).items()
        if len(members) > 1
    ]


def spread(values: Sequence[float], metric: str) -> str:
    """Mean ± standard deviation over seeds, or the one value there is."""
    decimals = DECIMALS.get(metric, 3)
    deviation = f" ± {stdev(values):.{decimals}f}" if len(values) > 1 else ""
    return f"{mean(values):+.{decimals}f}{deviation}"


def share_cell(members: Sequence[ActorResult]) -> str:
    """The share of beam search's gain, in the mean over seeds."""
    shares = [actor.share_of_beam for actor in members if actor.share_of_beam is not None]
    deviation = f" ± {stdev(shares):.0%}" if len(shares) > 1 else ""
    return f"{mean(shares):.0%}{deviation}" if shares else "–"


def _beyond(differences: Sequence[Difference | None]) -> str:
    """The mean over seeds of what an actor gains beyond a control, and in how many seeds that is significant."""
    known = [difference for difference in differences if difference is not None]
    if not known:
        return "–"
    wins = sum(map(_is_better, known))
    return f"{spread([one.difference for one in known], known[0].metric)} (p < .05 in {wins} of {len(known)})"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    alignment = ["---"] * texts + ["---:"] * (len(headings) - texts)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (headings, alignment, *rows))
