"""Documents → a store, all or nothing: staged beside it, then published in one transaction.

A run that is stopped leaves the store as it was and its staging file behind; the same command
run again finds the staged documents there and goes on. The id names a document: a new id adds,
a known id with another content replaces, with the same content changes nothing. A document
without an id never replaces one of another source that is still there: it gets a number.
"""

import difflib
import hashlib
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from pathlib import Path

from muppet.config import CorpusConfig
from muppet.corpus.paragraphs import split_document
from muppet.corpus.store import SCHEMA, connect, sentence_ends
from muppet.domain import Broken, Document, Paragraph
from muppet.errors import CorpusError

_STAGING_SCHEMA = """
DROP TABLE IF EXISTS seen;
DROP TABLE IF EXISTS moved;
CREATE TABLE seen (
    id TEXT PRIMARY KEY, fingerprint BLOB NOT NULL, origin TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE moved (id TEXT PRIMARY KEY, source TEXT NOT NULL) WITHOUT ROWID;
"""
"""Both belong to one run. The staged documents of a stopped run stay for the next one."""

_FORGET = [  # documents :ids, and their paragraphs, which the lexical index has then to forget
    "INSERT OR REPLACE INTO {store}.changes SELECT p.number, 0 FROM {store}.paragraphs p "
    "JOIN {store}.documents d ON d.number = p.document WHERE d.id IN ({ids})",
    "DELETE FROM {store}.paragraphs WHERE document IN "
    "(SELECT number FROM {store}.documents WHERE id IN ({ids}))",
    "DELETE FROM {store}.documents WHERE id IN ({ids})",
]

_STALE = """
SELECT number FROM main.documents AS staged
WHERE NOT EXISTS (
    SELECT 1 FROM seen WHERE seen.id = staged.id AND seen.fingerprint = staged.fingerprint
) OR EXISTS (
    SELECT 1 FROM store.documents AS stored
    WHERE stored.id = staged.id AND stored.fingerprint = staged.fingerprint
)
"""
"""Left by a stopped run, and by now changed, gone from the sources, or stored already."""

_MOVE = """
UPDATE store.documents SET source = (SELECT source FROM moved WHERE moved.id = documents.id)
WHERE id IN (SELECT id FROM moved)
"""

_PUBLISH = [
    *(sql.format(store="store", ids="SELECT id FROM main.documents") for sql in _FORGET),
    "INSERT INTO store.documents (id, title, source, fingerprint) "
    "SELECT id, title, source, fingerprint FROM main.documents ORDER BY number",
    "INSERT INTO store.paragraphs (document, position, start, text, ends) "
    "SELECT d.number, p.position, p.start, p.text, p.ends FROM main.paragraphs p "
    "JOIN main.documents s ON s.number = p.document JOIN store.documents d ON d.id = s.id "
    "ORDER BY p.number",
    "INSERT INTO store.changes SELECT p.number, 1 FROM main.documents s "
    "JOIN store.documents d ON d.id = s.id JOIN store.paragraphs p ON p.document = d.number",
    "UPDATE store.revision SET number = number + 1",
]


