"""`nudge-train pretrain`: train the translation model on prepared text, from where the last run stopped.

prepared text → batches → trainer → evaluated weights → average of the best → model.safetensors
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from sacrebleu.metrics.bleu import BLEU
from safetensors.torch import load_file, save_file

from training.config import Config, load_config
from training.corpus.batches import BatchStream
from training.corpus.cache import EOS, TokenCorpus
from training.corpus.respelling import Respelling
from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits
from training.errors import TrainingError
from training.nmt.allocator import keep_freed_memory
from training.nmt.checkpoint import (
    average_weights,
    load_description,
    load_model,
    load_state,
    save_model,
    save_state,
    write_atomically,
)
from training.nmt.curve import draw_learning_curve
from training.nmt.growth import grow_into
from training.nmt.model import ModelSizes, TranslationModel
from training.nmt.processes import joined_processes, led_processes
from training.nmt.progress import TrainingDisplay
from training.nmt.trainer import Evaluation, TrainingState, start, train
from training.recipes.run_folder import EvaluationSet, RunFolder
from training.tokenizer.subwords import Subwords


def command(
    config: Annotated[Path, typer.Option(help="config of the experiment (TOML)")],
    run: Annotated[Path | None, typer.Option(help="folder of the run; runs/<name> by default")] = None,
    restart: Annotated[bool, typer.Option(help="forget the checkpoints of an earlier run and start anew")] = False,
    processes: Annotated[int, typer.Option(min=1, help="processes on this machine that share each update")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="threads of each process")] = 1,
) -> None:
    """Train the translation model; killed at any moment, the same command goes on where it stopped."""
    torch.set_num_threads(threads)
    loaded = load_config(config)
    with ExitStack() as group:
        if processes > 1 and "WORLD_SIZE" not in os.environ:
            group.enter_context(led_processes(processes, [sys.executable, "-m", "training.cli", *sys.argv[1:]]))
        pretrain(loaded, RunFolder.of(loaded, run), restart=restart)


def pretrain(config: Config, run: RunFolder, *, restart: bool = False, console: Console | None = None) -> None:
    """Train, choose and save the model of a prepared run."""
    keep_freed_memory()
    console = console or Console(stderr=True, soft_wrap=True)
    corpus = TokenCorpus.open(run.data)
    with joined_processes() as processes:
        torch.manual_seed(config.pretrain.seed)
        model = build_model(config, run)
        if config.start_from is not None:
            load_start(model, run)
        model = model.to(processes.device)
        processes.share_parameters(model)
        state = start(model, config.pretrain)
        _resume(state, config, run, restart, console)
        chance = config.pretrain.respelling
        stream = BatchStream(
            corpus,
            batch_tokens=config.pretrain.batch_tokens,
            max_tokens=config.pretrain.max_tokens,
            seed=config.pretrain.seed,
            rank=processes.rank,
            world=processes.world,
            respelling=Respelling.of(Subwords.load(run.source_tokenizer).spelling_pieces(), chance) if chance else None,
        )
        if not processes.is_leader:
            train(state, stream, config.pretrain, processes, lambda _: 0.0, _Silent())
            return
        console.print(
            f"{config.name}: {len(corpus):,} pairs ({stream.left_out:,} over {config.pretrain.max_tokens} subwords "
            f"left out) · {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M parameters · "
            f"{processes.world} process(es) on {processes.device.type}",
            highlight=False,
        )
        dev = DevSet(config, run, run.dev_set(next(iter(config.corpus.dev))))
        with TrainingDisplay(console, run.tensorboard, config.pretrain.max_steps, state.step) as display:
            leader = _Leader(config, run, display)
            train(state, stream, config.pretrain, processes, lambda now: leader.evaluate(now, dev), leader)
        _finish(state, config, run, dev, console)


def build_model(config: Config, run: RunFolder) -> TranslationModel:
    """A new model whose vocabularies are those of the run's tokenizers."""
    sizes = ModelSizes(
        source_vocabulary=len(Subwords.load(run.source_tokenizer)),
        target_vocabulary=len(Subwords.load(run.target_tokenizer)),
        embedding=config.model.embedding,
        encoder=config.model.encoder,
        decoder=config.model.decoder,
        attention=config.model.attention,
        readout=config.model.readout,
        tie_output=config.model.tie_output,
        refinement=config.model.refinement,
    )
    return TranslationModel(sizes, config.model.dropout, config.model.word_dropout)


def load_start(model: TranslationModel, run: RunFolder) -> None:
    """Make `model` compute what the run's starting point computes; its layers may be larger."""
    given, _ = load_model(run.start.path)
    grow_into(model, given)


def facts_of_start(config: Config, run: RunFolder) -> dict[str, Any]:
    """Return the facts of the training that this run goes on from, as `save_model` wrote them; none: an empty dict."""
    if config.start_from is None:
        return {}
    facts: dict[str, Any] = load_description(run.start.path)["training"]
    return facts


