"""What several commands need: their options, a knowledge base to be asked, standard input."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muppet.cli.progress import ProgressLine
from muppet.config import Config, load_config
from muppet.errors import ConfigError, QuestionError
from muppet.retrieve.beam import AUTO, MOST_HOPS

if TYPE_CHECKING:
    from muppet.pipeline import Muppet

HOPS = [AUTO, *map(str, range(1, MOST_HOPS + 1))]
Hops = int | str
"""A number of paragraphs, or auto."""


class NamedPath(click.Path):
    """A file or folder that has been named: an unset variable in a script is not the folder that
    the script happens to run in."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        if value == "":
            name = param.human_readable_name if param else "a path"
            raise ConfigError(f"The name given for {name} is empty. Name a file or a folder.")
        return super().convert(value, param, ctx)


def hops_from(text: str) -> Hops:
    return text if text == AUTO else int(text)


kb_argument = click.argument("kb", type=NamedPath())
hops_option = click.option(
    "--hops",
    type=click.Choice(HOPS),
    callback=lambda _ctx, _option, text: None if text is None else hops_from(text),
    help="How many paragraphs a chain has.",
)
chains_option = click.option(
    "--chains", type=click.IntRange(1, 1000), help="How many chains are read at most."
)
model_option = click.option(
    "--model",
    type=NamedPath(),
    help="An exported encoder [default: the KB's last, else ours].",
)
reader_option = click.option("--reader", type=NamedPath(), help="An exported reader.")
config_option = click.option("--config", "config_file", type=NamedPath(), help="Settings, as TOML.")
top_option = click.option(
    "--top",
    default=3,
    show_default=True,
    type=click.IntRange(1, 100),
    help="How many answers are shown.",
)
threads_option = click.option(
    "--threads",
    default=2,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Threads that read.",
)


@contextmanager
def opened(
    kb: Path,
    *,
    config_file: Path | None,
    hops: Hops | None,
    model: Path | None,
    reader: Path | None,
    chains: int | None = None,
    top: int = 1,
    threads: int = 2,
) -> Iterator["Muppet"]:
    """A knowledge base to be asked, by the settings named, else its own, and these options."""
    from muppet.knowledge.open import KnowledgeBase
    from muppet.pipeline import open_muppet

    progress = ProgressLine()
    with KnowledgeBase(kb) as knowledge:
        given = load_config(config_file) if config_file else knowledge.config
        config = _with_options(given, hops, chains, top)
        muppet = open_muppet(
            knowledge, config=config, model=model, reader=reader, threads=threads, progress=progress
        )
        progress.close()
        yield muppet


def _with_options(config: Config, hops: Hops | None, chains: int | None, top: int) -> Config:
    retrieve, read = config.retrieve, config.read
    if hops is not None:
        retrieve = replace(retrieve, hops=hops)
    if chains is not None:
        read = replace(read, chains=chains, one_hop=1.0)  # not more than asked for
        retrieve = replace(retrieve, keep=max(chains, retrieve.keep))
    return replace(config, retrieve=retrieve, read=replace(read, answers=max(top, read.answers)))


def from_stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise QuestionError(f"The question on standard input is not UTF-8 ({error}).") from error


def require_utf8(path: Path) -> None:
    """Networks cannot be written to, nor read from, where a name is no text."""
    if any(0xD800 <= ord(character) <= 0xDFFF for character in str(path)):
        raise ConfigError(f"{path} cannot be made: its name is not UTF-8. Choose another --out.")


def shown(source: str) -> str:
    """A source as seen from here, if it is below."""
    here = Path.cwd()
    return str(Path(source).relative_to(here)) if Path(source).is_relative_to(here) else source
