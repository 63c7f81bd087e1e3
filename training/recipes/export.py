"""`nudge-train export`: a trained model and its actors become a bundle that the service loads.

weights → fp32 graphs → parity with torch → words that can be said → int8 graphs → parity with fp32
        → calibration → golden examples → bundle
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.table import Table

from training.config import Config
from training.errors import ExportError
from training.evaluation.actor_report import METRIC_OF, SIGNIFICANT
from training.export.actor_files import read_actors
from training.export.bundle import (
    CARD_NAME,
    ENCODER_NAME,
    GOLDEN_NAME,
    STEP_NAME,
    WORDS_NAME,
    refuse_to_overwrite,
    write_bundle,
)
from training.export.calibration import calibrate
from training.export.checkpoint import (
    ACTORS_NAME,
    CHECKPOINT_NAME,
    SHIPPED_NAME,
    TRAINING_NAME,
    pack_actors,
    pack_model,
    portable_description,
)
from training.export.golden import make_golden
from training.export.graph import Graphs, build_graphs
from training.export.known_facts import read_scores, read_shipped_scores, shipped_state_range
from training.export.manifest import ActorFacts, BundleFacts
from training.export.model_card import make_model_card
from training.export.output_words import OUTPUT_TOKENIZER
from training.export.parity import Measured, TorchActor, check_against_torch, check_quantised, measure
from training.export.sessions import BundleSessions
from training.export.weights import ModelWeights, model_weights, rounded_to_half, unit_ranges
from training.nmt.checkpoint import load_description, load_model
from training.recipes.actor import open_run
from training.recipes.export_data import ExportTexts, parity_sources, read_texts
from training.recipes.export_words import characters_learnt, served_words, words_known
from training.recipes.run_folder import RunFolder
from training.tokenizer.subwords import Subwords

PLAIN = "greedy"
GOLDEN_CANDIDATES = 200


def command(
    config: Annotated[
        Path | None, typer.Option(help="config of the experiment (TOML); that of the run's model by default")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="folder of the run; runs/<name of the config> by default")] = None,
    out: Annotated[Path | None, typer.Option(help="folder of the bundle; models/<source>-<target> by default")] = None,
    actor: Annotated[
        list[str] | None, typer.Option(help="an actor to include; all of the run by default; repeatable")
    ] = None,
    default_objective: Annotated[str | None, typer.Option(help="actor that acts when a request names none")] = None,
    version: Annotated[str, typer.Option(help="version of the bundle, as in 1.2.3")] = "1.0.0",
    parity_sentences: Annotated[int, typer.Option(min=1, help="sentences whose words must equal torch's")] = 500,
    sentences: Annotated[
        int, typer.Option(min=10, help="dev and test sentences, at most, to hold int8 against fp32 on")
    ] = 2000,
    force: Annotated[bool, typer.Option(help="replace an existing bundle")] = False,
    threads: Annotated[int, typer.Option(min=1, help="threads to compute with")] = 1,
) -> None:
    """Write the bundle of a trained model and its actors, after holding it against the model it is made from."""
    torch.set_num_threads(threads)
    loaded, folder = open_run(config, run)
    export(
        loaded,
        folder,
        out or Path("models") / f"{loaded.languages.source}-{loaded.languages.target}",
        config_file=config,
        actors=actor,
        default_objective=default_objective,
        version=version,
        parity_sentences=parity_sentences,
        sentences=sentences,
        force=force,
    )


def export(
    config: Config,
    run: RunFolder,
    out: Path,
    *,
    config_file: Path | None = None,
    actors: Sequence[str] | None = None,
    default_objective: str | None = None,
    version: str = "1.0.0",
    parity_sentences: int = 500,
    sentences: int = 2000,
    force: bool = False,
    console: Console | None = None,
) -> dict[str, Any]:
    """Build, check and write a bundle; return its manifest.  Nothing is written unless every gate is passed."""
    console = console or Console(stderr=True)
    refuse_to_overwrite(out, force)
    model, _ = load_model(run.path)
    description = load_description(run.path)
    weights = model_weights({name: tensor.numpy() for name, tensor in model.state_dict().items()})
    found, left_out = read_actors(run.actors, weights.sizes, actors)
    for name, reason in left_out.items():
        console.print(f"actor {name} is left out: it {reason}", highlight=False)
    default = _default_objective(default_objective, config.export.default_objective, found, console)
    texts = read_texts(config, run, sentences)
    units = unit_ranges([actor.weights for actor in found])

    # fp32 must be torch, word for word.
    torch_actors = {actor.weights.name: TorchActor(actor.weights) for actor in found}
    fp32 = BundleSessions(build_graphs(weights, [actor.weights for actor in found], "fp32"))
    sources = parity_sources(config, run, texts, parity_sentences)
    parity: dict[str, str] = {}
    console.print(f"fp32 graphs against torch, {len(sources)} sentences:", highlight=False)
    for name in (PLAIN, *units):
        result = check_against_torch(model, fp32, sources, texts.limits, torch_actors.get(name), units.get(name), name)
        parity[f"{name}, fp32 against torch"] = str(result)
        console.print(f"  {name}: {result}", highlight=False)

    # What is served must be as good: int8 within 0.3 BLEU.
    state_range = max([shipped_state_range(run.path / SHIPPED_NAME), *(a.state_range() for a in torch_actors.values())])
    kind = config.export.quantisation
    console.print(f"BLEU on {texts.name}:", highlight=False)
    measured = {"fp32": _measure_all("fp32", fp32, texts, units, console)}
    served, tokenizers = served_words(run, weights)
    if len(tokenizers) > 1:
        console.print(
            f"  {served.sizes.target_vocabulary:,} of {weights.sizes.target_vocabulary:,} subwords can be said",
            highlight=False,
        )
        texts = replace(texts, target=Subwords.parse(tokenizers[OUTPUT_TOKENIZER]))
    graphs = _final_graphs(config, served, found, state_range)
    sessions = BundleSessions(graphs)
    if kind == "int8":
        measured["int8"] = _measure_all("int8", sessions, texts, units, console)
        check_quantised(measured["fp32"], measured["int8"])
        for name in measured["int8"]:
            bleu = {of: measured[of][name].scores.bleu for of in measured}
            parity[f"{name}, BLEU on {texts.name}"] = f"{bleu['fp32']:.2f} in fp32, {bleu['int8']:.2f} in int8"

    words = words_known(run)
    facts = BundleFacts(
        source=config.languages.source,
        target=config.languages.target,
        model=served,
        quantisation=kind,
        decoding=config.decoding,
        tokenizer_files=(run.source_tokenizer.name, list(tokenizers)[-1]),
        learnt_by_bytes=characters_learnt(run),
        spaced_openings=texts.target.has_spaced_openings,
        known_words=WORDS_NAME if words is not None else None,
        actors=found,
        default_objective=default,
        calibration=_calibration(texts, measured[kind][PLAIN]),
        scores=_scores(run, texts, measured[kind]),
        provenance=_provenance(config, config_file, description, state_range),
        licence=config.export.licence,
        version=version,
    )
    files = {
        ENCODER_NAME: graphs.encoder,
        STEP_NAME: graphs.step,
        **tokenizers,
        GOLDEN_NAME: _golden(config, sessions, texts, units),
        CARD_NAME: make_model_card(facts, config.export, parity).encode(),
        **({WORDS_NAME: words} if words is not None else {}),
    }
    beside = {CHECKPOINT_NAME: pack_model(weights, portable_description(config, description))}
    if found:
        beside[ACTORS_NAME] = pack_actors(found)
    if config_file is None and (run.path / TRAINING_NAME).is_file():
        config_file = run.path / TRAINING_NAME
    if config_file is not None:
        beside[TRAINING_NAME] = config_file.read_bytes()
    manifest = write_bundle(out, facts, files, created=datetime.now(UTC), beside=beside, force=force)
    console.print(_summary(out, files, beside, parity))
    return manifest


def _final_graphs(config: Config, weights: ModelWeights, actors: Sequence[ActorFacts], state_range: float) -> Graphs:
    """Return what the bundle will hold."""
    kind = config.export.quantisation
    if kind == "int8":
        weights = rounded_to_half(weights)
    return build_graphs(weights, [actor.weights for actor in actors], kind, state_range=state_range)


def _measure_all(
    kind: str, sessions: BundleSessions, texts: ExportTexts, units: Mapping[str, tuple[int, int]], console: Console
) -> dict[str, Measured]:
    measured = {
        name: measure(sessions, texts.sources, texts.references, texts.target.decode, texts.limits, units.get(name))
        for name in (PLAIN, *units)
    }
    line = ", ".join(f"{name} {result.scores.bleu:.2f}" for name, result in measured.items())
    console.print(f"  {kind}: {line}", highlight=False)
    return measured


def _calibration(texts: ExportTexts, plain: Measured) -> dict[str, Any]:
    """Fit the confidence on the first dev set alone: test sets are for reporting."""
    rows = slice(texts.dev_sentences)
    scores = [output.score for output in plain.outputs[rows]]
    return calibrate(scores, plain.texts[rows], texts.reference_texts[rows], texts.dev_name).as_manifest()


def _golden(
    config: Config, sessions: BundleSessions, texts: ExportTexts, units: Mapping[str, tuple[int, int]]
) -> bytes:
    examples = config.export.golden_examples
    rows = slice(max(GOLDEN_CANDIDATES, 5 * examples))
    return make_golden(
        sessions, texts.texts[rows], texts.sources[rows], texts.target.decode, units, texts.limits, examples
    )


def _default_objective(
    asked: str | None, wish: str | None, actors: Sequence[ActorFacts], console: Console
) -> str | None:
    """The default that was asked for; or the config's, if its gain is significant on every test set; or none."""
    name = asked or wish
    if name is None:
        return None
    chosen = {actor.weights.name: actor for actor in actors}.get(name)
    if chosen is None:
        names = ", ".join(actor.weights.name for actor in actors) or "none"
        raise ExportError(f"the default objective {name!r} is none of the bundle's actors ({names})")
    own = [gain for gain in chosen.gains if gain["metric"] == METRIC_OF.get(chosen.objective, chosen.objective)]
    doubtful = [
        str(gain["test_set"])
        for gain in own
        if gain["actor"] <= gain["greedy"] or gain.get("p") is None or gain["p"] >= SIGNIFICANT
    ]
    if own and not doubtful:
        return name
    doubt = f"its gain is not known to be significant on {', '.join(doubtful) or 'any test set'}"
    if asked:
        console.print(f"{name} becomes the default although {doubt}", highlight=False)
        return name
    console.print(f"plain greedy stays the default, and not {name}: {doubt}", highlight=False)
    return None


