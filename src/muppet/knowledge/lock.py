"""One writer at a time, and what a full disk looks like from every library we write with."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from muppet.errors import ArtifactError

AS_BEFORE = (
    "The knowledge base is as it was before. Make room and run the same command again: it goes "
    "on where it stopped."
)
_FULL = (
    "disk is full",
    "disk I/O error",
    "No space left",
    "File too large",
    "index writer was killed",
)


@contextmanager
def write_lock(directory: Path) -> Iterator[None]:
    """Hold the knowledge base for writing; a crash of the holder lets go of it."""
    lock = FileLock(directory / "lock", timeout=0)
    owner = directory / "lock.owner"
    try:
        lock.acquire()
    except Timeout as error:
        raise ArtifactError(
            f"{directory} is being written by {_holder(owner)}. "
            "Wait until it is done, then try again."
        ) from error
    except OSError as error:
        raise ArtifactError(
            f"{directory} cannot be written: {error.strerror}. Free the disk or the directory "
            "for writing, or index into another place."
        ) from error
    try:
        with suppress(OSError):  # a full disk has no room even for the holder's name
            owner.write_text(f"process {os.getpid()}")
        yield
    finally:
        with suppress(OSError):
            owner.unlink(missing_ok=True)
        lock.release()


def _holder(owner: Path) -> str:
    try:
        return owner.read_text() or "another process"
    except OSError:  # it has just been let go of
        return "another process"


@contextmanager
def full_disk_is_an_error(directory: Path, state: str = AS_BEFORE) -> Iterator[None]:
    """Turn a full disk, as SQLite, tantivy and NumPy each report it, into one clear message.

    `state` says how the knowledge base was left, and what to do.
    """
    try:
        yield
    except (sqlite3.OperationalError, ValueError, OSError) as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG)
        if not full and not any(sign in str(error) for sign in _FULL):
            raise
        raise ArtifactError(f"The disk of {directory} is full ({error}). {state}") from error
