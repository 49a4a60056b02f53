"""The command that answers over the network: serve."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from muppet.cli.progress import ProgressLine
from muppet.config import Config, load_config
from muppet.errors import ConfigError, QuestionError, needing
from muppet.knowledge.encode import has_model
from muppet.knowledge.open import KnowledgeBase
from muppet.pipeline import open_muppet

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
@click.option(
    "--hops",
    type=click.Choice(["auto", "1", "2", "3", "4"]),
    help="How many paragraphs a chain has.",
)
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="An exported encoder [default: the KB's last, else ours].",
)
@click.option("--reader", type=click.Path(path_type=Path), help="An exported reader.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Settings, as TOML.")
@click.option("--queue", default=64, show_default=True, type=click.IntRange(1, 100_000),
              help="How many questions may wait.")  # fmt: skip
@click.option("--seconds", default=60.0, show_default=True, type=click.FloatRange(0.1, 3600),
              help="How long a request may take.")  # fmt: skip
@click.option("--threads", default=2, show_default=True, type=click.IntRange(1, 256),
              help="Threads that read.")  # fmt: skip
def serve(
    kb: tuple[str, ...],
    host: str,
    port: int,
    token: str | None,
    hops: str | None,
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
    progress = ProgressLine()
    with ExitStack() as opened:
        muppets = {}
        for name, directory in _named(kb).items():
            config = _config(directory, config_file, hops)
            muppets[name] = opened.enter_context(
                open_muppet(
                    directory,
                    config=config,
                    model=model,
                    reader=reader,
                    threads=threads,
                    progress=progress,
                )
            )
        progress.close()
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
        name = name if has_name else directory.resolve().name
        if name in named:
            raise ConfigError(
                f"Two knowledge bases would be called {name}. Give one another name, as in "
                f"other={directory}."
            )
        named[name] = directory
    return named


def _config(kb: Path, file: Path | None, hops: str | None) -> Config:
    """The settings named, else those of the knowledge base, with what the options change."""
    with KnowledgeBase(kb) as knowledge:
        config = load_config(file) if file else knowledge.config
    if not has_model(kb):
        raise QuestionError(
            f"{kb} has no sentence vectors yet, so nothing can be asked of it. Make it ready with "
            f"`muppet encode {kb}`, then serve it."
        )
    if hops is None:
        return config
    wanted = hops if hops == "auto" else int(hops)
    return replace(config, retrieve=replace(config.retrieve, hops=wanted))
