"""The command line: `nudge serve | translate | models | check | keys`."""

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from service.errors import StartupError

commands = typer.Typer(
    help="A translation service whose greedy decoder is steered to the objective you ask for.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
keys_commands = typer.Typer(help="Make, list and revoke API keys.", no_args_is_help=True)
commands.add_typer(keys_commands, name="keys")

if TYPE_CHECKING:
    from service.bundle.manifest import Manifest

ConfigOption = Annotated[Path | None, typer.Option("--config", help="TOML file of settings")]
ModelsOption = Annotated[Path | None, typer.Option("--models", help="folder of bundles")]
KeysFileOption = Annotated[
    Path, typer.Option("--file", envvar="NUDGE_KEYS_FILE", help="file of hashed keys, as in NUDGE_KEYS_FILE")
]

# Each command imports what it needs: `nudge keys` does not wait for onnxruntime, nor `nudge models` for a web server.
MAX_PATH = 1000  # no file system is asked about more characters

_out = Console()
_err = Console(stderr=True)


def app() -> None:
    """Run the command line; an error that was foreseen is a message, not a traceback."""
    try:
        commands()
    except StartupError as error:
        _err.print(f"[bold red]error:[/] {error}", highlight=False, soft_wrap=True)
        sys.exit(1)


@commands.command()
def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on")] = None,
    port: Annotated[int | None, typer.Option(help="port to listen on; 0 picks a free one")] = None,
    models: ModelsOption = None,
    config: ConfigOption = None,
) -> None:
    """Serve the bundles of a folder over HTTP."""
    from service.server import run_server
    from service.settings import load_settings

    run_server(load_settings(config, host=host, port=port, models=models))


@commands.command()
def translate(
    text: Annotated[list[str] | None, typer.Argument(help="texts; - or nothing reads standard input")] = None,
    target: Annotated[str, typer.Option("--to", help="target language")] = ...,  # type: ignore[assignment]
    source: Annotated[str, typer.Option("--from", help="source language, or auto")] = "auto",
    objective: Annotated[str | None, typer.Option(help="objective, none, or a blend: bleu:0.7,perplexity:0.3")] = None,
    strength: Annotated[float, typer.Option(help="0 = plain decoding, 1 = as trained")] = 1.0,
    decoder: Annotated[str, typer.Option(help="greedy, beam or npad")] = "greedy",
    beam_size: Annotated[int | None, typer.Option(help="for --decoder beam")] = None,
    html: Annotated[bool, typer.Option("--html", help="the text is HTML")] = False,
    file: Annotated[list[Path] | None, typer.Option("--file", "-f", help="translate files")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="write here rather than to the screen")] = None,
    models: ModelsOption = None,
    config: ConfigOption = None,
) -> None:
    """Translate texts, files or standard input, in this process."""
    from service.offline import read_offline_options, translate_offline
    from service.settings import load_settings

    settings = load_settings(config, models=models)
    options = read_offline_options(
        settings,
        source=source,
        target=target,
        objective=objective,
        strength=strength,
        decoder=decoder,
        beam_size=beam_size,
        format="html" if html else "text",
    )
    if output:
        _check_writable(output)
    texts = _gather_texts(text or [], file or [])
    translated = asyncio.run(translate_offline(texts, options, settings, progress=_err))
    result = "\n".join(translated)
    if output:
        _write(output, result)
    else:
        sys.stdout.write(result if result.endswith("\n") else result + "\n")


@commands.command("models")
def list_models(models: ModelsOption = None, config: ConfigOption = None) -> None:
    """List the installed bundles, their objectives and scores."""
    from service.bundle.errors import BundleRefused
    from service.bundle.manifest import read_manifest
    from service.settings import load_settings

    settings = load_settings(config, models=models)
    table = Table("pair", "version", "parameters", "kind", "objectives", "scores")
    folders = sorted(path.parent for path in settings.models.glob("*/manifest.json"))
    if not folders:
        raise StartupError(
            f"{settings.models} holds no bundle: export one with `nudge-train export`, or copy one there"
        )
    for folder in folders:
        try:
            manifest = read_manifest(folder)
        except BundleRefused as refused:
            table.add_row(folder.name, "refused", "", "", "", refused.reason)
            continue
        objectives = ", ".join(actor.name for actor in manifest.actors) or "none"
        parameters = f"{manifest.sizes.parameters / 1e6:.1f}M"
        table.add_row(
            folder.name, manifest.version, parameters, manifest.quantisation.kind, objectives, _scores(manifest)
        )
    _out.print(table)


