"""Paragraphs in SQLite: get by number or id, by title, iterate, count.

A paragraph's *number* is given once and never again, so the lexical index and the vectors can
name paragraphs by it. Readers never wait for a writer (WAL).
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from muppet.domain import Paragraph
from muppet.errors import ArtifactError

SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    source TEXT NOT NULL,
    fingerprint BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS paragraphs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL,
    position INTEGER NOT NULL,
    start INTEGER NOT NULL,
    text TEXT NOT NULL,
    ends BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS paragraphs_by_document ON paragraphs (document, position);
"""
"""`ends` are the ends of the sentences in `text`, as little-endian uint32."""

_MAIN_SCHEMA = """
CREATE INDEX IF NOT EXISTS documents_by_title ON documents (title);
CREATE TABLE IF NOT EXISTS changes (number INTEGER PRIMARY KEY, added INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS revision (number INTEGER NOT NULL);
INSERT INTO revision SELECT 0 WHERE NOT EXISTS (SELECT * FROM revision);
"""
"""`changes` are the paragraphs the lexical index has yet to add (1) or forget (0)."""

_COLUMNS = """
SELECT p.number, d.id, d.title, d.source, p.position, p.start, p.text, p.ends
FROM paragraphs p JOIN documents d ON d.number = p.document
"""

Row = tuple[int, str, str, str, int, int, str, bytes]


class UnwritableError(ArtifactError):
    """A store whose disk is full or read-only: SQLite then cannot make its helper files."""


