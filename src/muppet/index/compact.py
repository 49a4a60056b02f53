"""Vectors without those of removed paragraphs, which otherwise stay on the disk."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muppet.errors import ArtifactError
from muppet.index.build import Paragraphs
from muppet.index.disk import written_aside
from muppet.index.layout import (
    MAKE,
    Commit,
    Table,
    check_files,
    make_table,
    read_commit,
    remove_stale,
    write_commit,
)
from muppet.index.pending import Pending

CHUNK = 65_536
"""Rows copied at once."""


@dataclass(frozen=True, slots=True)
class CompactSummary:
    """How many paragraphs were kept and dropped, and what the vectors took on the disk."""

    kept: int
    dropped: int
    bytes_before: int
    bytes_after: int


def compact(directory: Path, store: Paragraphs) -> CompactSummary:
    """Rewrite the vectors without those of removed paragraphs; stopped, it has changed nothing.

    The caller holds a lock. Whoever has the vectors open goes on with what they were.
    """
    commit = read_commit(directory)
    pending = Pending(directory)
    if pending.number > commit.number:
        raise ArtifactError(
            f"The encoding of {directory} was stopped in the middle. Finish it with `{MAKE}`, "
            "then compact."
        )
    remove_stale(directory, commit)
    table = check_files(directory, commit)
    is_kept = np.isin(table.numbers, store.numbers(), assume_unique=True)
    after = commit if is_kept.all() else _rewrite(directory, commit, table, is_kept)
    remove_stale(directory, after)
    pending.discard()
    return CompactSummary(
        kept=after.paragraphs,
        dropped=commit.paragraphs - after.paragraphs,
        bytes_before=commit.bytes,
        bytes_after=after.bytes,
    )


def _rewrite(directory: Path, commit: Commit, table: Table, is_kept: NDArray[np.bool_]) -> Commit:
    """Make a commit with files of its own that hold only the kept paragraphs."""
    number = commit.number + 1
    counts = table.counts[table.counts > 0]
    rows = np.repeat(is_kept, counts)
    new = Commit(commit.layout, number, generation=number)
    _copy(directory / commit.rows_file, directory / new.rows_file, commit.layout.row_bytes, rows)
    if width := commit.layout.scale_bytes:
        _copy(directory / commit.scales_file, directory / new.scales_file, width, rows)
    table = make_table(table.numbers[is_kept], counts[is_kept])
    return write_commit(directory, commit.layout, number=number, generation=number, table=table)


def _copy(source: Path, target: Path, width: int, is_kept: NDArray[np.bool_]) -> None:
    """Copy those rows of a file, of `width` bytes each, that are kept: (R,)"""
    with source.open("rb") as old, written_aside(target) as new:
        for first in range(0, len(is_kept), CHUNK):
            some = is_kept[first : first + CHUNK]
            rows = np.frombuffer(old.read(len(some) * width), dtype=np.uint8)
            new.write(rows.reshape(len(some), width)[some].data)
