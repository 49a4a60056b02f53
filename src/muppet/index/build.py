"""Paragraphs → vectors on the disk: only what is new, resumable, and all or nothing.

Stopped at any moment, by Ctrl-C, kill -9 or a full disk, the vectors are as they were before,
and the same call goes on where it stopped; it ends byte for byte like an undisturbed one. One
process writes at a time: the caller holds a lock. Readers never wait.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from muppet.artifact import MANIFEST
from muppet.domain import Paragraph, Progress, silent
from muppet.errors import ArtifactError
from muppet.index.batches import Encode, Workers
from muppet.index.disk import flush
from muppet.index.layout import (
    EMPTY,
    REMAKE,
    Commit,
    Layout,
    Table,
    check_files,
    make_table,
    read_commit,
    remove_stale,
    require_ours,
    write_commit,
)
from muppet.index.pending import Pending

BLOCK = 1_024
"""The numbers of paragraphs in a block, which is the most that a stopped run loses."""
BATCH = 32
"""Paragraphs encoded at once."""

Blocks = Mapping[int, NDArray[np.int64]]
"""Where a block stands among all, and the paragraphs of it that are to be encoded."""


class Paragraphs(Protocol):
    """Where the paragraphs live; a new one has a greater number than any before it."""

    def numbers(self) -> NDArray[np.int64]: ...

    def paragraphs(self, numbers: Sequence[int]) -> Mapping[int, Paragraph]: ...


@dataclass(frozen=True, slots=True)
class EncodeSummary:
    """What one run did, in paragraphs; `removed` ones wait for `compact`. `rows` are there now."""

    encoded: int
    unchanged: int
    removed: int
    rows: int


def encode_paragraphs(
    directory: Path,
    store: Paragraphs,
    encode: Encode,
    *,
    dtype: str,
    dim: int,
    granularity: str,
    encoder_checksum: str,
    again: bool = False,
    threads: int = 2,
    block: int = BLOCK,
    batch: int = BATCH,
    progress: Progress = silent,
) -> EncodeSummary:
    """Bring the vectors in step with the paragraphs: encode those that have none yet.

    `again` builds all of them anew, with another encoder or another type of row if need be; the
    vectors that were there answer until the new ones are complete.
    """
    layout = Layout(dtype, dim, granularity, encoder_checksum)
    directory.mkdir(parents=True, exist_ok=True)
    require_ours(directory)
    pending = Pending(directory)
    commit = _start(directory, layout, again and not _is_done(directory, layout, block))
    table = check_files(directory, commit) if commit.is_made else EMPTY
    wanted = store.numbers()
    missing = np.setdiff1d(wanted, table.numbers, assume_unique=True)
    _require_newer(directory, missing, table)
    if len(missing) or not commit.is_made:
        pending.begin(replace(commit, number=commit.number + 1), block)
        blocks = _blocks(missing, block)
        with Workers(encode, threads, batch) as workers:
            _encode_blocks(blocks, pending, store, workers, layout, progress)
        commit = _publish(directory, commit, table, pending, list(blocks))
    remove_stale(directory, commit)
    pending.discard()
    return EncodeSummary(
        encoded=len(missing),
        unchanged=len(wanted) - len(missing),
        removed=commit.paragraphs - len(wanted),
        rows=commit.rows,
    )


def _is_done(directory: Path, layout: Layout, block: int) -> bool:
    """Whether a run that built all anew was stopped when only its blocks were left to remove."""
    try:
        base = read_commit(directory)
    except ArtifactError:
        return False
    is_anew = base.layout == layout and base.generation == base.number
    return is_anew and Pending(directory).is_meant_for(base, block)


def _start(directory: Path, layout: Layout, again: bool) -> Commit:
    """What a run adds to: the commit that is there, or an empty one yet to be made."""
    try:
        base = read_commit(directory)
    except ArtifactError:
        if not again and (directory / MANIFEST).exists():
            raise
        remove_stale(directory, None)
        return Commit(layout, number=0, generation=1)
    remove_stale(directory, base)
    if again:
        return Commit(layout, number=base.number, generation=base.number + 1)
    if base.layout != layout:
        raise ArtifactError(
            f"The vectors in {directory} were made by another encoder, or are of another type or "
            f"granularity. Build them again as you want them with `{REMAKE}` and the same options."
        )
    return base


def _require_newer(directory: Path, missing: NDArray[np.int64], table: Table) -> None:
    """Rows stand in the order of the numbers, so those to be added must be the greatest."""
    if len(missing) and missing[0] < table.end:
        raise ArtifactError(
            f"The vectors in {directory} were made from other paragraphs: number {missing[0]} is "
            f"not among them, yet greater ones are. Build them again with `{REMAKE}`."
        )


def _blocks(numbers: NDArray[np.int64], block: int) -> Blocks:
    """Ascending numbers, by the block they belong to."""
    places, firsts = np.unique(numbers // block, return_index=True)
    parts = np.split(numbers, firsts[1:]) if len(places) else []
    return dict(zip(places.tolist(), parts, strict=True))


def _encode_blocks(
    blocks: Blocks,
    pending: Pending,
    store: Paragraphs,
    workers: Workers,
    layout: Layout,
    progress: Progress,
) -> None:
    """Put aside every block that is not there yet."""
    unfinished = {place: some for place, some in blocks.items() if not pending.has(place, some)}
    report = _counter(_count(blocks) - _count(unfinished), _count(blocks), progress)
    report(0)
    for place, numbers in unfinished.items():
        found = store.paragraphs(numbers.tolist())
        paragraphs = [found[number] for number in numbers.tolist()]
        pending.write(place, numbers, workers.encode(paragraphs, report), layout)


def _count(blocks: Blocks) -> int:
    return sum(map(len, blocks.values()))


def _counter(done: int, total: int, progress: Progress) -> Callable[[int], None]:
    """A function that is told how many paragraphs more are done."""

    def report(more: int) -> None:
        nonlocal done
        done += more
        progress("encoding", done, total)

    return report


def _publish(
    directory: Path, commit: Commit, table: Table, pending: Pending, places: Sequence[int]
) -> Commit:
    """Write the blocks behind the rows that count, then make them count."""
    for name, row_bytes, array in (
        (commit.rows_file, commit.layout.row_bytes, "rows"),
        (commit.scales_file, commit.layout.scale_bytes, "scales"),
    ):
        if row_bytes:
            blocks = (pending.read(place, array) for place in places)
            _append(directory / name, commit.rows * row_bytes, blocks)
    added = (pending.read(place, "numbers") for place in places)
    counts = (pending.read(place, "counts") for place in places)
    return write_commit(
        directory,
        commit.layout,
        number=commit.number + 1,
        generation=commit.generation,
        table=make_table(
            np.concatenate([table.numbers, *added]),
            np.concatenate([table.counts[table.counts > 0], *counts]),
        ),
    )


def _append(path: Path, size: int, parts: Iterable[NDArray[Any]]) -> None:
    """Cut a file to the bytes that count, and write the parts behind them."""
    with path.open("ab") as stream:
        stream.truncate(size)
        for part in parts:
            stream.write(part.data)
        flush(stream)
