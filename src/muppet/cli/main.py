"""The command group, and the one place where errors become exit codes.

0 done · 1 our bug, with its traceback · 2 the user's input, in one line · 130 interrupted.
"""

import errno
import io
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import click

from muppet.errors import MuppetError

COMMANDS = {
    "index": ("build", "Read documents into a knowledge base."),
    "remove": ("build", "Take documents out of a knowledge base."),
    "encode": ("build", "Compute the sentence vectors of a knowledge base."),
    "compact": ("build", "Drop the vectors of removed paragraphs."),
    "ask": ("ask", "Answer a question, with the evidence."),
    "chat": ("chat", "Ask one question after another, and why."),
    "search": ("search", "Find the chains of paragraphs that a question needs."),
    "serve": ("serve", "Answer over HTTP: a page for people, JSON for programs."),
    "mcp": ("mcp", "Answer an agent: a server of the Model Context Protocol."),
    "info": ("info", "What a knowledge base holds, and how it was made."),
    "config": ("info", "Print all settings with their defaults, as TOML."),
    "score": ("evaluate", "Score predictions exactly as the benchmark does."),
    "evaluate": ("evaluate", "Measure on a benchmark's questions."),
    "train": ("train", "Train the networks."),
}
"""Each command, the module that holds it, and its line of help: only what runs is imported."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What a disk says that has no room for our output."""


class LazyGroup(click.Group):
    """A group that imports a command when it is named."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"muppet.cli.{COMMANDS[name][0]}"), name)
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader of our output has had enough, as in `| head`
            _forget_output()
            ctx.exit(0)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="muppet")
def cli() -> None:
    """Multi-hop question answering over your own documents.

    \b
    muppet index ./my_docs --into kb     read a folder into a knowledge base
    muppet encode kb                     make it ready for questions of many hops
    muppet ask kb "a question"           get the answer, with the evidence

    Shell completion: eval "$(_MUPPET_COMPLETE=bash_source muppet)", or zsh_source, fish_source.
    """


def run() -> NoReturn:
    """The entry point of `muppet`."""
    _prepare_streams()
    try:
        code = cli.main(prog_name="muppet", standalone_mode=False)
    except MuppetError as error:
        click.echo(f"muppet: {error}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except click.Abort as abort:
        if isinstance(abort.__cause__, EOFError):  # no Ctrl-C, as click takes it for, but our bug
            raise abort.__cause__ from None
        click.echo("muppet: interrupted; nothing half-written is left behind.", err=True)
        sys.exit(130)
    except BrokenPipeError:  # as in `muppet --help | true`
        _forget_output()
        sys.exit(0)
    except OSError as error:
        if error.filename is None and error.errno not in FULL:
            raise
        what = "The output, or a file," if error.filename is None else error.filename
        click.echo(f"muppet: {what} cannot be used: {error.strerror}.", err=True)
        _forget_output()
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)


def _forget_output() -> None:
    """What could not be written is not tried again at the end."""
    with suppress(OSError, ValueError):  # a stream of a test has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _prepare_streams() -> None:
    """Those that were closed lead nowhere; what an output cannot encode is told by its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as it is for standard error