def _scores(run: RunFolder, texts: ExportTexts, measured: Mapping[str, Measured]) -> list[dict[str, Any]]:
    """What `evaluate` measured; for a decoder it did not, what the shipped bundle says, or else the export's own."""
    decoders = [None if name == PLAIN else name for name in measured]
    evaluated = read_scores(run.reports / "evaluate.json", [name for name in decoders if name])
    shipped = read_shipped_scores(run.path / SHIPPED_NAME)
    scores = evaluated
    for objective in decoders:
        if not any(score["objective"] == objective for score in scores):
            scores = scores + [score for score in shipped if score["objective"] == objective]
        if not any(score["objective"] == objective for score in scores):
            scores = [*scores, _own_score(texts, objective, measured[objective or PLAIN])]
    return scores


def _own_score(texts: ExportTexts, objective: str | None, measured: Measured) -> dict[str, Any]:
    return {
        "test_set": " + ".join(texts.sets),
        "decoder": "greedy",
        "objective": objective,
        "bleu": round(measured.scores.bleu, 2),
        "chrf": round(measured.scores.chrf, 2),
        "length_ratio": round(measured.scores.length_ratio, 3),
        "signature": texts.references.signatures()["bleu"],
    }


def _provenance(
    config: Config, config_file: Path | None, description: Mapping[str, Any], state_range: float
) -> dict[str, Any]:
    training = description.get("training", {})
    facts: dict[str, Any] = {"data": list(config.export.credits), "state_range": state_range}
    if config_file is not None:
        # Not the folders of this machine.
        facts["config"] = config_file.name if config_file.is_absolute() else config_file.as_posix()
    if "steps" in training:
        facts["steps"] = training["steps"]
    if "cpu_minutes" in training:
        facts["cpu_hours"] = round(training["cpu_minutes"] / 60, 2)
    return facts


def _summary(out: Path, files: Mapping[str, bytes], beside: Mapping[str, bytes], parity: Mapping[str, str]) -> Table:
    table = Table("", "", title=f"{out}", title_justify="left", show_header=False)
    for name, data in files.items():
        table.add_row(name, f"{len(data) / 1e6:.2f} MB")
    table.add_row("served", f"{sum(map(len, files.values())) / 1e6:.2f} MB", end_section=True)
    for name, data in beside.items():
        table.add_row(name, f"{len(data) / 1e6:.2f} MB", end_section=name == list(beside)[-1])
    for name, result in parity.items():
        table.add_row(name, result)
    return table
