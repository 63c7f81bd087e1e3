"""`nudge-train actor`: train one actor for one objective on a frozen model, from where the last run stopped.

frozen model + training text → n-best lists → targets → supervised training  ┐
                             → noisy decodings → critic → policy gradient     ┴→ best actor → actors/<name>.safetensors
"""

import json
import time
import tomllib
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from pydantic import ValidationError
from rich.console import Console

from training.config import ActorTraining, Config, ParallelText, load_config
from training.errors import ConfigError, TrainingError
from training.nmt.allocator import keep_freed_memory
from training.nmt.checkpoint import load_description, load_model, load_state, save_state, write_atomically
from training.policy import dpg_training, supervised
from training.policy.actor import PlainActor, build_actor
from training.policy.actor_file import load_actor, save_actor
from training.policy.critic import Critic
from training.policy.curve import draw_actor_curve
from training.policy.dpg import PolicyGradientLearner
from training.policy.dpg_training import PolicyGradientTraining
from training.policy.joining import join
from training.policy.objectives import load_objective
from training.policy.progress import ActorDisplay
from training.policy.returns import TrueReturns
from training.policy.watch import ActorState, Look, record_look, start_state, weights_of
from training.recipes.actor_data import ActorData
from training.recipes.adopt import adopt
from training.recipes.run_folder import RunFolder


def command(
    name: Annotated[str, typer.Option(help="name of the actor: a table [actors.<name>] of the config, or a new one")],
    config: Annotated[
        Path | None, typer.Option(help="config of the experiment (TOML); that of the run's model by default")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="folder of the run; runs/<name of the config> by default")] = None,
    like: Annotated[
        str | None, typer.Option(help="take the settings of this actor of the config, for another seed or variant")
    ] = None,
    objective: Annotated[
        str | None, typer.Option(help="bleu, perplexity, chrf, concise, or module:function of your own")
    ] = None,
    method: Annotated[str | None, typer.Option(help="supervised or dpg")] = None,
    seed: Annotated[int | None, typer.Option(help="seed of the actor and of the order of the text")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="any other option of the actor, such as supervised.max_steps=400 or hidden=64; repeatable"),
    ] = None,
    bundle: Annotated[
        Path | None, typer.Option(help="start from this shipped bundle; needs --text and a new --run")
    ] = None,
    text: Annotated[
        list[Path] | None,
        typer.Option(
            help="parallel text to train on: one .tsv (source TAB target), or --text twice, source and target"
        ),
    ] = None,
    restart: Annotated[bool, typer.Option(help="train anew even if the actor is finished or half-way")] = False,
    threads: Annotated[int, typer.Option(min=1, help="threads to compute with")] = 1,
) -> None:
    """Train an actor; killed at any moment, the same command goes on where it stopped."""
    torch.set_num_threads(threads)
    if bundle is not None:
        _start_from_bundle(bundle, text or [], config, run, objective)
        config = None
    elif text:
        raise TrainingError("--text goes with --bundle; the text of a run of your own is in its config")
    loaded, folder = open_run(config, run)
    chosen = {"objective": objective, "method": method, "seed": seed}
    changes = parse_options(option or []) | {key: value for key, value in chosen.items() if value is not None}
    settings = actor_settings(loaded, like or name, changes)
    train_actor(loaded, folder, name, settings, restart=restart)


def _start_from_bundle(
    bundle: Path, text: list[Path], config: Path | None, run: Path | None, objective: str | None
) -> None:
    """Make the run's folder from a bundle and a text, unless it is made already."""
    if run is None or config is not None or len(text) not in (1, 2):
        raise TrainingError(
            "--bundle goes with --run DIR and --text FILE.tsv (or --text SOURCE --text TARGET), no config"
        )
    if objective is not None:
        load_objective(objective)  # a mistake shows before anything is unpacked
    paths = [path.resolve() for path in text]
    parallel = ParallelText(tsv=paths[0]) if len(paths) == 1 else ParallelText(source=paths[0], target=paths[1])
    adopt(bundle, parallel, run, Console(stderr=True))


