"""Files of word vectors → the rows a vocabulary needs (checklist 8).

Three layouts, told apart by what is in them, never by a name: GloVe text (`word 0.1 0.2 …`),
word2vec text (the same below a header `count dim`), and word2vec binary (that header, then word,
space, little-endian float32). Unpacking is the stream's business: `corpus.files.open_file`
gives the bytes of .gz, .xz, .bz2 and .zst files, and knows when one is cut off.
"""

import codecs
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from muppet.artifact import Manifest, new_artifact, read_manifest
from muppet.errors import ArtifactError, ConfigError

KIND = "word vectors"
FORMAT = 1
REMAKE = "muppet train encoder"
UNKNOWN = -1
BLOCK = 1 << 20  # more than a line of any such file, and than a word

Wanted = Callable[[str], bool] | Collection[str]


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """Distinct words and their vectors; every other word has the zero vector."""

    words: tuple[str, ...]
    matrix: NDArray[np.float32]  # (words, dim)
    _row_of: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        row_of = {word: row for row, word in enumerate(self.words)}
        object.__setattr__(self, "_row_of", row_of)

    def row(self, word: str) -> int:
        """The row of the word as it is written, else of its lower case, else -1 (UNKNOWN)."""
        row = self._row_of.get(word, UNKNOWN)
        return row if row != UNKNOWN else self._row_of.get(word.lower(), UNKNOWN)

    def rows(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Words -> (words,), -1 where a word is unknown: no index into `matrix` as it stands."""
        return np.fromiter(map(self.row, words), dtype=np.int64)

    def look_up(self, words: Iterable[str]) -> NDArray[np.float32]:
        """Words -> (words, dim), zero where a word is unknown."""
        rows = self.rows(words)
        found = np.zeros((len(rows), self.matrix.shape[1]), dtype=np.float32)
        known = rows != UNKNOWN
        found[known] = self.matrix[rows[known]]
        return found

    def save(self, directory: Path) -> None:
        """Write an artifact, in the place of what stood there."""
        words, dim = self.matrix.shape
        manifest = Manifest(KIND, FORMAT, config={"words": words, "dim": dim})
        with new_artifact(directory, manifest) as partial:
            np.save(partial / "matrix.npy", self.matrix)
            (partial / "words.txt").write_bytes("".join(f"{w}\n" for w in self.words).encode())

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Open an artifact; the matrix stays on the disk and is mapped into memory."""
        read_manifest(directory, KIND, FORMAT, remake=REMAKE)
        try:
            matrix = np.load(directory / "matrix.npy", mmap_mode="r", allow_pickle=False)
            words = (directory / "words.txt").read_bytes().decode().split("\n")[:-1]
        except (OSError, EOFError, ValueError) as error:
            raise ArtifactError(_damaged(directory, str(error))) from error
        if matrix.ndim != 2 or len(matrix) != len(words):
            raise ArtifactError(_damaged(directory, f"{len(words)} words, {len(matrix)} vectors"))
        return cls(tuple(words), matrix)


def pruned(vectors: WordVectors, wanted: Wanted) -> WordVectors:
    """Only the wanted words, in their old order; see `read_vectors` for what that means."""
    is_wanted = _predicate(wanted)
    rows = [row for row, word in enumerate(vectors.words) if is_wanted(word)]
    return WordVectors(tuple(vectors.words[row] for row in rows), vectors.matrix[rows])


def read_vectors(stream: BinaryIO, wanted: Wanted, *, source: str) -> WordVectors:
    """The vectors of the wanted words, in the order of the file; of a repeated word, the first.

    A collection holds words as texts write them: their lower case is wanted too, so each is found
    as it would be in the whole file. A callable is asked about each word as the file writes it.
    Memory is that of the result. A word that is not UTF-8 (word2vec cuts long ones inside a
    character) gets a U+FFFD, so no text has it. Numbers of words not wanted are not looked at.
    """
    layout, records, header_lines, promised = _recognise(stream, source)
    is_wanted = _predicate(wanted)
    words: dict[str, None] = {}
    values = bytearray()
    count = 0
    for count, record in enumerate(records, 1):
        try:
            raw_word, raw_vector = layout.split(record)
            word = raw_word.decode(errors="replace")
            if word not in words and is_wanted(word):
                values += _finite(layout.vector(raw_vector)).tobytes()
                words[word] = None
        except _BrokenError as broken:
            raise ConfigError(
                f"{source}: {layout.unit} {header_lines + count} {broken}. "
                f"Mend it, or copy or download the file again."
            ) from None
    if promised is not None and count != promised:
        raise ConfigError(
            f"{source}: the header promises {promised} words, but {count} follow. "
            f"Copy or download the file again."
        )
    matrix = np.frombuffer(values, dtype=np.float32).reshape(-1, layout.dim)  # (words, dim)
    return WordVectors(tuple(words), matrix)


class _BrokenError(Exception):
    """What is wrong with a record; the reader adds where."""


class _Layout(Protocol):
    """How a record, one word's share of the file, is taken apart."""

    dim: int
    unit: str

    def split(self, record: bytes) -> tuple[bytes, bytes]:
        """The word, and its vector as the file writes it."""

    def vector(self, raw: bytes) -> NDArray[np.float32]:
        """(dim,)"""


class _Text:
    unit = "line"

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def split(self, record: bytes) -> tuple[bytes, bytes]:
        line = record.rstrip(b" \r\n")
        if line.count(b" ") == self.dim:
            word, _, vector = line.partition(b" ")
            return word, vector
        word, *numbers = line.rsplit(b" ", self.dim)  # GloVe 840B has words like ". . ."
        if len(numbers) < self.dim or _is_number(word.rpartition(b" ")[2]):
            raise _BrokenError(f"has {line.count(b' ')} numbers after its word, not {self.dim}")
        return word, b" ".join(numbers)

    def vector(self, raw: bytes) -> NDArray[np.float32]:
        try:  # str, not bytes: float() reads it faster
            return np.array(list(map(float, raw.decode("ascii").split(" "))), dtype=np.float32)
        except ValueError:
            wrong = next(text for text in raw.split(b" ") if not _is_number(text))
            shown = wrong[:40].decode(errors="replace")
            raise _BrokenError(f"has “{shown}” in the place of a number") from None


class _Binary:
    unit = "word"

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._size = 4 * dim

    def records(self, start: bytes, stream: BinaryIO) -> Iterator[bytes]:
        """The words with their vectors; a cut-off one last, for `split` to complain of."""
        block, at = start, 0
        while True:
            space = block.find(b" ", at)
            end = space + 1 + self._size
            if space >= 0 and end <= len(block):
                yield block[at:end]
                at = end
                continue
            more = stream.read(BLOCK) if space >= 0 or len(block) - at < BLOCK else b""
            if not more:
                break
            block, at = block[at:] + more, 0
        if block[at:].strip(b"\n"):
            yield block[at:]

    def split(self, record: bytes) -> tuple[bytes, bytes]:
        word, _, vector = record.lstrip(b"\n").partition(b" ")  # some writers end each by a newline
        if b"\n" in word or len(vector) != self._size:
            raise _BrokenError(f"is not a word, a space and {self.dim} numbers of 4 bytes")
        return word, vector

    def vector(self, raw: bytes) -> NDArray[np.float32]:
        return np.frombuffer(raw, dtype="<f4").astype(np.float32)


class _Recognised(NamedTuple):
    layout: _Layout
    records: Iterator[bytes]
    header_lines: int
    promised: int | None  # words, by the header


def _recognise(stream: BinaryIO, source: str) -> _Recognised:
    first = stream.readline(BLOCK)
    fields = first.rstrip(b" \r\n").split(b" ")
    if len(fields) == 2 and fields[0].isdigit() and fields[1].isdigit() and int(fields[1]) > 0:
        promised, dim = map(int, fields)
        lines: list[bytes] = []
        while sum(map(len, lines)) < 4 * dim and (line := stream.readline(BLOCK)):
            lines.append(line)
        start = b"".join(lines)
        if _is_text(start):
            return _Recognised(_Text(dim), chain(lines, stream), 1, promised)
        binary = _Binary(dim)
        return _Recognised(binary, binary.records(start, stream), 0, promised)
    if len(fields) < 2 or not all(map(_is_number, fields[1:])):
        raise ConfigError(
            f"{source} does not begin like a file of word vectors: with a word and its numbers "
            f"(GloVe), or with the header `count dim` (word2vec, text or binary). "
            f"If it is an archive, unpack it first."
        )
    return _Recognised(_Text(len(fields) - 1), chain([first], stream), 0, None)


def _is_text(start: bytes) -> bool:
    try:  # incremental, because a character may go on behind the start
        text = codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return not any(character < " " and character not in "\t\r\n" for character in text)


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _finite(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    if not np.isfinite(vector).all():
        raise _BrokenError("has a number that is not finite")
    return vector


def _predicate(wanted: Wanted) -> Callable[[str], bool]:
    if callable(wanted):
        return wanted
    return (set(wanted) | {word.lower() for word in wanted}).__contains__


def _damaged(directory: Path, why: str) -> str:
    return f"{directory} is damaged ({why}). Build it again with `{REMAKE}`."
