"""The command that talks: chat."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import click

from muppet.cli.shared import (
    HOPS,
    Hops,
    chains_option,
    config_option,
    hops_from,
    hops_option,
    kb_argument,
    model_option,
    opened,
    reader_option,
    top_option,
)
from muppet.cli.show import (
    echo,
    heading,
    marked,
    probability_of,
    show_answer,
    show_attention,
    show_chain,
)
from muppet.domain import Result
from muppet.errors import MuppetError, QuestionError
from muppet.pipeline import Muppet

REMEMBERED = 1_000
"""Lines of history that are kept."""
SHOWN_CHAINS = 5
ALARM = 0.1
"""Seconds after which the line editor, waiting for keys, looks whether Ctrl-C was among them."""


@click.command()
@kb_argument
@hops_option
@chains_option
@model_option
@reader_option
@config_option
@top_option
@click.pass_context
def chat(
    ctx: click.Context,
    kb: Path,
    hops: Hops | None,
    chains: int | None,
    model: Path | None,
    reader: Path | None,
    config_file: Path | None,
    top: int,
) -> None:
    """Ask KB one question after another, and why it answers as it does.

    Each line is a question, or one of /why, /chains, /hops, /help and /quit. Ctrl-C gives a
    question up, Ctrl-D leaves. Lines may be piped in too: the exit code is then 2 if one of them
    was refused.
    """
    is_live = sys.stdin.isatty() and sys.stdout.isatty()
    with opened(
        kb,
        config_file=config_file,
        hops=hops,
        model=model,
        reader=reader,
        chains=chains,
        top=top,
    ) as muppet:
        talk = Talk(muppet, top)
        if is_live:
            count = muppet.knowledge.store.count_paragraphs()
            click.echo(f"{kb}: {count:,} paragraphs. Ask; /help says what else; Ctrl-D leaves.")
        with _history() if is_live else nullcontext():
            refused = _converse(talk, is_live)
    ctx.exit(2 if refused and not is_live else 0)


class Talk:
    """Questions to one knowledge base, and questions about the last answer."""

    def __init__(self, muppet: Muppet, top: int) -> None:
        self._muppet = muppet
        self._top = top
        self._last: Result | None = None
        self.is_over = False
        self._commands: dict[str, tuple[Callable[[str], None], str]] = {
            "/why": (self._why, "the chain of the last answer, hop by hop"),
            "/chains": (self._chains, "the best chains for the last question"),
            "/hops": (self._hops, f"how many paragraphs a chain has: {', '.join(HOPS)}"),
            "/help": (self._help, "these lines"),
            "/quit": (self._quit, "leave, as Ctrl-D does"),
        }

    def respond(self, line: str) -> None:
        """Answer a question, or do what a line with a / wants."""
        if not line.startswith("/"):
            result = self._muppet.ask(line)
            self._last = replace(result, answers=result.answers[: self._top])
            show_answer(self._last)
            return
        name, _, rest = line.partition(" ")
        if name not in self._commands:
            close = get_close_matches(name, self._commands, n=1, cutoff=0.7)
            hint = f"Did you mean {close[0]}?" if close else "/help says what there is."
            raise QuestionError(f"There is no {name}. {hint}")
        self._commands[name][0](rest.strip())

    def _why(self, _rest: str) -> None:
        result = self._asked()
        if not result.answers:
            show_answer(result)
            return
        best = result.answers[0]
        chain = result.chain_of(best)
        paragraphs = [result.paragraphs[number] for number in chain.paragraphs]
        titles = [one.title for one in paragraphs]
        for number, (hop, paragraph) in enumerate(zip(chain.hops, paragraphs, strict=True), 1):
            if number > 1:
                echo("     To find the next one it looked most at these words:")
                encoder = self._muppet.retriever.encoder
                show_attention(encoder, result.question, paragraphs[: number - 1])
            probability = f"  [{probability_of(hop):.2f}]"
            echo(f"  {number}. {heading(paragraph, hop, result.ranks, probability)}", hanging=5)
            matched = hop.sentence or 0
            support = {one.index for one in best.support if one.paragraph == paragraph.id}
            for index in sorted({matched, *support}):
                roles = ["matched"] * (index == matched) + ["supports"] * (index in support)
                told = marked(best, paragraph, index, titles)
                echo(f"     {' and '.join(roles)}: {told}", hanging=7)

    def _chains(self, _rest: str) -> None:
        result = self._asked()
        shown = zip(result.chains[:SHOWN_CHAINS], result.scores, strict=False)
        for number, (chain, score) in enumerate(shown, 1):
            click.echo(f"{number}. [{score:.2f}]")
            show_chain(chain, result.paragraphs, result.ranks)

    def _hops(self, wanted: str) -> None:
        retriever = self._muppet.retriever
        if wanted:
            if wanted not in HOPS:
                raise QuestionError(f"/hops takes one of {', '.join(HOPS)}, not {wanted!r}.")
            changed = replace(retriever.config, hops=hops_from(wanted))
            retriever = retriever.with_config(changed)
            self._muppet = Muppet(retriever, self._muppet.reader, self._muppet.config)
        click.echo(f"Hops: {retriever.config.hops}.")

    def _help(self, _rest: str) -> None:
        for name, (_, line) in self._commands.items():
            click.echo(f"{name:8} {line}")

    def _quit(self, _rest: str) -> None:
        self.is_over = True

    def _asked(self) -> Result:
        if self._last is None:
            raise QuestionError("Ask a question first.")
        return self._last


def _converse(talk: Talk, is_live: bool) -> int:
    """Answer line after line; how many were refused. On a terminal Ctrl-C gives up only one."""
    refused = 0
    while not talk.is_over:
        try:
            if line := _read_live("? ") if is_live else _read():
                talk.respond(line)
        except EOFError:
            click.echo(nl=is_live)
            break
        except MuppetError as error:
            click.echo(f"muppet: {error}", err=True)
            refused += 1
        except KeyboardInterrupt:
            if not is_live:
                raise
            click.echo()
    return refused


def _read_live(prompt: str) -> str:
    """A line typed in; Ctrl-C is heard at any moment.

    Python's line editor misses a signal that comes when the prompt stands but the wait for keys
    has not begun: without the alarm it would sleep on, and give up the next line instead.
    """
    if not hasattr(signal, "setitimer"):  # as on Windows
        return _read(prompt)
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, ALARM, ALARM)
    try:
        return _read(prompt)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _read(prompt: str = "") -> str:
    try:
        return input(prompt).strip()
    except UnicodeDecodeError as error:
        raise QuestionError(f"A line of standard input is not UTF-8 ({error}).") from error


@contextmanager
def _history() -> Iterator[None]:
    """Arrow keys bring back the lines of earlier talks, where the platform can edit lines."""
    try:
        import readline
    except ImportError:  # as on Windows
        yield
        return
    file = _state_directory() / "history"
    with suppress(OSError):  # the first talk, or a home that cannot be read
        readline.read_history_file(file)
    try:
        yield
    finally:
        readline.set_history_length(REMEMBERED)
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(file)


def _state_directory() -> Path:
    given = os.environ.get("XDG_STATE_HOME")
    return (Path(given) if given else Path.home() / ".local" / "state") / "muppet"