def open_run(config: Path | None, run: Path | None) -> tuple[Config, RunFolder]:
    """The config and the run's folder, either of which may be found through the other."""
    if config is not None:
        loaded = load_config(config)
        return loaded, RunFolder.of(loaded, run)
    if run is None:
        raise TrainingError("give --config, or --run with the folder of a trained model, or both")
    loaded = Config.model_validate(load_description(run)["config"])
    return loaded, RunFolder.of(loaded, run)


def parse_options(options: list[str]) -> dict[str, Any]:
    """KEY=VALUE pairs as nested tables; a value is TOML, or a bare word."""
    changes: dict[str, Any] = {}
    for option in options:
        key, equals, text = option.partition("=")
        if not equals or not key.strip():
            raise TrainingError(f"--option {option!r} is not of the form key=value, such as supervised.max_steps=400")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        *tables, last = key.strip().split(".")
        table = changes
        for name in tables:
            table = table.setdefault(name, {})
        table[last] = value
    return changes


def _merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """`base` with `changes`, table by table."""
    return base | {
        key: _merged(base[key], value) if isinstance(value, dict) and isinstance(base.get(key), dict) else value
        for key, value in changes.items()
    }


def actor_settings(config: Config, name: str, changes: dict[str, Any]) -> ActorTraining:
    """The config's table for this actor with the command line's changes, or a new one made of those."""
    known = config.actors.get(name)
    if known is None and "objective" not in changes:
        raise TrainingError(
            f"the config has no [actors.{name}] (it has: {', '.join(config.actors) or 'none'}); "
            "give --objective to train it all the same"
        )
    try:
        return ActorTraining.model_validate(_merged(known.model_dump() if known else {}, changes))
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, one['loc']))}: {one['msg']} (given: {one['input']!r:.80})" for one in error.errors()
        ]
        raise ConfigError(f"actors.{name}", problems) from None


def train_actor(
    config: Config,
    run: RunFolder,
    name: str,
    settings: ActorTraining,
    *,
    restart: bool = False,
    console: Console | None = None,
) -> None:
    """Train, choose and save one actor of a run."""
    keep_freed_memory()
    console = console or Console(stderr=True)
    objective = load_objective(settings.objective, settings.objective_options)  # first: a mistake shows at once
    files = ActorFiles(run, name)
    if restart:
        files.state.unlink(missing_ok=True)
    elif run.actor(name).exists() and not files.state.exists():
        raise TrainingError(f"{run.actor(name)} is finished already; --restart trains it anew, --name another one")
    model, _ = load_model(run.path)
    data = ActorData(config, run, settings, model, objective, console)
    shape = (settings.variant, settings.hidden, settings.sees_previous_word)
    actor = build_actor(model.sizes, *shape, settings.seed, settings.place)
    console.print(
        f"{name}: {objective.optimises} · {settings.method} · {settings.variant} actor of "
        f"{sum(parameter.numel() for parameter in actor.parameters()):,} parameters · {len(data.indices):,} pairs",
        highlight=False,
    )
    observer = ActorObserver(console, files, _identity(config, settings), settings)
    began = time.monotonic()
    state = _train(settings, data, actor, observer)
    _finish(state, data, settings, files, time.monotonic() - began, console)


def _train(settings: ActorTraining, data: ActorData, actor: PlainActor, observer: "ActorObserver") -> ActorState:
    methods = {"dpg": _train_dpg, "supervised": _train_supervised, "join": _join}
    return methods[settings.method](settings, data, actor, observer)


