"""The server as a process: its socket, its log, and its end."""

import signal
import socket
from collections.abc import Callable, Mapping

import uvicorn

from muppet.errors import ConfigError
from muppet.pipeline import Muppet
from muppet.server.app import make_app
from muppet.server.settings import ServerSettings

PATIENCE = 10
"""Seconds that questions under way have to end in, once the server is told to stop."""


def serve(
    knowledge_bases: Mapping[str, Muppet],
    settings: ServerSettings,
    host: str,
    port: int,
    ready: Callable[[str], None],
) -> None:
    """Answer until told to stop; `ready` is told the address. Questions under way are finished."""
    app = make_app(knowledge_bases, settings)
    with _listening(host, port) as listening:
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,  # it would write down what people ask
            server_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=PATIENCE,
        )
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listening.getsockname()[1]}")
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            uvicorn.Server(config).run(sockets=[listening])
        except KeyboardInterrupt:  # its way to say that it was told to stop, and has
            return
        finally:
            signal.signal(signal.SIGTERM, before)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"Cannot listen at {host}, port {port} ({error}). Choose another --port or --host."
        ) from error
