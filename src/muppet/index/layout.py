"""What stands in a directory of sentence vectors, and how it changes: in one step or not at all.

    DIR/manifest.json     what a row is, and the commit: which files count, and how far
    DIR/rows-G.bin        the rows, flat and in the order of the paragraphs' numbers
    DIR/scales-G.bin      for int8: the scale of each row
    DIR/table-N.bin       where each paragraph's rows begin
    DIR/whole-G-R.faiss   the search over everything, if somebody asked for it (index/whole.py)
    DIR/pending/          blocks of a run under way, or stopped; else empty (index/pending.py)

The manifest is replaced last, and with it commit N is made. G is the commit that began the file
of rows. That file only grows, so a reader goes on with the rows it has mapped; all else is a new
file, and the old one is removed when nobody can ask for it any more.
"""

import re
import zlib
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muppet.artifact import ASIDE, MANIFEST, Manifest, flush_directory, read_manifest, write_json
from muppet.errors import ArtifactError, ConfigError
from muppet.index.disk import written_aside
from muppet.index.quantise import DTYPES, SCALE

KIND = "sentence vectors"
FORMAT = 1
MAKE = "muppet encode KB"
REMAKE = "muppet encode KB --again"
PENDING = "pending"
GRANULARITIES = ("sentence", "paragraph")
_OURS = re.compile(
    r"(manifest\.json|(rows|scales|table)-\d+\.bin|whole-\d+-\d+\.faiss)"
    rf"({re.escape(ASIDE)}|\.partial)?"  # the latter is what version 0.5 called it
)


