"""A talk: piped, and at a terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
from command_line import MUPPET, assert_refused, make_zoo, muppet

from random_model import Demo

QUESTION = "Which Norwegian sea captain founded the whaling station where Shackleton is buried?"
PROMPT = "? "


def talk(demo: Demo, *lines: str) -> tuple[int, str, str]:
    stdin = "".join(f"{line}\n" for line in lines).encode()
    outcome = muppet("chat", demo.kb, "--reader", demo.reader, stdin=stdin)
    return outcome.code, outcome.out, outcome.err


def test_piped_lines_are_answered_as_ask_answers_them(demo: Demo) -> None:
    code, out, err = talk(demo, QUESTION, "")
    assert (code, err) == (0, "")
    assert out == muppet("ask", demo.kb, QUESTION, "--reader", demo.reader).out
    assert "\x1b" not in out


def test_why_tells_each_hop_with_its_probability_rank_sentences_and_attention(demo: Demo) -> None:
    _, out, _ = talk(demo, QUESTION, "/why")
    why = out[len(talk(demo, QUESTION)[1]) :]
    hops = re.findall(r"^  (\d)\. .+  \[(0\.\d\d)\]  (rank \d+ for|not found by) the", why, re.M)
    assert [number for number, *_ in hops] == ["1", "2"]
    assert why.count("matched") == 2
    assert re.search(r"^      question: \w+ \d+%, ", why, re.M)


def test_chains_are_those_that_were_found(demo: Demo) -> None:
    _, out, _ = talk(demo, QUESTION, "/chains")
    searched = muppet("search", demo.kb, QUESTION, "--top", 5).out
    assert out.endswith(searched)


def test_the_number_of_hops_is_changed_for_what_follows(demo: Demo) -> None:
    code, out, _ = talk(demo, "/hops", "/hops 1", QUESTION, "/hops auto")
    assert code == 0
    lines = out.splitlines()
    assert (lines[0], lines[1], lines[-1]) == ("Hops: 2.", "Hops: 1.", "Hops: auto.")
    assert not any(line.startswith("  2. ") for line in lines)


def test_help_names_every_command_and_quit_leaves(demo: Demo) -> None:
    code, out, _ = talk(demo, "/help", "/quit", QUESTION)
    assert code == 0
    assert re.findall(r"^/\w+", out, re.M) == ["/why", "/chains", "/hops", "/help", "/quit"]
    assert len(out.splitlines()) == 5


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("the of", "nothing to search for"),
        ("/why", "Ask a question first"),
        ("/chains", "Ask a question first"),
        ("/hopps 2", "Did you mean /hops?"),
        ("/x", "/help"),
        ("/hops 9", "not '9'"),
    ],
)
def test_a_line_that_is_refused_does_not_end_the_talk(demo: Demo, line: str, part: str) -> None:
    code, out, err = talk(demo, line, "/hops")
    assert code == 2  # for those who pipe
    assert err.startswith("muppet: ")
    assert err.count("\n") == 1
    assert part in err
    assert out == "Hops: 2.\n"


def test_what_cannot_be_talked_to_is_refused(demo: Demo, tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    assert_refused(muppet("chat", zoo), f"muppet encode {zoo}")
    assert_refused(muppet("chat", tmp_path / "nowhere"), "nowhere")
    assert_refused(muppet("chat", demo.kb, "--reader", tmp_path), str(tmp_path))


class Terminal:
    """A talk in a process of its own, at a terminal of 60 columns."""

    def __init__(self, demo: Demo, state: Path) -> None:
        arguments = [*MUPPET, "chat", str(demo.kb), "--reader", str(demo.reader)]
        environment = os.environ | {"XDG_STATE_HOME": str(state), "TERM": "xterm"}
        environment.pop("COLUMNS", None)
        self._process, self._file = pty.fork()
        if self._process == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # else ignored, as by a background job
            os.execve(arguments[0], arguments, environment)
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 60, 0, 0))

    def type(self, keys: str) -> str:
        """What is shown until it is our turn again."""
        os.write(self._file, keys.encode())
        return self.shown()

    def shown(self, until: str = f"\n{PROMPT}") -> str:
        out, deadline = b"", time.monotonic() + 60
        while time.monotonic() < deadline:
            if not select.select([self._file], [], [], 0.1)[0]:
                continue
            try:
                more = os.read(self._file, 65536)
            except OSError:  # how Linux says that the other end is closed
                return out.decode()
            if not more:
                return out.decode()
            out += more
            if until and out.decode(errors="ignore").endswith(until):
                return out.decode()
        raise TimeoutError(out)

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """What it wants to show has to wait, as after Ctrl-S, and so it comes to nothing else."""
        inside = os.open(f"/proc/{self._process}/fd/1", os.O_RDWR | os.O_NOCTTY)
        termios.tcflow(inside, termios.TCOOFF)
        try:
            yield
        finally:
            termios.tcflow(inside, termios.TCOON)
            os.close(inside)

    def leave(self) -> int:
        os.write(self._file, b"\x04")
        self.shown(until="")
        return os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])

    def close(self) -> None:
        os.close(self._file)


@pytest.fixture
def terminal(demo: Demo, tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(demo, tmp_path)
    yield opened
    opened.close()


def test_at_a_terminal_answers_are_styled_and_fit_its_width(terminal: Terminal) -> None:
    assert "62 paragraphs" in terminal.shown()
    shown = terminal.type(f"{QUESTION}\n")
    answer = shown.split("\n", 2)[2]  # after the question itself, which wraps once
    assert "\x1b[1m" in answer
    assert all(len(click.unstyle(line.rstrip("\r"))) <= 60 for line in answer.split("\n"))
    assert terminal.leave() == 0


def test_ctrl_c_gives_up_a_line_or_a_question_and_ctrl_d_leaves(terminal: Terminal) -> None:
    terminal.shown()
    assert "muppet: " not in terminal.type("half a line\x03")
    os.write(terminal._file, f"{QUESTION}\n\x03".encode())
    terminal.shown()
    assert "Hops: 2." in terminal.type("/hops\n")
    assert terminal.leave() == 0


def test_ctrl_c_is_heard_by_an_editor_that_is_not_waiting_for_keys_yet(terminal: Terminal) -> None:
    """It was missed until somebody ended the next line, and then that was given up."""
    terminal.shown()
    with terminal.held_up():
        os.write(terminal._file, b"x")
        time.sleep(0.3)  # by now it is about to show the x
        os.write(terminal._file, b"\x03")
    assert terminal.shown().endswith(f"\r\n{PROMPT}")
    assert "Hops: 2." in terminal.type("/hops\n")
    assert terminal.leave() == 0


def test_lines_are_remembered_for_the_next_talk(demo: Demo, tmp_path: Path) -> None:
    first = Terminal(demo, tmp_path)
    first.shown()
    first.type("/hops\n")
    assert first.leave() == 0
    first.close()
    assert (tmp_path / "muppet" / "history").read_text().splitlines()[-1] == "/hops"
    second = Terminal(demo, tmp_path)
    second.shown()
    assert "Hops: 2." in second.type("\x1b[A\n")  # the arrow that points up
    assert second.leave() == 0
    second.close()
