"""Files that are whole or not there, even after a power cut."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PARTIAL = ".partial"


@contextmanager
def written_aside(path: Path) -> Iterator[BinaryIO]:
    """A stream whose content becomes `path` when the block ends well, else it is removed."""
    partial = path.with_name(path.name + PARTIAL)
    try:
        with partial.open("wb") as stream:
            yield stream
            flush(stream)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    flush_directory(path.parent)


def flush(stream: BinaryIO) -> None:
    """What was written is on the disk."""
    stream.flush()
    os.fsync(stream.fileno())


def flush_directory(directory: Path) -> None:
    """The names in a directory are on the disk."""
    if os.name != "posix":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
