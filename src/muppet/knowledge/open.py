"""A knowledge base: one directory with the paragraphs and the indexes made from them, in step.

    KB/manifest.json     kind, format, settings
    KB/corpus.sqlite     the paragraphs, and which of them the lexical index has yet to learn
    KB/bm25/             tantivy, brought in step after every change
    KB/tfidf-N/          the paper's TF-IDF of revision N, built when it is first asked for
    KB/incoming.sqlite   the documents of a run that is under way, or was stopped

Paragraphs change in one transaction; an index that a crash left behind them catches up when the
knowledge base is next opened. One process writes at a time; readers never wait.
"""

import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, Self

from muppet.artifact import read_manifest
from muppet.config import Config, from_table
from muppet.corpus.store import Store
from muppet.domain import Hop, Progress, silent
from muppet.errors import ArtifactError, ConfigError, CorpusError
from muppet.knowledge.lock import full_disk_is_an_error, write_lock
from muppet.lexical.bm25 import Bm25, terms_of
from muppet.lexical.tfidf import Tfidf
from muppet.lexical.tfidf_build import build_tfidf

KIND = "knowledge base"
FORMAT = 1
REMAKE = "muppet index SOURCE... --into KB"
MODEL = "model.json"
NARROWERS = 2
"""Questions that are narrowed at the same time."""
CATCH_UP = 100_000
"""Paragraphs added to the lexical index at once."""
BEHIND = (
    "The paragraphs are stored, but the lexical index does not know all of them yet. Make room: "
    "it is completed when the knowledge base is next opened."
)


class Narrower(Protocol):
    """The lexical seam: both engines, and any other, narrow a question to some paragraphs."""

    def narrow(self, question: str, keep: int) -> list[Hop]: ...


