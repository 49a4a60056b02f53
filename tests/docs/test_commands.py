"""Every command that our pages show is run as it stands, or checked as far as a test can."""

import bz2
import json
import lzma
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import click
import pytest
from command_line import muppet
from fastapi.testclient import TestClient
from pages import PAGES, ROOT, SHELLS, Command, blocks, commands, mentions, name_of

from muppet import pipeline
from muppet.cli.main import cli
from muppet.knowledge import encode
from muppet.pipeline import open_muppet
from muppet.server.app import make_app
from random_model import Demo

HERE = "http://127.0.0.1:8321"
PARSED_PAGES = {
    "docs/results.md": "its data stands beside the repository, and takes hours",
    "docs/tutorials/train-on-your-own-questions.md": "it trains, and asks what it has trained",
}
PARSED = {
    "train": "takes minutes or more; tests/train runs it on a tiny world",
    "serve": "does not end; tests/server runs it, and curl below asks its application",
    "mcp": "waits for an agent; tests/test_mcp.py is one",
}
"""Commands that are not run, and why; that they would be understood is checked."""

LANGUAGES = {*SHELLS, "", "json", "jsonl", "python", "text", "toml"}
"""Of blocks; `bash` and the like would not be run."""

QUESTION = "Which Norwegian sea captain founded the whaling station where Shackleton is buried?"
DUMP = '{"title": "Grytviken", "text": ["Grytviken was founded by Carl Anton Larsen."]}\n'
TALK = f"{QUESTION}\n/why\n/hops 3\n/chains\n".encode()


@pytest.fixture
def here(demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the files that the pages speak of."""
    for name in ("src", "recipes"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")  # a link would be shown resolved
    (tmp_path / "model").symlink_to(demo.encoder)
    (tmp_path / "reader").symlink_to(demo.reader)
    shutil.copytree(demo.kb, tmp_path / "kb")
    (tmp_path / "my_docs").mkdir()
    (tmp_path / "my_docs" / "ferry.txt").write_text("The ferry leaves at seven.")
    (tmp_path / "settings.toml").write_text("[read]\nchains = 2\n")
    (tmp_path / "notes.csv").write_text("title,text\nFerry,It leaves at seven.\n")
    (tmp_path / "dump.jsonl.xz").write_bytes(lzma.compress(DUMP.encode()))
    parts = tmp_path / "enwiki" / "AA"
    parts.mkdir(parents=True)
    for number in range(2):
        page = DUMP.replace("Grytviken", f"Grytviken {number}").encode()
        (parts / f"wiki_0{number}.bz2").write_bytes(bz2.compress(page))
    (tmp_path / "questions.txt").write_text(QUESTION)
    demo = json.loads((files("muppet") / "demo" / "questions.json").read_text())
    for name in ("questions.json", "gold.json"):
        (tmp_path / name).write_text(json.dumps(demo[:2]))
    answers = {"answer": {"demo-01": "Carl Anton Larsen"}, "sp": {"demo-01": [["Grytviken", 1]]}}
    (tmp_path / "predictions.json").write_text(json.dumps(answers))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def client(demo: Demo) -> Iterator[TestClient]:
    """What `muppet serve kb` answers with."""
    with (
        open_muppet(demo.kb, reader=demo.reader, threads=1) as opened,
        TestClient(make_app({"kb": opened}), HERE) as asking,
    ):
        yield asking


def run_ours(command: Command, _: pytest.FixtureRequest) -> None:
    """A command of ours: run, or parsed where there is a reason."""
    words = command.words[1:]
    page = command.place.partition(":")[0]
    recipes = [word for word in words if word.startswith("recipes/")]
    assert all((ROOT / recipe).is_file() for recipe in recipes), command
    if words[0] in PARSED or page in PARSED_PAGES:
        understood(words)
        return
    given = command.redirected("<")
    stdin = Path(given).read_bytes() if given else TALK if words[0] == "chat" else b""
    outcome = muppet(*words, stdin=stdin)
    assert outcome.code == 0, f"{command.place}: {command.text}\n{outcome.err}"
    if kept := command.redirected(">"):
        Path(kept).write_text(outcome.out)
    seen = outcome.err + outcome.out
    for line in command.shown:
        assert any(is_like(line, printed) for printed in seen.splitlines()), (
            f"{command.place} shows {line!r}, but this is printed:\n{seen}"
        )


def understood(words: list[str]) -> None:
    """As far as click: the command is there, and takes these arguments."""
    ours, *rest = command_at(words)
    ours.make_context(words[0], list(rest))


def command_at(words: list[str]) -> tuple[click.Command, *tuple[str, ...]]:
    """The command that words name, and the words behind its name."""
    command: click.Command = cli
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        assert found, f"there is no muppet {words[0]}"
        command, words = found, words[1:]
    return command, *words


def is_like(shown: str, printed: str) -> bool:
    """Whether a page shows this line, where … stands for anything."""
    return bool(re.fullmatch(".*".join(map(re.escape, shown.split("…"))), printed))


def ask_server(command: Command, request: pytest.FixtureRequest) -> None:
    """A request of curl's, sent to the application that `muppet serve` runs."""
    _, address, *options = command.words
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert given.keys() <= {"-H", "-d"}, command
    headers = dict([given["-H"].split(": ")]) if "-H" in given else {}
    body = given.get("-d")
    client = request.getfixturevalue("client")
    answer = client.request("POST" if body else "GET", address, headers=headers, content=body)
    assert answer.status_code == 200, f"{command.place}: {answer.text}"


def make_has_it(command: Command, _: pytest.FixtureRequest) -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.M)
    assert {*command.words[1:]} <= {*targets}, command


