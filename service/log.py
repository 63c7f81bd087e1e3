"""Structured logs: one JSON object a line (or coloured text), each with the id of the request it belongs to.

What users send and what they get back is never logged, nor is an API key: lines carry counts, codes and key ids.

Our own lines go straight to standard error: there is one for every request, and the way through the standard library's
logging takes five times as long.  Lines of libraries go through it and come out in the same form.
"""

import json
import logging
import sys
from contextvars import ContextVar
from typing import Any, TextIO

import structlog

# Of the request that the running task answers; every line that is written meanwhile has it.
request_id: ContextVar[str] = ContextVar("request_id")


class StderrLogger:
    """Writes finished lines; its name is that of the part of the service that speaks."""

    def __init__(self, name: str, stream: TextIO) -> None:
        self.name = name
        self._stream = stream

    def msg(self, message: str) -> None:
        self._stream.write(f"{message}\n")
        self._stream.flush()

    debug = info = warning = error = critical = exception = fatal = msg


def configure_logging(log_format: str, level: str) -> None:
    """Send our log lines and those of the libraries to standard error, in one form."""
    shared: list[structlog.typing.Processor] = [
        _with_request_id,
        structlog.processors.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: structlog.typing.Processor
    if log_format == "json":
        shared.append(structlog.processors.format_exc_info)
        # An encoder made once: `json.dumps` makes a new one whenever it is given an option.
        encode = json.JSONEncoder(ensure_ascii=False, default=repr).encode
        renderer = structlog.processors.JSONRenderer(serializer=lambda event, **_: encode(event))
    else:
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    stream = sys.stderr
    structlog.configure(
        processors=[*shared, renderer],
        logger_factory=lambda name="nudge", *_: StderrLogger(name, stream),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *shared, _without_colours],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # uvicorn's own lines go the same way; its access log would repeat ours, with the query string (user text) in it.
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers = []
        logger.propagate = name != "uvicorn.access"


def _with_request_id(logger: Any, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    if given := request_id.get(None):
        event["request_id"] = given
    return event


def _without_colours(logger: Any, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """uvicorn says everything twice, once in colours."""
    event.pop("color_message", None)
    return event
