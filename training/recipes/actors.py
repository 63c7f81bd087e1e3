"""`nudge-train actors`: train every actor of the config, each with as many seeds as it asks for.

Finished actors are left as they are and a half-trained one goes on, so the same command, killed at any moment, ends
with all of them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console

from training.config import ActorTraining, Config
from training.errors import TrainingError
from training.policy.actor_file import load_facts, save_facts
from training.recipes.actor import ActorFiles, open_run, train_actor
from training.recipes.run_folder import RunFolder


def command(
    config: Annotated[
        Path | None, typer.Option(help="config of the experiment (TOML); that of the run's model by default")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="folder of the run; runs/<name of the config> by default")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="a table [actors.<name>] to train; all of the config by default; repeatable"),
    ] = None,
    renew: Annotated[bool, typer.Option(help="train anew what is finished but had other settings")] = False,
    threads: Annotated[int, typer.Option(min=1, help="threads to compute with")] = 1,
) -> None:
    """Train all actors of the config; run it again after a kill, and it goes on."""
    torch.set_num_threads(threads)
    loaded, folder = open_run(config, run)
    train_all(loaded, folder, only, renew=renew)


def train_all(
    config: Config,
    run: RunFolder,
    only: list[str] | None = None,
    *,
    renew: bool = False,
    console: Console | None = None,
) -> None:
    """Train what is not finished yet, in the order of the config."""
    console = console or Console(stderr=True)
    unknown = sorted(set(only or ()) - set(config.actors))
    if unknown or not config.actors:
        raise TrainingError(
            f"the config has no [actors.{unknown[0] if unknown else '…'}]; it has: {', '.join(config.actors) or 'none'}"
        )
    for name, settings in members(config):
        if only and _table_of(config, name) not in only:
            continue
        files, restart = ActorFiles(run, name), False
        if files.weights.exists() and not files.state.exists():
            if _is_same_training(files, settings):
                _label_anew(files, settings)
                console.print(f"{name}: finished before", highlight=False)
                continue
            if not renew:
                raise TrainingError(
                    f"{files.weights} was trained with other settings than the config's; --renew trains it anew"
                )
            restart = True
        train_actor(config, run, name, settings, restart=restart, console=console)


def members(config: Config) -> Iterator[tuple[str, ActorTraining]]:
    """Every actor by its name in the run: `bleu-1`, `bleu-2`, … for a table [actors.bleu] with several seeds."""
    for name, settings in config.actors.items():
        for seed in range(1, settings.seeds + 1):
            yield _member_name(config, name, seed), _member(config, settings, seed)


def _is_same_training(files: ActorFiles, settings: ActorTraining) -> bool:
    before = ActorTraining.model_validate(load_facts(files.weights)["settings"])
    return before.without_label() == settings.without_label()


def _label_anew(files: ActorFiles, settings: ActorTraining) -> None:
    """The report reads the label beside the actor; let it be the config's."""
    facts = load_facts(files.weights)
    if facts["settings"].get("ablation", "") != settings.ablation:
        facts["settings"]["ablation"] = settings.ablation
        save_facts(files.weights, facts)


def _member_name(config: Config, name: str, seed: int) -> str:
    return f"{name}-{seed}" if config.actors[name].seeds > 1 else name


def _member(config: Config, settings: ActorTraining, seed: int) -> ActorTraining:
    """The settings of one seed; an actor that starts from another starts from the one of the same seed."""
    if settings.seeds == 1:
        return settings
    start = settings.dpg.start
    if start in config.actors and config.actors[start].seeds >= seed:
        start = _member_name(config, start, seed)
    dpg = settings.dpg.model_copy(update={"start": start})
    return settings.model_copy(update={"seed": seed, "seeds": 1, "dpg": dpg})


def _table_of(config: Config, member: str) -> str:
    """The table of the config that a member's name comes from."""
    return member if member in config.actors else member.rpartition("-")[0]