class Staging:
    """The write side of a store, for one run; `counts` says what it will have done."""

    def __init__(self, store: Path, staging: Path, config: CorpusConfig) -> None:
        self._path = staging
        self._config = config
        self._db = connect(staging, cache_megabytes=64)
        self._db.executescript(SCHEMA + _STAGING_SCHEMA)
        self._db.execute("ATTACH ? AS store", (str(store),))
        (last,) = self._db.execute("SELECT coalesce(max(number), 0) FROM main.documents").fetchone()
        self._numbers = count(last + 1)
        self._numbered: defaultdict[str, set[bytes]] = defaultdict(set)
        self.counts: Counter[str] = Counter()
        self.displaced = ""  # the first whose id came again in another source, and where

    def add(self, documents: Sequence[Document]) -> list[Broken]:
        """Stage the new and the changed ones; give back those that cannot be stored."""
        self._seen: dict[str, tuple[bytes, str]] = {}
        self._documents: list[tuple[int, str, str, str, bytes]] = []
        self._paragraphs: list[tuple[int, int, int, str, bytes]] = []
        names = json.dumps([_name(document) for document in documents])
        self._known_seen = self._known("main.seen", "fingerprint, origin", names)
        self._known_stored = self._known("store.documents", "fingerprint, source", names)
        self._known_staged = self._known("main.documents", "fingerprint, number", names)
        with _transaction(self._db):
            problems = [(document, self._add_one(document)) for document in documents]
            rows = [(id_, *at) for id_, at in self._seen.items()]
            self._db.executemany("INSERT INTO seen VALUES (?, ?, ?)", rows)
            self._db.executemany(
                "INSERT INTO main.documents (number, id, title, source, fingerprint) "
                "VALUES (?, ?, ?, ?, ?)",
                self._documents,
            )
            self._db.executemany(
                "INSERT INTO main.paragraphs (document, position, start, text, ends) "
                "VALUES (?, ?, ?, ?, ?)",
                self._paragraphs,
            )
        return [Broken(document.source, document.place, why) for document, why in problems if why]

    def publish(self) -> None:
        """Make the staged documents of this run part of the store, in one transaction."""
        with _transaction(self._db):
            self._db.execute(f"DELETE FROM main.paragraphs WHERE document IN ({_STALE})")
            self._db.execute(f"DELETE FROM main.documents WHERE number IN ({_STALE})")
        with _transaction(self._db):
            self._db.execute(_MOVE)
            if self.counts.keys() & {"added", "replaced"}:
                for sql in _PUBLISH:
                    self._db.execute(sql)
        self.discard()

    def discard(self) -> None:
        """Forget what was staged."""
        self._db.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def close(self) -> None:
        """Leave what is staged for the next run."""
        self._db.close()

    def _known(self, table: str, columns: str, names: str) -> dict[str, tuple[bytes, object]]:
        rows = self._db.execute(
            f"SELECT id, {columns} FROM {table} WHERE id IN (SELECT value FROM json_each(?))",
            (names,),
        )
        return {id_: (fingerprint, other) for id_, fingerprint, other in rows}

    def _add_one(self, document: Document) -> str | None:
        """Stage one document where it has to be; what is wrong with it, if anything."""
        problem = _problem(document)
        if problem:
            return problem
        fingerprint = _fingerprint(document)
        name = _name(document)
        seen = self._seen.get(name) or self._known_seen.get(name)
        if seen and document.id is not None and seen[0] != fingerprint:
            return f"the id {name!r} stands at {seen[1]} too, with another text"
        if seen and seen[0] == fingerprint:
            self.counts["repeated"] += 1
            return None
        id_ = name
        if seen or self._belongs_to_another(name, document, fingerprint):
            numbered = self._numbered_id(name, document, fingerprint)
            if numbered is None:
                self.counts["repeated"] += 1
                return None
            id_ = numbered
        self._seen[id_] = (fingerprint, f"{document.source}:{document.place}")
        self._stage(document, id_, fingerprint)
        return None

    def _belongs_to_another(self, id_: str, document: Document, fingerprint: bytes) -> bool:
        """Whether a document of another source, which is still there, is stored by this name."""
        stored = self._known_stored.get(id_)
        return (
            document.id is None
            and stored is not None
            and stored[0] != fingerprint
            and stored[1] != document.source
            and _exists(str(stored[1]))
        )

    def _numbered_id(self, name: str, document: Document, fingerprint: bytes) -> str | None:
        """The id of one more document of a name, `name (2)` and so on; None for a repeated one.

        What has got a number in this run is remembered: a title may be that of every row.
        """
        numbered = self._numbered[name]
        if fingerprint in numbered:
            return None
        for number in count(len(numbered) + 2):
            id_ = f"{name} ({number})"
            asked = json.dumps([id_])
            if id_ in self._seen or self._known("main.seen", "fingerprint, origin", asked):
                continue  # another document has this for its own title or id
            self._known_stored |= self._known("store.documents", "fingerprint, source", asked)
            if not self._belongs_to_another(id_, document, fingerprint):
                break
        numbered.add(fingerprint)
        self._known_staged |= self._known("main.documents", "fingerprint, number", asked)
        return id_

    def _stage(self, document: Document, id_: str, fingerprint: bytes) -> None:
        stored = self._known_stored.get(id_)
        if stored and stored[0] == fingerprint:
            self.counts["unchanged"] += 1
            if stored[1] != document.source and not _exists(str(stored[1])):
                self.counts["moved"] += 1
                self._db.execute("INSERT INTO moved VALUES (?, ?)", (id_, document.source))
            return
        self.counts["replaced" if stored else "added"] += 1
        source = str(stored[1]) if stored else ""
        if source and source != document.source and _exists(source):
            self.counts["displaced"] += 1
            self.displaced = self.displaced or f"{id_!r} of {source}, by {document.source}"
        staged = self._known_staged.get(id_)
        if staged and staged[0] == fingerprint:  # by the run that was stopped
            self._db.execute(
                "UPDATE main.documents SET source = ? WHERE number = ? AND source <> ?",
                (document.source, staged[1], document.source),
            )
            return
        if staged:
            self._db.execute("DELETE FROM main.paragraphs WHERE document = ?", (staged[1],))
            self._db.execute("DELETE FROM main.documents WHERE number = ?", (staged[1],))
        self._insert(document, split_document(document, id_, self._config), id_, fingerprint)

    def _insert(
        self, document: Document, paragraphs: list[Paragraph], id_: str, fingerprint: bytes
    ) -> None:
        number = next(self._numbers)
        self._documents.append((number, id_, document.title, document.source, fingerprint))
        self._paragraphs += [
            (number, p.position, p.start, p.text, sentence_ends(p.sentences)) for p in paragraphs
        ]


