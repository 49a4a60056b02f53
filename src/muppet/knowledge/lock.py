"""One writer at a time, and what a full disk looks like from every library we write with."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from muppet.errors import ArtifactError

_FULL = ("disk is full", "disk I/O error", "No space left", "File too large", "os error 28")


@contextmanager
def write_lock(directory: Path) -> Iterator[None]:
    """Hold the knowledge base for writing; a crash of the holder lets go of it."""
    lock = FileLock(directory / "lock", timeout=0)
    owner = directory / "lock.owner"
    try:
        lock.acquire()
    except Timeout as error:
        who = owner.read_text() if owner.exists() else "another process"
        raise ArtifactError(
            f"{directory} is being written by {who}. Wait until it is done, then try again."
        ) from error
    try:
        owner.write_text(f"process {os.getpid()}")
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()


@contextmanager
def full_disk_is_an_error(directory: Path) -> Iterator[None]:
    """Turn a full disk, as SQLite, tantivy and NumPy each report it, into one sentence."""
    try:
        yield
    except (sqlite3.OperationalError, ValueError, OSError) as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG)
        if not full and not any(sign in str(error) for sign in _FULL):
            raise
        raise ArtifactError(
            f"The disk of {directory} is full ({error}). The knowledge base is as it was before. "
            "Make room and run the same command again: it goes on where it stopped."
        ) from error