@dataclass(frozen=True, slots=True)
class Layout:
    """What a row is: its type and length, what it stands for, and the encoder that made it."""

    dtype: str
    dim: int
    granularity: str
    encoder: str

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise ConfigError(f"Vectors are stored as {_either(*DTYPES)}, not {self.dtype!r}.")
        if self.granularity not in GRANULARITIES:
            known = _either(*GRANULARITIES)
            raise ConfigError(f"A vector stands for a {known}, not for a {self.granularity!r}.")

    @property
    def row_bytes(self) -> int:
        return self.dim * DTYPES[self.dtype].itemsize

    @property
    def scale_bytes(self) -> int:
        """The bytes of a row's scale, 0 where it has none."""
        return SCALE.itemsize if self.dtype == "int8" else 0


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The rows of number `first + i` are `starts[i] : starts[i + 1]`; none: no such paragraph."""

    first: int
    starts: NDArray[np.int64]  # (numbers + 1,)

    @property
    def end(self) -> int:
        """The number after the last."""
        return self.first + len(self.starts) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows each number has: (numbers,)"""
        return np.diff(self.starts)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The paragraphs that are there, ascending: (P,)"""
        return np.flatnonzero(self.counts) + self.first


EMPTY = Table(0, np.zeros(1, dtype="<i8"))


def make_table(numbers: NDArray[np.int64], counts: NDArray[np.int64]) -> Table:
    """Ascending numbers and how many rows each has -> their table"""
    if not len(numbers):
        return EMPTY
    first = int(numbers[0])
    ends = np.zeros(int(numbers[-1]) - first + 2, dtype="<i8")
    ends[numbers - first + 1] = counts
    return Table(first, np.cumsum(ends, out=ends))


@dataclass(frozen=True, slots=True)
class Commit:
    """What counts in a directory; the first commit is number 1."""

    layout: Layout
    number: int
    generation: int
    first: int = 0
    numbers: int = 0
    paragraphs: int = 0
    rows: int = 0
    checksum: int = 0

    @property
    def is_made(self) -> bool:
        """Whether it stands on the disk, and is not an empty one whose files are yet to begin."""
        return self.generation <= self.number

    @property
    def manifest(self) -> Manifest:
        config = asdict(self)
        layout = config.pop("layout")
        encoder = layout.pop("encoder")
        return Manifest(KIND, FORMAT, {**layout, "commit": config}, {"encoder": encoder})

    @property
    def rows_file(self) -> str:
        return f"rows-{self.generation}.bin"

    @property
    def scales_file(self) -> str:
        return f"scales-{self.generation}.bin"

    @property
    def table_file(self) -> str:
        return f"table-{self.number}.bin"

    @property
    def whole_file(self) -> str:
        """These rows and no others, so it needs no checksum."""
        return f"whole-{self.generation}-{self.rows}.faiss"

    @property
    def sizes(self) -> dict[str, int]:
        """The files it needs, and how many bytes of them count."""
        sizes = {
            self.rows_file: self.rows * self.layout.row_bytes,
            self.table_file: (self.numbers + 1) * EMPTY.starts.itemsize,
        }
        if self.layout.scale_bytes:
            sizes[self.scales_file] = self.rows * self.layout.scale_bytes
        return sizes

    @property
    def bytes(self) -> int:
        return sum(self.sizes.values())


def read_commit(directory: Path) -> Commit:
    """What counts in the directory now."""
    if not (directory / MANIFEST).is_file():
        raise ArtifactError(f"There are no vectors in {directory} yet. Make them with `{MAKE}`.")
    holds = {"dtype": str, "dim": int, "granularity": str, "commit": dict}
    manifest = read_manifest(directory, KIND, FORMAT, remake=REMAKE, holds=holds)
    config = dict(manifest.config)
    try:
        commit = config.pop("commit")
        _require_counts(config["dim"], *commit.values())
        return Commit(Layout(encoder=manifest.made_from["encoder"], **config), **commit)
    except (KeyError, TypeError, ConfigError) as error:
        raise damaged(directory / MANIFEST, str(error)) from error


def _require_counts(*numbers: object) -> None:
    if not all(type(one) is int and 0 <= one < 2**63 for one in numbers):
        raise TypeError("numbers are counts")


def check_files(directory: Path, commit: Commit) -> Table:
    """The table of a commit whose files are all there, and long enough."""
    for name, size in commit.sizes.items():
        path = directory / name
        if not path.is_file():
            raise damaged(path, "it is missing")
        if path.stat().st_size < size:
            raise damaged(path, f"{path.stat().st_size:,} bytes of {size:,}")
    path = directory / commit.table_file
    starts = np.fromfile(path, dtype=EMPTY.starts.dtype)
    if len(starts) != commit.numbers + 1 or zlib.crc32(starts.data) != commit.checksum:
        raise damaged(path, "it does not hold what was written")
    return Table(commit.first, starts)


def write_commit(
    directory: Path, layout: Layout, *, number: int, generation: int, table: Table
) -> Commit:
    """Make what has been written count: from here on readers see it."""
    commit = Commit(
        layout,
        number,
        generation,
        first=table.first,
        numbers=len(table.starts) - 1,
        paragraphs=len(table.numbers),
        rows=int(table.starts[-1]),
        checksum=zlib.crc32(table.starts.data),
    )
    with written_aside(directory / commit.table_file) as stream:
        stream.write(table.starts.data)
    write_json(directory / MANIFEST, asdict(commit.manifest))
    flush_directory(directory)
    return commit


def remove_stale(directory: Path, commit: Commit | None) -> None:
    """Remove the files that do not count, which another commit or a stopped run left behind."""
    kept = {MANIFEST, commit.whole_file, *commit.sizes} if commit else {MANIFEST}
    for path in directory.iterdir():
        if _OURS.fullmatch(path.name) and path.name not in kept:
            with suppress(PermissionError):  # Windows keeps a file that somebody has mapped
                path.unlink(missing_ok=True)


def require_ours(directory: Path) -> None:
    """Refuse to write into a directory where something else stands."""
    for path in directory.iterdir():
        if path.name != PENDING and not _OURS.fullmatch(path.name):
            raise ArtifactError(
                f"{directory} holds {path.name}, so it is no place for vectors. Choose another."
            )


def damaged(path: Path, how: str) -> ArtifactError:
    return ArtifactError(f"{path} is damaged ({how}). Build it again: `{REMAKE}`.")


def _either(*words: str) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