def remove_documents(store: Path, ids: Sequence[str]) -> int:
    """Take documents out of a store, all of them or none; how many paragraphs that were."""
    db = connect(store)
    try:
        unknown = [id_ for id_ in ids if not _has_document(db, id_)]
        if unknown:
            raise CorpusError(_unknown_message(db, unknown))
        before = db.execute("SELECT count(*) FROM paragraphs").fetchone()[0]
        with _transaction(db):
            for sql in _FORGET:
                asked = sql.format(store="main", ids="SELECT value FROM json_each(?)")
                db.execute(asked, (json.dumps(list(ids)),))
            db.execute("UPDATE revision SET number = number + 1")
        return int(before - db.execute("SELECT count(*) FROM paragraphs").fetchone()[0])
    finally:
        db.close()


def _has_document(db: sqlite3.Connection, id_: str) -> bool:
    try:
        return db.execute("SELECT 1 FROM documents WHERE id = ?", (id_,)).fetchone() is not None
    except UnicodeEncodeError:  # half a character, as a shell may give it: no document's id has one
        return False


def _unknown_message(db: sqlite3.Connection, unknown: list[str]) -> str:
    ids = [row[0] for row in db.execute("SELECT id FROM documents LIMIT 10000")]
    close = difflib.get_close_matches(unknown[0], ids, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else " `muppet info KB --ids` lists them."
    return f"No document has the id {', '.join(map(repr, unknown))}; nothing was removed.{hint}"


def _name(document: Document) -> str:
    return document.id or document.name or document.title


@lru_cache(maxsize=10_000)
def _exists(source: str) -> bool:
    return Path(source).exists()


def _problem(document: Document) -> str | None:
    """Why a document cannot be stored, if so."""
    names = (_name(document), document.title, document.source)
    try:
        for part in (*names, document.text, *document.sentences):
            part.encode()
    except UnicodeEncodeError as error:
        where = "its name" if error.object in names else "its text"
        return f"{where} holds half a character (number {error.start + 1}), which is not text"
    if "\0" in _name(document):
        return "its id holds a NUL character"
    if not (document.text.strip() or any(map(str.strip, document.sentences))):
        return "has no text"
    return None


def _fingerprint(document: Document) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in (document.title, document.text, *document.sentences):
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.digest()


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All of the block's statements, or none."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # a full disk may have rolled it back already
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