def _join(settings: ActorTraining, data: ActorData, actor: PlainActor, observer: "ActorObserver") -> ActorState:
    """Nothing is learnt: each gain is an "update", looked at on the dev set, and the best one is kept."""
    names = settings.join.names(settings.seed)
    parts = [load_actor(data.run.actor(name), data.model.sizes) for name in names]
    joined = join(parts, gain=0.0)
    state = start_state(joined, torch.optim.SGD(joined.parameters(), lr=0.0))
    observer.looked(state, record_look(state, data.measure(joined), {}))
    for gain in settings.join.gains:
        state.update += 1
        state.averaged = weights_of(join(parts, gain))
        observer.looked(state, record_look(state, data.measure(state.candidate()), {"gain": gain}))
    observer.checkpoint(state)
    return state


def _train_supervised(
    settings: ActorTraining, data: ActorData, actor: PlainActor, observer: "ActorObserver"
) -> ActorState:
    how = settings.supervised
    state = supervised.start(actor, how)
    observer.resume(state)
    with observer.showing(how.rounds * how.max_steps):
        supervised.train(
            state, data.model, data.round_lessons, how, settings.max_tokens, settings.seed, data.measure, observer
        )
    return state


def _train_dpg(settings: ActorTraining, data: ActorData, actor: PlainActor, observer: "ActorObserver") -> ActorState:
    how, sizes = settings.dpg, data.model.sizes
    if how.start is not None:
        actor.load_state_dict(data.actor_to_start_from(how.start, actor))
    torch.manual_seed(settings.seed)
    critic = Critic(
        sizes.target_vocabulary, sizes.decoder, how.critic_units, data.objective.is_bounded, sizes.readout,
        through_matches=how.through_matches,
    )  # fmt: skip
    critic.start_from(data.model)
    returns = TrueReturns(data.objective, data.model, data.target.decode_many)
    learner = PolicyGradientLearner(data.model, actor, critic, returns, data.limits, how)
    state = dpg_training.start(learner)
    observer.resume(state)
    decoders = (data.source.decode_many, data.target.decode_many)
    pairs = data.pairs(how.reference)
    lists = data.scored_lists(how.reference) if how.critic_lists else None
    training = PolicyGradientTraining(learner, state, pairs, how, settings.max_tokens, settings.seed, decoders, lists)
    with observer.showing(how.max_updates):
        training.train(data.measure, observer)
    return state


class ActorFiles:
    """Where an actor's training leaves its files."""

    def __init__(self, run: RunFolder, name: str) -> None:
        self.run = run
        self.name = name
        self.weights = run.actor(name)
        self.state = run.actors / f"{name}.state.pt"  # to resume from; gone when training is finished
        self.history = run.reports / "actors" / f"{name}.json"
        self.curve = run.reports / "actors" / f"{name}.png"


class ActorObserver:
    """Shows, draws and saves; never changes the training."""

    def __init__(self, console: Console, files: ActorFiles, identity: str, settings: ActorTraining) -> None:
        self.console = console
        self.files = files
        self.identity = identity
        self.settings = settings
        self.display = ActorDisplay(console, files.name, total=1)
        self._cpu_start = time.process_time()

    def showing(self, total: int) -> ActorDisplay:
        self.display.bar.update(self.display.task, total=total)
        return self.display

    def updated(self, state: ActorState, measures: dict[str, float]) -> None:
        self.display.updated(state, measures)

    def looked(self, state: ActorState, look: Look) -> None:
        self.display.looked(state, look)
        draw_actor_curve(state.looks, self.files.curve, f"{self.files.name}: {self.settings.method}")

    def checkpoint(self, state: ActorState) -> None:
        state.cpu_seconds = time.process_time() - self._cpu_start
        save_state(self.files.state, {"identity": self.identity} | state.as_dict())

    def resume(self, state: ActorState) -> None:
        """Load what an earlier run left, if it is of the same training."""
        if not self.files.state.is_file():
            return
        saved = load_state(self.files.state)
        if saved.pop("identity") != self.identity:
            raise TrainingError(
                f"{self.files.state} belongs to a training with other settings; --restart forgets it, "
                "another --name keeps both"
            )
        state.load_dict(saved)
        self._cpu_start -= state.cpu_seconds
        self.console.print(f"resuming after update {state.update}", highlight=False)


