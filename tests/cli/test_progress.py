"""Progress on stderr: live on a terminal, silent for short work that nobody watches."""

import io
import sys

import pytest

from muppet.cli import progress
from muppet.cli.progress import ProgressLine


class Terminal(io.StringIO):
    """A stderr that somebody watches."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, as the test sets it."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_short_work_off_a_terminal_says_nothing(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    line = ProgressLine()
    for done in range(1, 11):
        clock[0] += 0.4
        line("reading", done, 10)
    line.close()
    assert sys.stderr.getvalue() == ""


def test_long_work_off_a_terminal_says_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    line = ProgressLine()
    line("reading", 0, 1_200)
    for done in range(100, 1_300, 100):
        clock[0] += 1
        line("reading", done, 1_200)
    assert sys.stderr.getvalue().splitlines() == [
        "reading: 500 of 1,200, 100/s, 0:07 left",
        "reading: 1,000 of 1,200, 100/s, 0:02 left",
        "reading: 1,200 of 1,200, 100/s",
    ]


def test_a_terminal_has_one_line_a_stage(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    line = ProgressLine()
    line("reading", 0, None)
    clock[0] += 2
    line("reading", 5, None)
    line("lexical index", 3, 3)
    line.close()
    shown = sys.stderr.getvalue()
    assert shown.count("\n") == 2
    assert "\rreading: 5, 2.5/s" in shown
    assert "\rlexical index: 3 of 3" in shown


def test_the_time_left_may_be_hours(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    line = ProgressLine()
    line("reading", 0, 100)
    clock[0] += 100
    line("reading", 1, 100)
    assert "1 of 100, 0.01/s, 2:45:00 left" in sys.stderr.getvalue()
