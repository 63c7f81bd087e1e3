"""Run the app under uvicorn until it is told to stop."""

import contextlib
import signal
import socket
import sys

import structlog
import uvicorn

from service.app import create_app
from service.errors import StartupError
from service.log import configure_logging
from service.protocol import BoundedHttpProtocol
from service.settings import Settings

log = structlog.get_logger("nudge.server")

# An engine computes outside Python's lock and needs it for a moment after every step.  By default it would wait up to
# 5 ms for an event loop that is busy with other requests: several steps' worth.
SWITCH_INTERVAL_S = 5e-6


def run_server(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; running requests are finished first."""
    configure_logging(settings.log_format, settings.log_level)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    _check_models(settings)
    listener = _bind(settings.host, settings.port)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(settings),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=True,
            forwarded_allow_ips=settings.forwarded_allow_ips,
            timeout_graceful_shutdown=settings.shutdown_grace_s,
            timeout_keep_alive=30,
            backlog=2048,
            http=BoundedHttpProtocol,
        )
    )
    host, port = listener.getsockname()[:2]
    log.info("listening", address=f"http://{host}:{port}", models=str(settings.models))
    # uvicorn stops gracefully on a signal, then raises it again for whoever was before it: a clean end, in our case.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
    if not server.started:
        raise StartupError("the service could not start; the log lines above say why")


def _check_models(settings: Settings) -> None:
    """A folder without any bundle is a mistake; if all are refused, the service runs, so that /ready can say why."""
    if not any(settings.models.glob("*/manifest.json")):
        raise StartupError(
            f"{settings.models} holds no bundle (a sub-folder with a manifest.json). Point --models or NUDGE_MODELS at"
            " the right folder, or make one with `nudge-train export`."
        )


def _bind(host: str, port: int) -> socket.socket:
    """Take the port before anything is loaded, or say who cannot have it and why."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise StartupError(
            f"cannot listen on {host}:{port}: {error.strerror or error}. Stop what is using it, or choose another one"
            " with --port or NUDGE_PORT."
        ) from error
    listener.set_inheritable(True)
    return listener
