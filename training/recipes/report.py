"""`nudge-train report`: what the run's actors are worth, as in the paper and beyond it.

actors → greedy and beam decoding with each, beside greedy, beam, NPAD, Soothsayer and the controls → significance →
tables (Markdown, JSON), figures (PNG), examples coloured by the actors' influence (HTML), gains beside each actor
"""

import json
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console

from training.config import Config
from training.errors import EvaluationError
from training.evaluation.actor_report import ActorResult, SetResult, to_json, to_markdown, verdicts
from training.evaluation.bootstrap import DEFAULT_DRAWS, Difference
from training.evaluation.figures import draw_changes, draw_critic_awareness
from training.nmt.allocator import keep_freed_memory
from training.nmt.checkpoint import load_description, write_atomically
from training.policy.actor_file import load_facts, save_facts
from training.recipes.actor import open_run
from training.recipes.report_measuring import RunMeasuring
from training.recipes.run_folder import RunFolder


def command(
    config: Annotated[
        Path | None, typer.Option(help="config of the experiment (TOML); that of the run's model by default")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="folder of the run; runs/<name of the config> by default")] = None,
    actor: Annotated[
        list[str] | None, typer.Option(help="an actor to report on; all of the run by default; repeatable")
    ] = None,
    test_set: Annotated[
        list[str] | None,
        typer.Option("--set", help="a test set, or dev/NAME for a dev set; all test sets by default; repeatable"),
    ] = None,
    beam: Annotated[bool, typer.Option(help="also measure beam search with each actor")] = True,
    soothsayer: Annotated[
        list[str] | None, typer.Option(help="objective to train a Soothsayer baseline for, once; repeatable")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="the Markdown file, with figures/ beside it; reports/actors.md by default")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="threads to compute with")] = 1,
) -> None:
    """Measure every actor against greedy, beam search, NPAD and the controls; write tables, figures and examples."""
    torch.set_num_threads(threads)
    loaded, folder = open_run(config, run)
    report(loaded, folder, actor, sets=test_set, with_beam=beam, soothsayers=soothsayer or [], out=out)


def report(
    config: Config,
    run: RunFolder,
    actors: list[str] | None = None,
    *,
    sets: list[str] | None = None,
    with_beam: bool = True,
    soothsayers: list[str] | None = None,
    out: Path | None = None,
    draws: int = DEFAULT_DRAWS,
    console: Console | None = None,
) -> list[SetResult]:
    """Report on a run's actors; return what was found on each set."""
    keep_freed_memory()
    console = console or Console(stderr=True)
    names = actors or sorted(path.stem for path in run.actors.glob("*.safetensors"))
    if not names:
        raise EvaluationError(f"{run.path} has no actors yet; train one with `nudge-train actor`")
    chosen = sets or list(config.corpus.test) or [f"dev/{name}" for name in config.corpus.dev]
    measuring = RunMeasuring(config, run, names, with_beam, soothsayers or [], draws, console)
    results = [measuring.measure(name) for name in chosen]
    target = out or run.reports / "actors.md"
    figures = target.parent / "figures"
    for result in results:
        draw_changes(result, figures / _changes_name(config, result))
        for line in verdicts(result):
            console.print(f"{result.test_set}: {line}", highlight=False)
    curve = _draw_learning(run, names, figures / f"{config.name}-critic-awareness.png")
    _write_gains(run, results)
    text = _document(config, run, names, results, curve)
    write_atomically(target, lambda path: path.write_text(text, encoding="utf-8"))
    contents = json.dumps({"name": config.name, "test_sets": to_json(results)}, indent=2, ensure_ascii=False) + "\n"
    write_atomically(run.reports / "actors.json", lambda path: path.write_text(contents, encoding="utf-8"))
    console.print(f"→ {target}, {run.reports / 'actors.json'}, {figures}, {run.reports / 'examples'}")
    return results


def _changes_name(config: Config, result: SetResult) -> str:
    return f"{config.name}-{result.test_set.replace('/', '-')}.png"


