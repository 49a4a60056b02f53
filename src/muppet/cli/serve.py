"""The command that answers over the network: serve."""

from contextlib import ExitStack
from pathlib import Path

import click

from muppet.cli.shared import (
    Hops,
    config_option,
    hops_option,
    model_option,
    opened,
    reader_option,
    threads_option,
)
from muppet.errors import ConfigError, needing

OPEN_DOOR = (
    "muppet: anybody who can reach {host} can ask, and read these documents. Give a --token to "
    "change that."
)


@click.command()
@click.argument("kb", nargs=-1, required=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", default=8321, show_default=True, type=click.IntRange(0, 65535),
              help="The port to listen at; 0 for any that is free.")  # fmt: skip
@click.option("--token", envvar="MUPPET_TOKEN", show_envvar=True,
              help="What programs and people have to know.")  # fmt: skip
@hops_option
@model_option
@reader_option
@config_option
@click.option("--queue", default=64, show_default=True, type=click.IntRange(1, 100_000),
              help="How many questions may wait.")  # fmt: skip
@click.option("--seconds", default=60.0, show_default=True, type=click.FloatRange(0.1, 3600),
              help="How long a request may take.")  # fmt: skip
@threads_option
def serve(
    kb: tuple[str, ...],
    host: str,
    port: int,
    token: str | None,
    hops: Hops | None,
    model: Path | None,
    reader: Path | None,
    config_file: Path | None,
    queue: int,
    seconds: float,
    threads: int,
) -> None:
    """Answer questions over HTTP, with a page for people at / and JSON for programs at /api.

    Each KB is known by the name of its directory, or by a name of yours: NAME=DIRECTORY. The first
    is the one that is asked where none is named. Stop it with Ctrl-C.
    """
    with needing("Serving", "serve"):
        from muppet.server.run import serve as run_server
        from muppet.server.settings import LOOPBACK, ServerSettings
    is_local = host in LOOPBACK
    settings = ServerSettings(
        waiting=queue, seconds=seconds, token=token or None, hosts=LOOPBACK if is_local else ()
    )
    with ExitStack() as all_of_them:
        muppets = {
            name: all_of_them.enter_context(
                opened(
                    directory,
                    config_file=config_file,
                    hops=hops,
                    model=model,
                    reader=reader,
                    threads=threads,
                )
            )
            for name, directory in _named(kb).items()
        }
        if not is_local and not token:
            click.echo(OPEN_DOOR.format(host=host), err=True)
        run_server(muppets, settings, host, port, _announce)


def _announce(address: str) -> None:
    click.echo(f"Muppet answers at {address} (stop with Ctrl-C).")


def _named(given: tuple[str, ...]) -> dict[str, Path]:
    """Knowledge bases by name; two may not have the same."""
    named: dict[str, Path] = {}
    for one in given:
        name, sign, rest = one.partition("=")
        has_name = bool(sign and name and rest) and not Path(one).exists()
        directory = Path(rest if has_name else one)
        if not has_name:
            name = (directory.resolve() if directory.exists() else directory).name
        if name in named:
            raise ConfigError(
                f"Two knowledge bases would be called {name}. Give one another name, as in "
                f"other={directory}."
            )
        named[name] = directory
    return named
