"""Whatever is given to a command: no traceback, and a knowledge base that stays what it was.

Every command of the tree is tried, with arguments and options drawn by their types and names.
MUPPET_FUZZ_EXAMPLES=2000 tries more of them, and others each time.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from command_line import animals, make_zoo, muppet, write_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from nasty import (
    BAD,
    GOOD,
    HOTPOT,
    KNOWN_QUESTIONS,
    Paths,
    Placed,
    Said,
    any_path,
    bad_paths,
    json_lines,
    rubbish,
    texts,
)

from muppet.cli.main import cli
from random_model import Demo

EXAMPLES = int(os.environ.get("MUPPET_FUZZ_EXAMPLES", "12"))
FUZZ = settings(
    max_examples=EXAMPLES, derandomize="MUPPET_FUZZ_EXAMPLES" not in os.environ, database=None
)
ENDLESS = ("serve", "train")
"""Commands that would go on for long: one of the things they read is always bad."""
READ_BY_OPTION = ("config_file", "model", "reader")
VOLATILE = ("megabytes", "tfidf")
"""Facts that asking alone may change: TF-IDF is built when it is first asked for."""


def commands(group: click.Group, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The names of all commands, those of groups below them with the group's."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*above, name))
        else:
            yield (*above, name)


def command_of(names: tuple[str, ...]) -> click.Command:
    found: click.Command = cli
    for name in names:
        assert isinstance(found, click.Group)
        inner = found.get_command(click.Context(found), name)
        assert inner is not None
        found = inner
    return found


COMMANDS = list(commands(cli))


def good_values(parameter: click.Parameter) -> Paths:
    """What a parameter wants."""
    kind, name = parameter.type, parameter.name or ""
    if isinstance(kind, click.Choice):
        return st.sampled_from(list(kind.choices)).map(Said)
    if isinstance(kind, click.IntRange | click.FloatRange):
        low = int(kind.min or 0)
        return st.integers(low, low + 9).map(str).map(Said)
    return GOOD.get(name, st.just(Said("new")))


def bad_values(parameter: click.Parameter) -> Paths:
    """What comes near to it, and what does not."""
    is_path = isinstance(parameter.type, click.Path) or parameter.name in BAD
    return BAD.get(parameter.name or "", any_path) | (any_path if is_path else texts.map(Said))


@st.composite
def lines(draw: st.DrawFn, names: tuple[str, ...]) -> list[str | Placed]:
    """The arguments and options of a command: most often one of them is wrong."""
    parameters = command_of(names).params
    wrong = draw(st.sampled_from([*([one] for one in parameters), parameters, []]))
    unread = draw(st.sampled_from(_readable(parameters))) if names[0] in ENDLESS else None
    given: list[str | Placed] = []
    for one in parameters:
        if one not in wrong and one is not unread and _is_left_out(draw, one):
            continue
        if isinstance(one, click.Option):
            given.append(max(one.opts, key=len))
            if one.is_flag:
                continue
        values = bad_values(one) if one in wrong else good_values(one)
        count = draw(st.integers(1, 2)) if one.nargs == -1 else 1
        given += [draw(bad_paths if one is unread else values) for _ in range(count)]
    if not draw(st.integers(0, 19)):
        given.append(Said(draw(texts)))
    return given


def _is_left_out(draw: st.DrawFn, parameter: click.Parameter) -> bool:
    """Seldom what is required, and the model and the reader, which load faster than ours."""
    is_usual = parameter.required or parameter.name in ("model", "reader")
    return not draw(st.integers(0, 19)) if is_usual else bool(draw(st.integers(0, 3)))


def _readable(parameters: list[click.Parameter]) -> list[click.Parameter]:
    """The parameters that a command cannot do without, or must read if they are given."""
    return [
        one for one in parameters if isinstance(one, click.Argument) or one.name in READ_BY_OPTION
    ]


@dataclass(slots=True)
class World:
    """Two knowledge bases, one of them encoded, and what else a good command needs."""

    directory: Path
    known: Mapping[str, Path]

    @property
    def knowledge_bases(self) -> list[Path]:
        return [self.known["zoo"], self.known["demo"]]

    def facts(self) -> list[Any]:
        found = [muppet("info", kb, "--json") for kb in self.knowledge_bases]
        return [
            one.err or {key: value for key, value in one.json.items() if key not in VOLATILE}
            for one in found
        ]

    def restore(self) -> None:
        for kb in self.knowledge_bases:
            shutil.rmtree(kb, ignore_errors=True)
            shutil.copytree(self.directory / "good" / kb.name, kb)

    @contextmanager
    def desk(self) -> Iterator["World"]:
        """An empty directory, which is the current one."""
        directory = self.directory / "desks" / "desk"
        directory.mkdir(parents=True)
        try:
            with chdir(directory):
                yield World(directory, self.known)
        finally:
            shutil.rmtree(directory)


@pytest.fixture(scope="module")
def world(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> World:
    directory = tmp_path_factory.mktemp("fuzz")
    (directory / "good").mkdir()
    make_zoo(directory / "good")
    shutil.copytree(demo.kb, directory / "good" / "demo")
    known = {"zoo": directory / "zoo", "demo": directory / "demo"}
    known |= {"encoder": demo.encoder, "reader": demo.reader}
    known["questions"] = write_rows(directory / "questions.jsonl", [HOTPOT])
    made = World(directory, known)
    made.restore()
    return made


@pytest.fixture(scope="module")
def before(world: World) -> list[Any]:
    return world.facts()


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
@FUZZ
@given(data=st.data())
def test_no_input_ends_in_a_traceback_or_harms_a_knowledge_base(
    names: tuple[str, ...], data: st.DataObject, world: World, before: list[Any]
) -> None:
    drawn = data.draw(lines(names), "line")
    stdin = data.draw(rubbish | json_lines | st.just(b"zebra\n/why\n/hops 9\n"), "stdin")
    with world.desk() as desk:
        line = [one if isinstance(one, str) else one.place(desk) for one in drawn]
        outcome = muppet(*names, *line, stdin=stdin)
    assert outcome.code in (0, 2)
    assert "Traceback" not in outcome.err
    if outcome.code:
        assert outcome.err.strip()
        assert world.facts() == before
    elif world.facts() != before:
        world.restore()


def test_the_fuzz_reaches_both_ends(world: World) -> None:
    """A good line of each kind ends well: what is refused is not refused by the fuzz's own slip."""
    owl = write_rows(world.directory / "owl.jsonl", animals("owl"))
    zoo, demo, reader = (world.known[name] for name in ("zoo", "demo", "reader"))
    assert muppet("index", owl, "--into", zoo).code == 0
    assert muppet("search", zoo, "zebra").code == 0
    assert muppet("ask", demo, KNOWN_QUESTIONS[2], "--reader", reader).code == 0
    questions = world.known["questions"]
    assert muppet("evaluate", demo, questions, "--reader", reader).code == 0
    world.restore()
