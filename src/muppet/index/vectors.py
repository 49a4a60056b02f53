"""Sentence vectors on the disk, memory-mapped: some paragraphs in, their rows or scores out."""

import mmap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from muppet.artifact import require_made_from
from muppet.errors import ArtifactError
from muppet.index.layout import (
    MAKE,
    REMAKE,
    Commit,
    Layout,
    Table,
    check_files,
    read_commit,
)
from muppet.index.mips import best_products
from muppet.index.quantise import DTYPES, SCALE, Packed, inner_products, unpack

Numbers = Sequence[int] | NDArray[np.int64]
CHUNK = 65_536
"""Rows read at once by work that goes over all of them."""
MOST_MAPPED = 640 * 1024**2
"""Bytes of the rows' pages that may have come into our memory before they are let go."""


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """The rows of some paragraphs, those of the p-th from `starts[p]` on."""

    rows: NDArray[np.float32]  # (R, D)
    starts: NDArray[np.int64]  # (P,)


class Vectors:
    """The vectors as they were when this was opened, whatever a writer does meanwhile."""

    def __init__(self, directory: Path, made_from: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self._made_from = made_from or {}
        self.commit, self._table, self._files = _open_newest(directory)
        require_made_from(directory, self.commit.manifest, self._made_from, remake=REMAKE)
        dtype = DTYPES[self.layout.dtype]
        rows = np.frombuffer(self._files[self.commit.rows_file], dtype=dtype)
        self._rows = rows.reshape(self.commit.rows, self.layout.dim)
        scales = self._files.get(self.commit.scales_file, b"")
        self._scales = np.frombuffer(scales, dtype=SCALE)
        self._read = 0

    def newest(self) -> Self:
        """These, or, if a writer has published others since, those; where they cannot be read any
        more, these."""
        try:
            if read_commit(self.directory) == self.commit:
                return self
            return type(self)(self.directory, self._made_from)
        except ArtifactError:
            return self

    @property
    def layout(self) -> Layout:
        return self.commit.layout

    @property
    def numbers(self) -> NDArray[np.int64]:
        """All paragraphs with vectors, removed ones too until `compact`; ascending: (P,)"""
        return self._table.numbers

    @property
    def bytes(self) -> int:
        """What they take on the disk."""
        return self.commit.bytes

    def __len__(self) -> int:
        """How many paragraphs have vectors."""
        return self.commit.paragraphs

    def has(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Which of the paragraphs have vectors: (P,) -> (P,)"""
        _, counts = self._places(np.asarray(numbers, dtype=np.int64))
        return counts > 0

    def gather(self, numbers: Numbers) -> Gathered:
        """The rows of these paragraphs, in this order."""
        places, starts = self._rows_of(np.asarray(numbers, dtype=np.int64))
        return Gathered(self.rows(places), starts)

    def search(
        self, numbers: Numbers, queries: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The `best_sentences` of these paragraphs: (P,), (Q, D) -> (Q, P), (Q, P)"""
        places, starts = self._rows_of(np.asarray(numbers, dtype=np.int64))
        found = best_products(inner_products(queries, self._packed(places)), starts)
        self._let_go(len(places))
        return found

    def rows(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """Rows by where they stand in the file: (R,) -> (R, D)"""
        return unpack(self._packed(places))

    def owners(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of the paragraph that each row belongs to: (R,) -> (R,)"""
        return np.searchsorted(self._table.starts, places, side="right") - 1 + self._table.first

    def chunks(self, size: int = CHUNK) -> Iterator[tuple[NDArray[np.int64], Gathered]]:
        """All paragraphs in turn, about `size` rows at once: their numbers and their rows."""
        starts = self._table.starts
        begin, last = 0, len(starts) - 1
        while begin < last:
            end = int(np.searchsorted(starts, starts[begin] + size, side="right")) - 1
            end = max(end, begin + 1)
            rows = self._read_once(int(starts[begin]), int(starts[end]))
            cuts = starts[begin : end + 1] - starts[begin]
            filled = np.flatnonzero(np.diff(cuts))
            if len(filled):
                yield filled + begin + self._table.first, Gathered(rows, cuts[filled])
            begin = end

    def _packed(self, places: NDArray[np.int64]) -> Packed:
        scales = self._scales[places] if len(self._scales) else self._scales
        return Packed(self._rows.take(places, axis=0), scales)

    def _rows_of(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where all rows of these paragraphs stand, and where among them each begins: (R,), (P,)"""
        firsts, counts = self._places(numbers)
        if not counts.all():
            unknown = numbers[counts == 0]
            raise ArtifactError(
                f"{len(unknown):,} of {len(numbers):,} paragraphs have no vectors in "
                f"{self.directory}, such as number {unknown[0]}. Make them with `{MAKE}`."
            )
        starts = np.cumsum(counts) - counts
        return np.arange(counts.sum()) + np.repeat(firsts - starts, counts), starts

    def _places(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the rows of each paragraph begin, and how many they are, 0 if there are none."""
        starts = self._table.starts
        places = numbers - self._table.first
        is_inside = (places >= 0) & (places < len(starts) - 1)
        places = np.where(is_inside, places, 0)
        firsts = starts[places]
        counts = np.where(is_inside, starts[np.minimum(places + 1, len(starts) - 1)] - firsts, 0)
        return firsts, counts

    def _read_once(self, begin: int, end: int) -> NDArray[np.float32]:
        """Rows in one go, which then need not stay in memory."""
        self._advise("MADV_WILLNEED", begin, end)
        rows = unpack(Packed(self._rows[begin:end], self._scales[begin:end]))
        self._advise("MADV_DONTNEED", begin, end)
        return rows

    def _let_go(self, rows: int) -> None:
        """Count a page for each row that was read; too many of them go back to the system, which
        keeps them for whoever asks next. Files that never come to so much stay."""
        self._read += rows * mmap.PAGESIZE
        if min(self._read, self.commit.bytes) > MOST_MAPPED:
            self._advise("MADV_DONTNEED", 0, self.commit.rows)
            self._read = 0

    def _advise(self, advice: str, begin: int, end: int) -> None:
        mapped = self._files[self.commit.rows_file]
        if isinstance(mapped, mmap.mmap) and hasattr(mmap, advice):
            first = begin * self.layout.row_bytes // mmap.PAGESIZE * mmap.PAGESIZE
            mapped.madvise(getattr(mmap, advice), first, end * self.layout.row_bytes - first)


def _open_newest(directory: Path) -> tuple[Commit, Table, dict[str, mmap.mmap | bytes]]:
    """What counts now; a writer may remove a file of the commit we read of, so look again then."""
    commit = read_commit(directory)
    while True:
        try:
            table = check_files(directory, commit)
            files = {
                name: _mapped(directory / name, size)
                for name, size in commit.sizes.items()
                if name != commit.table_file
            }
        except (ArtifactError, FileNotFoundError):
            newer = read_commit(directory)
            if newer == commit:
                raise
            commit = newer
        else:
            return commit, table, files


def _mapped(path: Path, size: int) -> mmap.mmap | bytes:
    """The first `size` bytes of a file, read where they are asked for."""
    if not size:
        return b""  # which cannot be mapped
    with path.open("rb") as stream:
        mapped = mmap.mmap(stream.fileno(), size, access=mmap.ACCESS_READ)
    if hasattr(mmap, "MADV_RANDOM"):
        mapped.madvise(mmap.MADV_RANDOM)
    return mapped