def _draw_learning(run: RunFolder, names: list[str], path: Path) -> Path | None:
    """The learning curves of all policy-gradient actors that started from nothing; None without any."""
    curves: dict[str, list[tuple[int, float]]] = {}
    aware: dict[str, bool] = {}
    objectives = set()
    for name in names:
        facts = load_facts(run.actor(name))
        settings, history = facts.get("settings", {}), run.reports / "actors" / f"{name}.json"
        if settings.get("method") != "dpg" or settings["dpg"]["start"] is not None or not history.is_file():
            continue
        looks = json.loads(history.read_text(encoding="utf-8"))
        curves[name] = [(look["update"], look["dev"]["objective"]) for look in looks]
        aware[name] = not settings["dpg"]["vanilla"]
        objectives.add(facts["objective"])
    if not curves:
        return None
    draw_critic_awareness(curves, aware, path, " and ".join(sorted(objectives)))
    return path


def _write_gains(run: RunFolder, results: list[SetResult]) -> None:
    """Leave the measured gains beside each actor, where the export finds them."""
    for name in dict.fromkeys(actor.name for result in results for actor in result.actors):
        facts = load_facts(run.actor(name))
        facts["gains"] = [
            _gain(result, actor, metric, difference)
            for result in results
            for actor in result.actors
            if actor.name == name
            for metric, difference in actor.against_greedy.items()
        ]
        save_facts(run.actor(name), facts)


def _gain(result: SetResult, actor: ActorResult, metric: str, difference: Difference) -> dict[str, object]:
    scores = {system.name: system.scores[metric] for system in result.systems if metric in system.scores}
    return {
        "test_set": result.test_set,
        "metric": metric,
        "greedy": round(scores["greedy"], 4),
        "actor": round(scores[f"actor:{actor.name}"], 4),
        "beam": round(scores["beam"], 4),
        "p": round(difference.p_value, 4),
    }


def _document(config: Config, run: RunFolder, names: list[str], results: list[SetResult], curve: Path | None) -> str:
    """The whole report in Markdown."""
    trained = load_description(run.path).get("training", {})
    base = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in trained.items() if key != "finished")
    decoding = config.decoding
    lines = [
        f"# {config.name}: trainable greedy decoding",
        "",
        "Written by `nudge-train report`. The translation model is frozen; every actor was trained on top of it, and",
        f"chosen on the dev set `{next(iter(config.corpus.dev))}`. Test sets were only decoded for this report.",
        "",
        f"- Model: {base or 'no record of its training'}.",
        f"- Beam search: size {decoding.beam_size}, log p / length^{decoding.length_alpha:g}. NPAD: "
        f"{decoding.npad_samples} samples, σ₀ = {decoding.npad_sigma:g}.",
        "- log p: mean log-probability of a token, eos included, of the outputs under the frozen, un-nudged model.",
        "- p: paired bootstrap (Koehn 2004); \\* marks p < 0.05. Share of beam's gain: in the actor's own objective.",
        "- Controls: the best constant action (an actor without input), and greedy decoding with a length bonus, tuned",
        "  on the dev set for the same objective. What an actor gains beyond them, it owes to what it sees.",
        "",
    ]
    for result in results:
        lines += [to_markdown(result)]
        lines += [f"![changes on {result.test_set}](figures/{_changes_name(config, result)})", ""]
    if curve is not None:
        lines += ["### Learning with and without critic-awareness", "", f"![learning](figures/{curve.name})", ""]
    lines += ["### How each actor was trained", "", *(_provenance(run, name) for name in names), ""]
    return "\n".join(lines)


def _provenance(run: RunFolder, name: str) -> str:
    facts = load_facts(run.actor(name))
    training = facts.get("training", {})
    first, best = (training.get(key, float("nan")) for key in ("dev_objective_at_start", "dev_objective"))
    return (
        f"- `{name}`: {facts['objective']}, {facts['method']}; {facts['variant']}, {facts['hidden']} units"
        f"{', sees the previous word' if facts['sees_previous_word'] else ''}; seed {facts.get('seed')}; "
        f"{training.get('pairs', 0):,} pairs, {training.get('updates')} updates (best {training.get('best_update')}), "
        f"{training.get('minutes')} minutes; dev {facts['objective']} {first:.4f} → {best:.4f}"
        f"{'; collapsed ' + str(training['collapses']) + ' times' if training.get('collapses') else ''}"
    )
