"""Long work shows rate and time left, also when its note changes at every call."""

import pytest

from muppet.cli.progress import ProgressLine


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands until a test moves it."""
    now = [100.0]
    monkeypatch.setattr("muppet.cli.progress.time.monotonic", lambda: now[0])
    return now


def test_a_changing_loss_does_not_start_a_new_stage(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    line = ProgressLine()
    for step in range(1, 4):
        clock[0] += 4
        line("training", step, 10, f"loss {1 / step:.2f}")
    assert capsys.readouterr().err == "training: 3 of 10, 0.25/s, 0:28 left, loss 0.33\n"


def test_what_was_done_before_a_resume_does_not_count_for_the_rate(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    line = ProgressLine()
    line("training", 500, 600)
    clock[0] += 10
    line("training", 520, 600)
    assert capsys.readouterr().err == "training: 520 of 600, 2/s, 0:40 left\n"


def test_what_follows_the_last_of_a_total_is_not_a_line_each(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    """All bytes of a small compressed file are read long before its rows are."""
    line = ProgressLine()
    line("reading", 0, 100)
    for done in range(40):
        clock[0] += 10 if done == 0 else 0.1
        line("reading", 100, 100, f"{done} rows")
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_stage_that_is_gone_through_again_has_a_rate_of_its_own(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    line = ProgressLine()
    line("asking", 0, 100)
    clock[0] += 100
    line("asking", 100, 100)
    line("asking", 10, 100)
    clock[0] += 10
    line("asking", 30, 100)
    assert capsys.readouterr().err.splitlines()[-1] == "asking: 30 of 100, 2/s, 0:35 left"