class KnowledgeBase:
    """An open knowledge base, to read from."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        manifest = read_manifest(directory, KIND, FORMAT, remake=REMAKE)
        self.config = from_table(Config, manifest.config)
        self.store = Store(directory / "corpus.sqlite")
        self.terms = terms_of(self.config.bm25)
        self._opened: dict[str, Narrower] = {}
        self._stamp: tuple[int, bool] | None = None
        self._stale: set[str] = set()
        self._closing = ExitStack()
        self._closing.callback(self.store.close)
        if not self.store.is_read_only and self._is_behind():
            self._catch_up_if_nobody_writes()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._opened.clear()
        self._closing.close()

    def narrower(self, engine: str, progress: Progress = silent) -> Narrower:
        """The lexical engine of this name, `bm25` or `tfidf`; the latter is built if need be."""
        stamp = self.store.revision, self._is_behind()
        if stamp != self._stamp:  # somebody has written: what was opened knows nothing of it
            self._stale = set(self._opened)
            self._stamp = stamp
        if engine in self._stale:
            with suppress(ArtifactError):  # somebody still writes: the old one answers meanwhile
                self._opened[engine] = self._open(engine, progress)
                self._stale.discard(engine)
        if engine not in self._opened:
            self._opened[engine] = self._open(engine, progress)
        return self._opened[engine]

    def _open(self, engine: str, progress: Progress) -> Narrower:
        if self.store.is_empty():
            raise CorpusError(
                f"{self.directory} holds no documents yet. Add some with "
                f"`muppet index SOURCE... --into {self.directory}`."
            )
        makers = {"bm25": self._open_bm25, "tfidf": self._open_tfidf}
        if engine not in makers:
            raise ConfigError(f"Unknown retriever {engine!r}; known: {', '.join(makers)}.")
        return makers[engine](progress)

    def narrow(self, question: str, keep: int, engine: str = "bm25") -> list[Hop]:
        """The best paragraphs that are still there; a crash may leave the index a step behind."""
        return self.narrow_many([question], keep, engine)[0]

    def narrow_many(
        self, questions: Sequence[str], keep: int, engine: str = "bm25"
    ) -> list[list[Hop]]:
        """The same for many questions, on two cores where there is more than one."""
        narrower = self.narrower(engine)
        if len(questions) == 1:
            found = [narrower.narrow(questions[0], keep)]
        else:
            with ThreadPoolExecutor(NARROWERS) as pool:
                found = list(pool.map(lambda text: narrower.narrow(text, keep), questions))
        here = self.store.existing([hop.paragraph for hops in found for hop in hops])
        return [[hop for hop in hops if hop.paragraph in here] for hops in found]

    def catch_up(self, progress: Progress = silent) -> None:
        """Bring the lexical index in step with the paragraphs; the caller holds the lock."""
        with full_disk_is_an_error(self.directory, BEHIND):
            try:
                self._teach_bm25(progress)
            except ValueError as error:
                if "FileAlreadyExists" not in str(error):
                    raise
                # A commit of tantivy was killed, and what it left is in the way of the next one.
                shutil.rmtree(self.directory / "bm25")
                self._teach_bm25(progress)
        for old in self.directory.glob("tfidf-*"):
            if old.name != self._tfidf_directory().name:
                shutil.rmtree(old, ignore_errors=True)

    def _teach_bm25(self, progress: Progress) -> None:
        if not self._bm25_exists():
            self.store.mark_all_changed()
        bm25 = Bm25(self.directory / "bm25", self.config.bm25)
        total = self.store.count_changes()
        done = 0
        while self.store.has_changes():
            removed, added = self.store.removed_changes(), self.store.added_changes(CATCH_UP)
            bm25.change(added, removed)
            self.store.settle_changes(up_to=added[-1][0] if added else 0)
            done += len(removed) + len(added)
            progress("lexical index", done, total)

    def _open_bm25(self, _progress: Progress) -> Narrower:
        is_there = self._bm25_exists()  # else to open it would make an empty one
        bm25 = Bm25(self._lockable(self.directory / "bm25"), self.config.bm25) if is_there else None
        if bm25 is None or not len(bm25):
            raise ArtifactError(
                f"The lexical index of {self.directory} is not built yet: another process is "
                "about to, or its disk is full. Wait or make room, then try again."
            )
        return bm25

    def _lockable(self, index: Path) -> Path:
        """Where tantivy can open an index, which takes a lock file even to read it.

        A directory that cannot be written, such as a read-only volume, is mirrored by links.
        """
        if os.access(index, os.W_OK) or not index.is_dir():
            return index
        mirror = Path(self._closing.enter_context(TemporaryDirectory(prefix="muppet-")))
        for path in index.iterdir():
            if path.suffix != ".lock":
                (mirror / path.name).symlink_to(path.resolve())
        return mirror

    def _open_tfidf(self, progress: Progress) -> Narrower:
        directory = self._tfidf_directory()
        made_from = {"paragraphs": str(self.store.revision)}
        if not directory.exists():
            with write_lock(self.directory), full_disk_is_an_error(self.directory):
                build_tfidf(
                    directory,
                    self.store.texts(),
                    self.store.count_paragraphs(),
                    config=self.config.tfidf,
                    made_from=made_from,
                    progress=progress,
                )
        return Tfidf(directory, made_from)

    def _tfidf_directory(self) -> Path:
        return self.directory / f"tfidf-{self.store.revision}"

    def _bm25_exists(self) -> bool:
        return (self.directory / "bm25" / "meta.json").is_file()

    def _is_behind(self) -> bool:
        return self.store.has_changes() or not self._bm25_exists()

    def _catch_up_if_nobody_writes(self) -> None:
        try:
            with write_lock(self.directory):
                self.catch_up()
        except ArtifactError:  # somebody is at it, or the disk is full: answer from what there is
            return


def has_model(directory: Path) -> bool:
    """Whether the knowledge base has been encoded by some model."""
    return (directory / MODEL).is_file()
