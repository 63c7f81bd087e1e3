"""The report as a document: where the numbers come from, tables and figures, what was tried, a hand-written part."""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from training.config import ActorTraining, Config
from training.evaluation.actor_report import SetResult, summary, to_markdown
from training.evaluation.verdicts import verdicts
from training.nmt.checkpoint import load_description
from training.policy.actor_file import load_facts
from training.policy.dev import DevScores
from training.recipes.run_folder import RunFolder


class Learnt(NamedTuple):
    """What is known of one actor without decoding anything."""

    name: str
    facts: dict[str, Any]
    looks: list[dict[str, Any]]  # at the dev set, in order

    @property
    def settings(self) -> ActorTraining:
        return ActorTraining.model_validate(self.facts["settings"])

    @property
    def best(self) -> dict[str, float]:
        """The dev scores of the look that was kept."""
        sane = [look["dev"] for look in self.looks if not look["is_collapse"]]
        return max(sane, key=lambda dev: float(dev["objective"]))

    @property
    def cpu_minutes(self) -> float:
        return float(self.facts.get("training", {}).get("cpu_minutes", float("nan")))


def read_learnt(run: RunFolder, names: Sequence[str]) -> list[Learnt]:
    """The facts and the history of each actor; those without a history are left out."""
    found = []
    for name in names:
        history = run.reports / "actors" / f"{name}.json"
        if history.is_file():
            looks = json.loads(history.read_text(encoding="utf-8"))
            found.append(Learnt(name, load_facts(run.actor(name)), looks))
    return found


def document(
    config: Config,
    run: RunFolder,
    results: Sequence[SetResult],
    learnt: Sequence[Learnt],
    baselines: dict[str, DevScores],
    figures: dict[str, Path],
    notes: str,
) -> str:
    """The whole report in Markdown; `figures` by test set, and "learning" for the learning curves."""
    lines = _head(config, run, learnt)
    if notes:
        lines += [notes.strip(), ""]
    for result in results:
        lines += [f"## {result.test_set}: summary", "", summary(result), ""]
        lines += [*(f"- {line}" for line in verdicts(result)), ""]
        lines += [f"![changes on {result.test_set}](figures/{figures[result.test_set].name})", ""]
    if "learning" in figures:
        lines += [
            "## Learning with and without critic-awareness",
            "",
            f"![learning](figures/{figures['learning'].name})",
        ]
        lines += ["", *_policy_gradient_rows(learnt), ""]
    lines += [*_dev_table(config, learnt, baselines), ""]
    lines += ["## Every system and every actor", ""]
    lines += [to_markdown(result) for result in results]
    if learnt:
        lines += ["## How each actor was trained", "", *map(_provenance, learnt), ""]
    return "\n".join(lines)


def _head(config: Config, run: RunFolder, learnt: Sequence[Learnt]) -> list[str]:
    trained = load_description(run.path).get("training", {})
    base = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in trained.items() if key != "finished")
    decoding, total = config.decoding, sum(one.cpu_minutes for one in learnt)
    # A bundle's actors come without their history.
    actors = [f"- Actors: {len(learnt)}, {total:.0f} minutes of one core in all, the n-best lists not counted."]
    dev, tests = config.actors_dev_name, ", ".join(f"`{name}`" for name in config.corpus.test)
    return [
        f"# {config.name}: trainable greedy decoding",
        "",
        "Written by `nudge-train report`. The translation model is frozen; every actor was trained on top of it and",
        f"chosen on the dev set `{dev}`. The test sets ({tests or 'none'}) were only decoded for this report.",
        "",
        f"- Model: {base or 'no record of its training'}.",
        *(actors if learnt else []),
        f"- Beam search: size {decoding.beam_size}, log p / length^{decoding.length_alpha:g}. NPAD: "
        f"{decoding.npad_samples} samples, σ₀ = {decoding.npad_sigma:g}.",
        "- log p: mean log-probability of a token, eos included, of the outputs under the frozen, un-nudged model.",
        "- p: paired bootstrap (Koehn 2004); \\* marks p < 0.05. Share of beam's gain: in the actor's own objective.",
        "- Controls: the best constant action (an actor without input), and greedy decoding with a length bonus, tuned",
        "  on the dev set for the same objective. What an actor gains beyond them, it owes to what it sees.",
        "- length, characters: words and characters of the outputs, per word and character of the references.",
        "",
    ]


