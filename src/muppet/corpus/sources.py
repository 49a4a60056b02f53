"""Files and folders, as a user names them → a stream of Documents with a known length."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from muppet.corpus.benchmarks import has_contexts, read_contexts
from muppet.corpus.files import (
    DECOMPRESSORS,
    STDIN,
    Stream,
    UnreadableError,
    inner_suffix,
    open_file,
)
from muppet.corpus.prose import PROSE, read_prose
from muppet.corpus.rows import LINE_SUFFIXES, Value, json_values, read_rows, read_table
from muppet.corpus.wikipedia import is_dump_name, is_dump_page, read_dump, read_pages
from muppet.domain import Broken, Document
from muppet.errors import CorpusError

Found = Iterator[Document | Broken]

_HIDDEN = (".", "~$")  # the latter: what Word leaves beside an open file


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file to read, what its document is called if it holds only one, and its size on disk."""

    path: Path
    name: str
    size: int


class Sources:
    """The documents of files and folders, in the order given, folders in the order of names.

    A file that cannot be read comes as Broken, like a row, and reading goes on with the next.
    `skipped` are the files in the folders whose kind is not read.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.skipped: list[Path] = []
        self._unlisted: list[Broken] = []
        self._entries = [entry for path in paths for entry in self._entries_of(path)]
        self.total_bytes = sum(entry.size for entry in self._entries)
        self._finished_bytes = 0
        self._stream: Stream | None = None

    @property
    def position(self) -> int:
        """How many of the `total_bytes` are read."""
        return self._finished_bytes + (0 if self._stream is None else self._stream.position)

    def __iter__(self) -> Found:
        self._finished_bytes = 0
        yield from self._unlisted
        for entry in self._entries:
            yield from self._read(entry)
            self._stream = None
            self._finished_bytes += entry.size

    def _read(self, entry: _Entry) -> Found:
        source, place = _source(entry.path), 0
        try:
            with open_file(entry.path) as stream:
                self._stream = stream
                for found in _documents(stream, entry):
                    place = found.place
                    yield found
        except UnreadableError as error:
            yield Broken(source, error.place or place + 1, error.reason)

    def _entries_of(self, path: Path) -> list[_Entry]:
        if path == STDIN:
            return [_Entry(path, path.name, 0)]
        if path.is_dir():
            return self._entries_in(path)
        if not path.exists():
            raise CorpusError(f"{path} does not exist. Name a file, a folder, or - for stdin.")
        if not _is_supported(path):
            raise CorpusError(f"{path} is of a kind that is not read. {supported()}")
        return [_Entry(path, _name(path, path.parent), path.stat().st_size)]

    def _entries_in(self, folder: Path) -> list[_Entry]:
        entries, unlisted = [], len(self._unlisted)
        for path in self._walk(folder):
            if path.is_file() and _is_supported(path):
                entries.append(_Entry(path, _name(path, folder), path.stat().st_size))
            else:
                self.skipped.append(path)
        if not entries and len(self._unlisted) == unlisted:
            raise CorpusError(f"{folder} has no file that can be read. {supported()}")
        return entries

    def _walk(self, folder: Path) -> Iterator[Path]:
        """All files below a folder, sorted; not hidden ones, behind links, or of a knowledge
        base. A folder that cannot be looked into is broken like a file that cannot be read."""
        try:
            children = sorted(folder.iterdir())
        except OSError as error:
            self._cannot_look(folder, error)
            return
        for path in children:
            try:
                if not _is_passed_over(path):
                    yield from self._walk(path) if _is_folder(path) else [path]
            except OSError as error:
                self._cannot_look(path, error)

    def _cannot_look(self, path: Path, error: OSError) -> None:
        reason = f"cannot be looked into: {error.strerror}"
        self._unlisted.append(Broken(_source(path), 1, reason))


def supported() -> str:
    """A sentence that lists what can be read."""
    suffixes = " ".join(sorted({*PROSE, *_READERS}))
    return (
        f"Supported are {suffixes}, and the files wiki_00, wiki_01, … of a Wikipedia dump, "
        f"each also with {' '.join(sorted(DECOMPRESSORS))}."
    )


def _is_passed_over(path: Path) -> bool:
    if path.name.startswith(_HIDDEN):
        return True
    return path.is_dir() and os.access(path, os.X_OK) and (path / "corpus.sqlite").exists()


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_supported(path: Path) -> bool:
    suffix = inner_suffix(path)
    return suffix in PROSE or suffix in _READERS or is_dump_name(path)


def _source(path: Path) -> str:
    """Where a document came from, so that it can be found from any directory."""
    return str(path) if path == STDIN else str(path.resolve())


def _name(path: Path, folder: Path) -> str:
    """The id of a file's document: its path from the folder on, with the folder's own name.

    So it is the same from wherever the command is run, and two folders may both have a README.
    """
    return (Path(folder.resolve().name) / path.relative_to(folder)).as_posix()


def _documents(stream: Stream, entry: _Entry) -> Found:
    source = _source(entry.path)
    suffix = inner_suffix(entry.path)
    if not stream.peek(1):
        return iter([Broken(source, 1, "is empty")])
    if suffix in PROSE:
        return iter([read_prose(stream.read(), Path(source), entry.name)])
    if is_dump_name(entry.path):
        return read_dump(stream, source)
    return _READERS.get(suffix, _read_json)(stream, source)


def _read_json(stream: Stream, source: str) -> Found:
    """Documents of a JSON file, whose first good value tells what it holds."""
    values = json_values(stream, source)
    first: list[Value] = []
    for value in values:
        first.append(value)
        if not isinstance(value[1], Broken):
            break
    sample = first[-1][1] if first else None
    if has_contexts(sample):
        read: Callable[[Iterator[Value], str], Found] = read_contexts
    elif is_dump_page(sample):
        read = read_pages
    else:
        read = read_rows
    return read(chain(first, values), source)


_READERS: dict[str, Callable[[Stream, str], Found]] = {
    ".csv": partial(read_table, delimiter=","),
    ".tsv": partial(read_table, delimiter="\t"),
    **dict.fromkeys((".json", *LINE_SUFFIXES), _read_json),
}