def pip_has_it(command: Command, _: pytest.FixtureRequest) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = re.findall(r"\[([a-z,]+)\]", command.text)
    assert {*",".join(extras).split(",")} <= {*project["optional-dependencies"]}, command


def script_has_it(command: Command, _: pytest.FixtureRequest) -> None:
    source = with_neighbours(ROOT / command.words[1])
    options = [word for word in command.words if word.startswith("--")]
    assert [one for one in options if f'"{one}"' not in source] == [], command


def with_neighbours(script: Path) -> str:
    """A script's source, and that of the modules beside it that it imports."""
    source = script.read_text()
    names = re.findall(r"^from (\w+) import", source, re.M)
    beside = [script.with_name(f"{name}.py") for name in names]
    return "\n".join([source, *(with_neighbours(one) for one in beside if one.is_file())])


def activates(command: Command, _: pytest.FixtureRequest) -> None:
    assert command.words == [".", ".venv/bin/activate"]


CHECKS: dict[str, Callable[[Command, pytest.FixtureRequest], None]] = {
    "muppet": run_ours,
    "curl": ask_server,
    "make": make_has_it,  # takes minutes: CI runs `make test`
    "pip": pip_has_it,  # needs the network
    "python": script_has_it,  # experiments and benchmarks: hours, and data beside the repository
    ".": activates,  # there is no shell to go on in
}
WITH_COMMANDS = [page for page in PAGES if commands(page)]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_the_commands_of_a_page_run_in_their_order(
    page: Path,
    here: Path,
    demo: Demo,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the networks that come with the package where a page shows what is printed; else, since
    that takes a tenth of the time, by networks that nobody has trained."""
    shown = commands(page)
    if not any(command.program == "muppet" and command.shown for command in shown):
        monkeypatch.setattr(encode, "shipped_encoder", lambda: demo.encoder)
        monkeypatch.setattr(pipeline, "shipped_reader", lambda: demo.reader)
    for block in blocks(page):
        if block.title:
            (here / block.title).write_text(block.text)
    for command in shown:
        assert command.program in CHECKS, f"{command.place}: no test knows {command.text!r}"
        CHECKS[command.program](command, request)


@pytest.mark.parametrize("page", [page for page in PAGES if mentions(page)], ids=name_of)
def test_commands_named_in_sentences_exist(page: Path) -> None:
    for mention in mentions(page):
        words = [word for word in mention.split()[1:] if not word.isupper()]
        if words[0].startswith("-"):
            continue  # of `muppet` itself
        ours, *rest = command_at_or_group(words)
        known = {name for parameter in ours.params for name in parameter.opts}
        assert {word for word in rest if word.startswith("--")} <= {*known, "--help"}, mention


def command_at_or_group(words: list[str]) -> tuple[click.Command, *tuple[str, ...]]:
    """The same where a sentence may also speak of a group, as of `muppet train`."""
    return command_at(words) if words != ["train"] else (cli,)


def test_no_command_is_hidden_in_another_kind_of_block() -> None:
    for page in PAGES:
        assert not re.search(r"^[ >]+```", page.read_text(encoding="utf-8"), re.M), page
        for block in blocks(page):
            assert block.language in LANGUAGES, block
            if block.language not in (*SHELLS, "text"):
                assert not re.search(r"^(\$ |(\.venv/bin/)?muppet )", block.text, re.M), block


def test_all_python_of_our_pages_is_run() -> None:
    """`tests/house/test_snippets.py` runs the blocks that begin with `import muppet`."""
    python = [one for page in PAGES for one in blocks(page) if one.language in ("python", "py")]
    assert python
    assert [one for one in python if not one.text.startswith("import muppet\n")] == []


def test_the_script_that_makes_the_shipped_models_anew_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = ROOT / "recipes" / "rebuild.sh"
    lines = [line for line in script.read_text().splitlines() if line.startswith("muppet ")]
    assert len(lines) > 10
    monkeypatch.chdir(tmp_path)
    for line in lines:
        command = Command(script.name, line)
        for word in command.words:
            assert not word.startswith("recipes/") or (ROOT / word).is_file(), line
        understood(command.words[1:])
