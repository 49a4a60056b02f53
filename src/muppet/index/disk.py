"""Files that are whole or not there, even after a power cut."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from muppet.artifact import ASIDE, flush_directory


@contextmanager
def written_aside(path: Path) -> Iterator[BinaryIO]:
    """A stream whose content becomes `path` when the block ends well, else it is removed."""
    partial = path.with_name(path.name + ASIDE)
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