@commands.command()
def check(model_dir: Annotated[Path, typer.Argument(help="a bundle's folder")]) -> None:
    """Check a bundle as the service would before serving it: schema, checksums, graphs, golden replay."""
    from service.bundle.errors import BundleRefused
    from service.bundle.loader import load_bundle

    try:
        pair = load_bundle(model_dir.resolve())
    except BundleRefused as refused:
        raise StartupError(str(refused)) from refused
    asyncio.run(pair.engine.close(drain=False))
    _out.print(f"[green]ok[/] {pair.manifest.name} {pair.manifest.version}: everything is as the manifest says")


@keys_commands.command("add")
def add_key(
    name: Annotated[str, typer.Argument(help="whose key it is")],
    file: KeysFileOption,
    requests_per_minute: Annotated[int, typer.Option(min=0, help="0 = no limit")] = 0,
    characters_per_month: Annotated[int, typer.Option(min=0, help="0 = no limit")] = 0,
) -> None:
    """Make a key and show it, once."""
    from service.keys import store

    token, key = store.add_key(file, name, requests_per_minute, characters_per_month)
    _err.print(f"Key {key.id} for {name}. It is stored as a hash only, so keep it now:")
    sys.stdout.write(token + "\n")


@keys_commands.command("list")
def list_keys(file: KeysFileOption) -> None:
    """List keys, their limits and whether they are revoked."""
    from service.keys import store

    table = Table("id", "name", "created", "requests/minute", "characters/month", "revoked")
    for key in store.read_key_file(file).keys:
        table.add_row(
            key.id,
            key.name,
            f"{key.created:%Y-%m-%d}",
            str(key.requests_per_minute or "no limit"),
            str(key.characters_per_month or "no limit"),
            f"{key.revoked:%Y-%m-%d}" if key.revoked else "",
        )
    _out.print(table)


@keys_commands.command("revoke")
def revoke_key(name: Annotated[str, typer.Argument(help="name or id of the key")], file: KeysFileOption) -> None:
    """Refuse a key from now on; a running service notices within a second."""
    from service.keys import store

    key = store.revoke_key(file, name)
    _out.print(f"Key {key.id} ({key.name}) is revoked.")


def _gather_texts(arguments: list[str], files: list[Path]) -> list[str]:
    texts = [sys.stdin.read() if text == "-" else text for text in arguments]
    for text in arguments:
        if "\n" not in text and len(text) < MAX_PATH and Path(text).is_file():
            _err.print(
                f"{text} is translated as a text; to translate the file of that name, give it to --file", style="yellow"
            )
    for path in files:
        try:
            texts.append(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise StartupError(f"{path} cannot be read as UTF-8 text: {error}") from error
    return texts or [sys.stdin.read()]


def _check_writable(path: Path) -> None:
    """Say so before the work if its result will have no place."""
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise StartupError(f"{path} cannot be written: --output takes a file in a folder that exists and is yours")


def _write(path: Path, text: str) -> None:
    """Write the whole file or nothing."""
    is_special = path.exists() and not path.is_file()  # such as /dev/stdout
    target = path if is_special else path.with_name(f".{path.name}.part")
    try:
        target.write_text(text, encoding="utf-8")
        if not is_special:
            target.replace(path)
    except OSError as error:
        raise StartupError(f"{path} cannot be written: {error.strerror or error}") from error


def _scores(manifest: "Manifest") -> str:
    """The best-known number of each decoder and objective: BLEU on the first test set."""
    if not manifest.scores:
        return "not measured"
    test_set = manifest.scores[0].test_set
    shown = [
        f"{score.decoder}{'+' + score.objective if score.objective else ''} {score.bleu:.1f}"
        for score in manifest.scores
        if score.test_set == test_set and score.bleu is not None
    ]
    return f"{test_set} BLEU: " + ", ".join(shown)