def _identity(config: Config, settings: ActorTraining) -> str:
    """What must not change between the parts of one training."""
    return json.dumps([config.name, settings.without_label().model_dump(mode="json")])


def _finish(
    state: ActorState, data: ActorData, settings: ActorTraining, files: ActorFiles, seconds: float, console: Console
) -> None:
    """Save the best actor and what is known about it."""
    first, best = state.looks[0], state.best_look
    assert best is not None  # the first look is never a collapse
    measured = {"bleu": 1.0, "chrf": 1.0, "log_probability": 1.0}
    facts = {
        "name": files.name,
        "objective": settings.objective,
        "optimises": data.objective.optimises,
        "method": describe_method(settings),
        "variant": settings.variant,
        "hidden": state.actor.output.in_features,
        "sees_previous_word": state.actor.sees_previous_word,
        "place": "after" if state.actor.acts_after else "before",
        "seed": settings.seed,
        "gains": [
            {
                "test_set": f"{data.dev_name} (dev)",
                "metric": metric,
                "greedy": round(getattr(data.greedy_scores, metric), 4),
                "actor": round(getattr(best.dev, metric), 4),
            }
            for metric in measured
        ],
        "settings": settings.model_dump(mode="json"),
        "training": {
            "updates": state.update,
            "best_update": best.update,
            "pairs": len(data.indices),
            "minutes": round(seconds / 60, 2),
            "cpu_minutes": round(state.cpu_seconds / 60, 2),
            "collapses": state.collapses,
            "dev_objective_at_start": first.dev.objective,
            "dev_objective": best.dev.objective,
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        },
    }
    save_actor(files.weights, state.best_actor(), facts)
    history = json.dumps([{**vars(look), "dev": vars(look.dev)} for look in state.looks], indent=1)
    write_atomically(files.history, lambda path: path.write_text(history + "\n", encoding="utf-8"))
    files.state.unlink(missing_ok=True)
    data.discard_rounds(files.name)
    console.print(
        f"kept update {best.update}: dev objective {first.dev.objective:.4f} → {best.dev.objective:.4f}, "
        f"BLEU {first.dev.bleu:.2f} → {best.dev.bleu:.2f}, log p {first.dev.log_probability:.4f} → "
        f"{best.dev.log_probability:.4f}; {seconds / 60:.1f} minutes → {files.weights}",
        highlight=False,
    )


def describe_method(settings: ActorTraining) -> str:
    """One phrase for manifests and tables."""
    if settings.method == "supervised":
        how = settings.supervised
        rounds = f", {how.rounds} rounds" if how.rounds > 1 else ""
        dropout = f", dropout {how.dropout:g}" if how.dropout else ""
        more = f", {how.recombined} recombined sentences" if how.recombined else ""
        if how.looks_ahead:
            tried = f"{how.candidates} words within {how.nearness:g} nats"
            if how.judged_by == "consensus":
                tried += f", by consensus of {how.nbest}-best"
            return f"supervised by looking ahead, {tried}{rounds}{dropout}{more}"
        by = "consensus targets" if how.choice == "consensus" else "targets"
        return f"supervised, {how.loss} loss, {by} within {how.delta:g} nats of {how.nbest}-best{rounds}{dropout}{more}"
    if settings.method == "join":
        parts = ", ".join(f"{count} × {table}" for table, count in settings.join.parts.items())
        return f"the mean of several supervised actors ({parts}), its gain chosen on dev"
    weights = "vanilla" if settings.dpg.vanilla else "critic-aware"
    origin = f", from {settings.dpg.start}" if settings.dpg.start else ""
    against = ", returns against chosen targets" if settings.dpg.reference == "target" else ""
    through = ", through matches" if settings.dpg.through_matches else ""
    return f"deterministic policy gradient, {weights}{through}{against}{origin}"
