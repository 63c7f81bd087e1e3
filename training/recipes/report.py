"""`nudge-train report`: what the run's actors are worth, as in the paper and beyond it.

actors → greedy and beam decoding with each, beside greedy, beam, NPAD, Soothsayer and the controls → significance →
tables (Markdown, JSON), figures (PNG), examples coloured by the actors' influence (HTML), gains beside each actor
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console

from training.config import Config, load_config
from training.errors import EvaluationError
from training.evaluation.actor_report import ActorResult, SetResult
from training.evaluation.bootstrap import DEFAULT_DRAWS, Difference
from training.evaluation.figures import draw_changes, draw_critic_awareness
from training.evaluation.verdicts import to_json, verdicts
from training.nmt.allocator import keep_freed_memory
from training.nmt.checkpoint import write_atomically
from training.policy.actor_file import load_facts, save_facts
from training.recipes.actor import open_run
from training.recipes.actors import members
from training.recipes.adopt import unpack_to_report
from training.recipes.report_document import Learnt, document, read_learnt
from training.recipes.report_measuring import RunMeasuring
from training.recipes.run_folder import DEFAULT_RUNS, RunFolder


def command(
    config: Annotated[
        Path | None, typer.Option(help="config of the experiment (TOML); that of the run's model by default")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="folder of the run; runs/<name of the config> by default")] = None,
    bundle: Annotated[
        Path | None,
        typer.Option(help="report on the actors of this bundle, on the config's test sets; needs --config"),
    ] = None,
    actor: Annotated[
        list[str] | None, typer.Option(help="an actor to report on; all of the run by default; repeatable")
    ] = None,
    test_set: Annotated[
        list[str] | None,
        typer.Option("--set", help="a test set, or dev/NAME for a dev set; all test sets by default; repeatable"),
    ] = None,
    beam: Annotated[bool, typer.Option(help="also measure beam search with each actor")] = True,
    npad: Annotated[bool, typer.Option(help="also measure NPAD, which costs as much as all the actors")] = True,
    soothsayer: Annotated[
        list[str] | None, typer.Option(help="objective to train a Soothsayer baseline for, once; repeatable")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="the Markdown file, with figures/ beside it; reports/actors.md by default")
    ] = None,
    notes: Annotated[Path | None, typer.Option(help="a Markdown file to include after the report's head")] = None,
    threads: Annotated[int, typer.Option(min=1, help="threads to compute with")] = 1,
) -> None:
    """Measure every actor against greedy, beam search, NPAD and the controls; write tables, figures and examples."""
    torch.set_num_threads(threads)
    loaded, folder = open_run(config, run) if bundle is None else _open_bundle(bundle, config, run)
    report(
        loaded,
        folder,
        actor,
        sets=test_set,
        with_beam=beam,
        with_npad=npad,
        soothsayers=soothsayer or [],
        out=out,
        notes=notes,
    )


def _open_bundle(bundle: Path, config: Path | None, run: Path | None) -> tuple[Config, RunFolder]:
    if config is None:
        raise EvaluationError("--bundle goes with --config, which says what the test sets are")
    loaded = load_config(config)
    return loaded, unpack_to_report(bundle, loaded, run or DEFAULT_RUNS / f"{loaded.name}-bundle")


def report(
    config: Config,
    run: RunFolder,
    actors: list[str] | None = None,
    *,
    sets: list[str] | None = None,
    with_beam: bool = True,
    with_npad: bool = True,
    soothsayers: list[str] | None = None,
    out: Path | None = None,
    notes: Path | None = None,
    draws: int = DEFAULT_DRAWS,
    console: Console | None = None,
) -> list[SetResult]:
    """Report on a run's actors; return what was found on each set."""
    keep_freed_memory()
    console = console or Console(stderr=True)
    names = actors or _names(config, run)
    if not names:
        raise EvaluationError(f"{run.path} has no actors yet; train one with `nudge-train actor`")
    if notes is not None and not notes.is_file():
        raise EvaluationError(f"--notes {notes}: no such file")
    learnt = read_learnt(run, names)
    measured = [name for name in names if not load_facts(run.actor(name)).get("settings", {}).get("ablation")]
    chosen = sets or list(config.corpus.test) or [f"dev/{name}" for name in config.corpus.dev]
    measuring = RunMeasuring(config, run, measured, with_beam, soothsayers or [], draws, console, with_npad)
    results = [measuring.measure(name) for name in chosen]
    target = out or run.reports / "actors.md"
    figures = {result.test_set: target.parent / "figures" / _changes_name(config, result) for result in results}
    for result in results:
        draw_changes(result, figures[result.test_set])
        for line in verdicts(result):
            console.print(f"{result.test_set}: {line}", highlight=False)
    curve = target.parent / "figures" / f"{config.name}-critic-awareness.png"
    if _draw_learning(learnt, curve):
        figures["learning"] = curve
    _write_gains(run, results)
    added = notes.read_text(encoding="utf-8") if notes is not None else ""
    text = document(config, run, results, learnt, measuring.dev_baselines(), figures, added)
    write_atomically(target, lambda path: path.write_text(text, encoding="utf-8"))
    contents = json.dumps({"name": config.name, "test_sets": to_json(results)}, indent=2, ensure_ascii=False) + "\n"
    write_atomically(run.reports / "actors.json", lambda path: path.write_text(contents, encoding="utf-8"))
    console.print(f"→ {target}, {run.reports / 'actors.json'}, {curve.parent}, {run.reports / 'examples'}")
    return results


def _names(config: Config, run: RunFolder) -> list[str]:
    """The run's actors: those of the config in its order, then the others."""
    order = [name for name, _ in members(config)]
    trained = sorted(path.stem for path in run.actors.glob("*.safetensors"))
    return sorted(trained, key=lambda name: order.index(name) if name in order else len(order))


def _changes_name(config: Config, result: SetResult) -> str:
    return f"{config.name}-{result.test_set.replace('/', '-')}.png"


def _draw_learning(learnt: Sequence[Learnt], path: Path) -> bool:
    """Draw the learning curves of all policy-gradient actors that started from nothing; False without any."""
    compared = [one for one in learnt if one.settings.method == "dpg" and one.settings.dpg.start is None]
    if not compared:
        return False
    draw_critic_awareness(
        {one.name: [(look["update"], look["dev"]["objective"]) for look in one.looks] for one in compared},
        {one.name: not one.settings.dpg.vanilla for one in compared},
        path,
        " and ".join(sorted({one.settings.objective for one in compared})),
    )
    return True


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