def _policy_gradient_rows(learnt: Sequence[Learnt]) -> list[str]:
    """What the curves show, in numbers: the best and the last look of every policy-gradient actor."""
    rows = [
        "| actor | updates | dev objective at the start | best | last | collapses |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for one in learnt:
        if one.facts["settings"]["method"] != "dpg":
            continue
        values = [look["dev"]["objective"] for look in one.looks]
        collapses = sum(look["is_collapse"] for look in one.looks)
        rows.append(
            f"| `{one.name}` | {one.looks[-1]['update']} | {values[0]:.4f} | {max(values):.4f} | {values[-1]:.4f} | "
            f"{collapses} |"
        )
    return rows


def _dev_table(config: Config, learnt: Sequence[Learnt], baselines: dict[str, DevScores]) -> list[str]:
    """What was tried: dev scores alone, so that no test set helped to choose.

    Actors that looked at other dev sets than the config's first are left out: their scores cannot be compared.
    """
    rows = [
        f"## What was tried, on `{config.actors_dev_name}`",
        "",
        "Scores of the look that was kept; seeds of one actor are averaged. A look is noisy by tenths of BLEU, and",
        "the best of many looks flatters: small differences here mean little.",
        "",
        "| actor | what it is | objective | BLEU | Δ | chrF | log p | length | seeds | CPU minutes each |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    greedy = baselines["greedy"].bleu
    for name, scores in baselines.items():
        rows.append(
            f"| {name} | | | {scores.bleu:.2f} | {scores.bleu - greedy:+.2f} | {scores.chrf:.2f} | "
            f"{scores.log_probability:.3f} | {scores.length_ratio:.3f} | | |"
        )
    comparable = [one for one in learnt if one.settings.dev == config.actors_dev]
    for group in _seeds(comparable):
        first = group[0]
        means = {
            key: mean(one.best[key] for one in group) for key in ("bleu", "chrf", "log_probability", "length_ratio")
        }
        name = first.name.removesuffix(f"-{first.facts['seed']}") if len(group) > 1 else first.name
        rows.append(
            f"| `{name}` | {first.settings.ablation or first.facts['method']} | {first.facts['objective']} | "
            f"{means['bleu']:.2f} | {means['bleu'] - greedy:+.2f} | {means['chrf']:.2f} | "
            f"{means['log_probability']:.3f} | {means['length_ratio']:.3f} | {len(group)} | "
            f"{mean(one.cpu_minutes for one in group):.1f} |"
        )
    return rows


def _seeds(learnt: Sequence[Learnt]) -> list[list[Learnt]]:
    """Actors that differ in their seed alone, together."""
    found: dict[str, list[Learnt]] = {}
    for one in learnt:
        found.setdefault(one.settings.without_seed().model_dump_json(), []).append(one)
    return list(found.values())


def _provenance(one: Learnt) -> str:
    facts, training = one.facts, one.facts.get("training", {})
    first, best = (training.get(key, float("nan")) for key in ("dev_objective_at_start", "dev_objective"))
    return (
        f"- `{one.name}`: {facts['objective']}, {facts['method']}; {facts['variant']}, {facts['hidden']} units"
        f"{', sees the previous word' if facts['sees_previous_word'] else ''}"
        f"{', acts after the recurrence' if facts.get('place') == 'after' else ''}; seed {facts.get('seed')}; "
        f"{training.get('pairs', 0):,} pairs, {training.get('updates')} updates (best {training.get('best_update')}), "
        f"{one.cpu_minutes:.1f} CPU minutes; dev {facts['objective']} {first:.4f} → {best:.4f}"
        f"{'; collapsed ' + str(training['collapses']) + ' times' if training.get('collapses') else ''}"
    )
