"""The command line as tests use it: in this process where that is enough, else in its own."""

import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from muppet.cli.main import run

MUPPET = [str(Path(sys.executable).with_name("muppet"))]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a user sees of one command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401
        return json.loads(self.out)


def muppet(*arguments: object, stdin: bytes = b"") -> Outcome:
    """Run a command through its entry point; a bug's exception comes out and fails the test."""
    out, err = _stream("strict"), _stream("backslashreplace")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["muppet", *map(str, arguments)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as leaving:
            run()
    return Outcome(int(leaving.value.code or 0), *(_written(stream) for stream in (out, err)))


def _stream(errors: str) -> io.TextIOWrapper:
    """As Python opens standard output and error: only the latter takes every string there is."""
    return io.TextIOWrapper(io.BytesIO(), "utf-8", errors, write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


def muppet_process(
    *arguments: object,
    stdin: bytes = b"",
    before: Callable[[], None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run a command in a process of its own; `before` is called in it first."""
    done = subprocess.run(
        [*MUPPET, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        preexec_fn=before,
        env=environment,
        check=False,
        timeout=60,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def write_rows(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def animals(*names: str) -> list[dict[str, object]]:
    return [
        {"id": name, "title": name.title(), "text": f"The {name} lives in the {name}house."}
        for name in names
    ]


def make_zoo(directory: Path) -> Path:
    """A knowledge base of two documents."""
    rows = write_rows(directory / "zoo.jsonl", animals("zebra", "lion"))
    assert muppet("index", rows, "--into", directory / "zoo").code == 0
    return directory / "zoo"


def answers(kb: Path, *questions: str) -> list[Any]:
    """What a knowledge base finds, to be compared with what it finds later."""
    found = [muppet("search", kb, question, "--json") for question in questions]
    assert [(one.code, one.err) for one in found] == [(0, "")] * len(found)
    return [one.json["chains"] for one in found]


def assert_refused(outcome: Outcome, *parts: str) -> None:
    """One line that says what is wrong, and exit code 2."""
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("muppet: ")
    assert outcome.err.count("\n") == 1
    for part in parts:
        assert part in outcome.err