def connect(path: Path, *, cache_megabytes: int = 16) -> sqlite3.Connection:
    """A connection that waits for a busy file, and loses nothing it has committed."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA cache_size = -{cache_megabytes * 1024}")
    except sqlite3.OperationalError as error:
        connection.close()
        raise UnwritableError(
            f"{path} cannot be opened ({error}): its disk is full, or not to be written."
        ) from error
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _damaged(path, error) from error
    connection.text_factory = _decoder(path)
    return connection


def _connect_to_unwritable(path: Path) -> sqlite3.Connection:
    """A connection for reading alone that makes no file; nobody can be writing there."""
    uri = f"{path.resolve().as_uri()}?immutable=1"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.text_factory = _decoder(path)
    return connection


def _decoder(path: Path) -> Callable[[bytes], str]:
    def decode(text: bytes) -> str:
        try:
            return text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _damaged(path, error) from error

    return decode


def _damaged(path: Path, error: Exception) -> ArtifactError:
    return ArtifactError(
        f"{path} is damaged ({error}). Restore it from a copy, or delete its directory and "
        "index the documents again."
    )


def create_store(path: Path) -> None:
    """An empty store."""
    connection = connect(path)
    connection.executescript(SCHEMA + _MAIN_SCHEMA)
    connection.close()


def sentence_ends(sentences: Sequence[str]) -> bytes:
    return np.fromiter(accumulate(map(len, sentences)), dtype="<u4").tobytes()


class Store:
    """The read side of a knowledge base's paragraphs."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise ArtifactError(
                f"{path} is missing. Delete {path.parent}, and index the documents again."
            )
        self.is_read_only = False
        try:
            self.connection = connect(path)
        except UnwritableError:
            if _has_unmerged(path):
                raise
            self.connection = _connect_to_unwritable(path)
            self.is_read_only = True
        try:
            self.connection.execute(
                "SELECT * FROM changes, revision, paragraphs, documents LIMIT 0"
            )
        except sqlite3.DatabaseError as error:
            self.connection.close()
            raise _damaged(path, error) from error

    def close(self) -> None:
        self.connection.close()

    @property
    def revision(self) -> int:
        """Grows with every change of the paragraphs."""
        return self._number("SELECT number FROM revision")

    def count_paragraphs(self) -> int:
        return self._number("SELECT count(*) FROM paragraphs")

    def is_empty(self) -> bool:
        """Whether there is no paragraph; to count half a million of them takes half a second."""
        return not self._number("SELECT EXISTS (SELECT 1 FROM paragraphs)")

    def count_documents(self) -> int:
        return self._number("SELECT count(*) FROM documents")

    def count_changes(self) -> int:
        """How many paragraphs the lexical index has still to catch up with."""
        return self._number("SELECT count(*) FROM changes")

    def has_changes(self) -> bool:
        """Whether there are any; somebody who writes may have left half a million."""
        return bool(self._number("SELECT EXISTS (SELECT 1 FROM changes)"))

    def document_ids(self) -> Iterator[str]:
        """Of all documents, in the order in which they came."""
        for (id_,) in self.connection.execute("SELECT id FROM documents ORDER BY number"):
            yield id_

    def sources(self) -> list[tuple[str, int]]:
        """Each source and how many documents came from it."""
        return self.connection.execute(
            "SELECT source, count(*) FROM documents GROUP BY source ORDER BY source"
        ).fetchall()

    def paragraphs(self, numbers: Sequence[int]) -> dict[int, Paragraph]:
        """The paragraphs of these numbers; one that has been removed is left out."""
        found: dict[int, Paragraph] = {}
        for first in range(0, len(numbers), 500):
            some = numbers[first : first + 500]
            marks = ",".join("?" * len(some))
            rows = self.connection.execute(f"{_COLUMNS} WHERE p.number IN ({marks})", some)
            found |= {row[0]: _paragraph(row) for row in rows}
        return found

    def titles(self, numbers: Sequence[int]) -> dict[int, str]:
        """The titles of the paragraphs of these numbers; one that has been removed is left out."""
        rows = self.connection.execute(
            "SELECT p.number, d.title FROM paragraphs p JOIN documents d ON d.number = p.document "
            "WHERE p.number IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        )
        return dict(rows)

    def numbers(self) -> NDArray[np.int64]:
        """The numbers of all paragraphs, ascending."""
        rows = self.connection.execute("SELECT number FROM paragraphs ORDER BY number")
        return np.fromiter((number for (number,) in rows), dtype=np.int64)

    def existing(self, numbers: Sequence[int]) -> set[int]:
        """Those of the numbers that have not been removed."""
        asked = json.dumps(list(numbers))
        rows = self.connection.execute(
            "SELECT number FROM paragraphs WHERE number IN (SELECT value FROM json_each(?))",
            (asked,),
        )
        return {number for (number,) in rows}

    def paragraph(self, id_: str) -> Paragraph | None:
        """The paragraph with this id: a document's id, or `id#n` for its n-th paragraph."""
        if any(0xD800 <= ord(character) <= 0xDFFF for character in id_):
            return None  # half a surrogate pair is no text, and SQLite takes none
        document, _, part = id_.rpartition("#")
        is_number = part.isdecimal() and len(part) < 10
        candidates = [(id_, 0)] + ([(document, int(part) - 1)] if is_number else [])
        for candidate in candidates:
            row = self.connection.execute(
                f"{_COLUMNS} WHERE d.id = ? AND p.position = ?", candidate
            ).fetchone()
            if row:
                return _paragraph(row)
        return None

    def by_title(self, title: str) -> dict[int, Paragraph]:
        """All paragraphs of the documents with exactly this title."""
        rows = self.connection.execute(f"{_COLUMNS} WHERE d.title = ? ORDER BY p.number", (title,))
        return {row[0]: _paragraph(row) for row in rows}

    def texts(self) -> Iterator[tuple[int, str, str]]:
        """(number, title, text) of every paragraph, in the order of the numbers."""
        yield from self.connection.cursor().execute(
            "SELECT p.number, d.title, p.text FROM paragraphs p "
            "JOIN documents d ON d.number = p.document ORDER BY p.number"
        )

    def removed_changes(self) -> list[int]:
        """The paragraphs that the lexical index has still to forget."""
        rows = self.connection.execute("SELECT number FROM changes WHERE added = 0")
        return [number for (number,) in rows]

    def added_changes(self, most: int) -> list[tuple[int, str, str]]:
        """(number, title, text) of the first paragraphs the lexical index has still to add."""
        return self.connection.execute(
            "SELECT p.number, d.title, p.text FROM changes c "
            "JOIN paragraphs p ON p.number = c.number JOIN documents d ON d.number = p.document "
            "WHERE c.added = 1 ORDER BY c.number LIMIT ?",
            (most,),
        ).fetchall()

    def settle_changes(self, up_to: int) -> None:
        """The lexical index has forgotten all it had to, and added all up to this number."""
        self.connection.execute("DELETE FROM changes WHERE added = 0 OR number <= ?", (up_to,))

    def mark_all_changed(self) -> None:
        """The lexical index has to learn everything anew."""
        self.connection.execute("DELETE FROM changes")
        self.connection.execute("INSERT INTO changes SELECT number, 1 FROM paragraphs")

    def _number(self, query: str) -> int:
        return int(self.connection.execute(query).fetchone()[0])


def _has_unmerged(path: Path) -> bool:
    """Whether a writer left something beside the file that only a writer can merge into it."""
    log = path.with_name(path.name + "-wal")
    return log.is_file() and log.stat().st_size > 0


def _paragraph(row: Row) -> Paragraph:
    _, document, title, source, position, start, text, ends = row
    cuts = [0, *np.frombuffer(ends, dtype="<u4").tolist()]
    return Paragraph(
        id=document if position == 0 else f"{document}#{position + 1}",
        title=title,
        sentences=tuple(text[a:b] for a, b in pairwise(cuts)),
        document=document,
        position=position,
        start=start,
        source=source,
    )