class DevSet:
    """A dev set, tokenised once, that gives the greedy BLEU of a model."""

    def __init__(self, config: Config, run: RunFolder, texts: EvaluationSet) -> None:
        source = Subwords.load(run.source_tokenizer)
        self.target = Subwords.load(run.target_tokenizer)
        self.sources: Sequence[Sequence[int]] = [[*source.encode(text), EOS] for text in texts.sources]
        self.references = texts.references
        self.limits = LengthLimits.from_config(config.decoding)
        self.metric = BLEU()

    def bleu(self, model: TranslationModel) -> float:
        outputs = greedy(model, self.sources, limits=self.limits)
        texts = [self.target.decode(output.ids) for output in outputs]
        return float(self.metric.corpus_score(texts, [self.references]).score)


class _Silent:
    """The observer of processes that only compute."""

    def updated(self, state: TrainingState, loss: float, rate: float) -> None:
        pass

    def evaluated(self, state: TrainingState, evaluation: Evaluation) -> None:
        pass

    def checkpoint(self, state: TrainingState) -> None:
        pass


class _Leader:
    """The observer that evaluates, shows and saves."""

    def __init__(self, config: Config, run: RunFolder, display: TrainingDisplay) -> None:
        self.config = config
        self.run = run
        self.display = display
        self.updated = display.updated

    def evaluate(self, state: TrainingState, dev: DevSet) -> float:
        """Dev BLEU of the weights that would be kept: the moving average where there is one."""
        weights = state.averaged or state.model.state_dict()
        candidate = TranslationModel(state.model.sizes).to(next(state.model.parameters()).device)
        candidate.load_state_dict(weights)
        contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
        write_atomically(_weights_path(self.run, state.step), lambda path: save_file(contiguous, path))
        return dev.bleu(candidate)

    def evaluated(self, state: TrainingState, evaluation: Evaluation) -> None:
        self.display.evaluated(state, evaluation)
        draw_learning_curve(state.evaluations, self.run.reports / "learning-curve.png", self.config.name)

    def checkpoint(self, state: TrainingState) -> None:
        save_state(_state_path(self.run), {"identity": _identity(self.config)} | state.as_dict())
        kept = {_weights_path(self.run, one.step) for one in _best(state, self.config)}
        # Only now: a resumed run must find every file that its state speaks of.
        for path in self.run.checkpoints.glob("weights-*.safetensors"):
            if path not in kept:
                path.unlink()


def _finish(state: TrainingState, config: Config, run: RunFolder, dev: DevSet, console: Console) -> None:
    """Save the best of what there is, as dev sees it: evaluated weights, their average, the last update's own."""
    candidates = _best(state, config)
    chosen = load_file(_weights_path(run, candidates[0].step))
    bleu, origin = candidates[0].dev_bleu, f"update {candidates[0].step}"
    model = TranslationModel(state.model.sizes)
    others = {}
    if len(candidates) > 1:
        averaged = average_weights([_weights_path(run, one.step) for one in candidates])
        others[f"average of {len(candidates)} checkpoints"] = averaged
    if state.averaged:  # a moving average lags behind: after a short training, by more than it smooths
        own = state.model.state_dict().items()
        others[f"update {state.step}, without the moving average"] = {name: one.detach().cpu() for name, one in own}
    for name, weights in others.items():
        model.load_state_dict(weights)
        if (other := dev.bleu(model)) >= bleu:
            chosen, bleu, origin = weights, other, name
    model.load_state_dict(chosen)
    before = facts_of_start(config, run)
    facts = {
        "dev_bleu": round(bleu, 2),
        "origin": origin,
        "steps": state.step + before.get("steps", 0),
        "target_words": state.tokens + before.get("target_words", 0),
        "minutes": round(state.seconds / 60 + before.get("minutes", 0), 1),
        "cpu_minutes": round(state.cpu_seconds / 60 + before.get("cpu_minutes", 0), 1),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    save_model(run.path, model, config, facts)
    history = json.dumps([vars(one) for one in state.evaluations], indent=1)
    write_atomically(run.reports / "pretrain.json", lambda path: path.write_text(history + "\n"))
    console.print(
        f"kept {origin}: dev BLEU {bleu:.2f}, after {facts['minutes']} minutes → {run.model}", highlight=False
    )


def _best(state: TrainingState, config: Config) -> list[Evaluation]:
    """The evaluations worth averaging, best first."""
    return sorted(state.evaluations, key=lambda one: -one.dev_bleu)[: max(1, config.pretrain.average)]


def _state_path(run: RunFolder) -> Path:
    return run.checkpoints / "latest.pt"


def _weights_path(run: RunFolder, step: int) -> Path:
    return run.checkpoints / f"weights-{step:07d}.safetensors"


def _identity(config: Config) -> str:
    """What must not change between the parts of one training: the model's shape and how it learns."""
    how: dict[str, Any] = config.pretrain.model_dump(mode="json")
    for name in ("max_steps", "patience", "checkpoint_every", "average"):  # a longer run may go on from a shorter one
        del how[name]
    return json.dumps([config.model.model_dump(mode="json"), config.tokenizer.model_dump(mode="json"), how])


def _resume(state: TrainingState, config: Config, run: RunFolder, restart: bool, console: Console) -> None:
    path = _state_path(run)
    if restart or not path.is_file():
        return
    saved = load_state(path)
    if saved.pop("identity") != _identity(config):
        raise TrainingError(
            f"{path} was trained with another model, tokenizer or pretrain section than this config has; "
            "give another --run, or --restart to forget it"
        )
    state.load_dict(saved)
    if state.step:
        console.print(f"resuming after update {state.step}", highlight=False)
