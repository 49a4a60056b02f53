"""One writer at a time, and one message for a full disk."""

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from muppet.errors import ArtifactError
from muppet.knowledge.lock import full_disk_is_an_error, write_lock


def test_the_second_writer_is_told_who_the_first_is(tmp_path: Path) -> None:
    with (
        write_lock(tmp_path),
        pytest.raises(ArtifactError, match=f"written by process {os.getpid()}. Wait"),
        write_lock(tmp_path),
    ):
        pass
    with write_lock(tmp_path):  # and now it is free
        assert (tmp_path / "lock.owner").read_text() == f"process {os.getpid()}"
    assert not (tmp_path / "lock.owner").exists()


def test_a_lock_without_a_name_on_it_is_still_a_lock(tmp_path: Path) -> None:
    with write_lock(tmp_path):
        (tmp_path / "lock.owner").unlink()
        with pytest.raises(ArtifactError, match="by another process"), write_lock(tmp_path):
            pass


def test_the_lock_is_let_go_of_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), write_lock(tmp_path):
        raise KeyError
    with write_lock(tmp_path):
        pass


def test_a_place_where_no_lock_can_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ArtifactError, match="cannot be written"), write_lock(tmp_path / "file"):
        pass


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EFBIG, "File too large"),
        sqlite3.OperationalError("database or disk is full"),
        ValueError("An IO error occurred: 'No space left on device (os error 28)'"),
    ],
)
def test_a_full_disk_has_one_message_whoever_meets_it(tmp_path: Path, error: Exception) -> None:
    with (
        pytest.raises(ArtifactError, match=r"is full .* as it was before\. Make room"),
        full_disk_is_an_error(tmp_path),
    ):
        raise error


def test_other_errors_keep_their_names(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unexpected"), full_disk_is_an_error(tmp_path):
        raise ValueError("unexpected")
