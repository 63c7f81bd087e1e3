"""Translate in this process, without a server: the same path, with a progress bar."""

from rich.console import Console
from rich.progress import Progress

from service.api.body import Parameters
from service.api.failures import to_nudge_error
from service.api.parameters import Reader, read_options
from service.app import engine_settings
from service.bundle.registry import Registry
from service.engine.errors import EngineError
from service.errors import NudgeError, StartupError
from service.settings import Settings
from service.translation.options import Options
from service.translation.stream import FinishedSentence, Started, translate_stream


def read_offline_options(settings: Settings, **given: str | float | None) -> Options:
    """Check options exactly as a JSON request's are checked."""
    parameters = Parameters({name: value for name, value in given.items() if value is not None})
    parameters.is_typed = frozenset(parameters)
    try:
        return read_options(Reader(parameters), settings)
    except NudgeError as error:
        raise StartupError(error.message) from error


async def translate_offline(texts: list[str], options: Options, settings: Settings, progress: Console) -> list[str]:
    """Load the bundles, translate, and show how far it is on a console if that is a terminal."""
    registry = Registry(settings.models, engine_settings(settings), reload_interval_s=0)
    await registry.start()
    try:
        return await _translate(texts, options, registry, progress)
    except (NudgeError, EngineError) as error:
        raise StartupError(to_nudge_error(error).message) from error
    finally:
        await registry.close()


async def _translate(texts: list[str], options: Options, registry: Registry, console: Console) -> list[str]:
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("translating", total=None)
        async for item in translate_stream(texts, options, registry):
            match item:
                case Started(sentences=sentences):
                    bar.update(task, total=sum(sentences))
                case FinishedSentence():
                    bar.advance(task)
                case list():
                    return [translation.text for translation in item]
    raise StartupError("the engine ended without an answer")
