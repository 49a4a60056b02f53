"""Adding documents to a knowledge base, and taking them out: all or nothing, and resumable."""

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from muppet.artifact import ASIDE, MANIFEST, Manifest, write_json
from muppet.config import Config, to_table
from muppet.corpus.store import create_store
from muppet.corpus.writer import Staging, remove_documents
from muppet.domain import Broken, Document, Progress, silent
from muppet.errors import ArtifactError, ConfigError, CorpusError
from muppet.knowledge.lock import full_disk_is_an_error, write_lock
from muppet.knowledge.open import FORMAT, KIND, KnowledgeBase

BATCH = 1_000
"""Documents staged, and committed to the staging file, at once."""
_BEGUN = {"corpus.sqlite", "corpus.sqlite-wal", "corpus.sqlite-shm", f"{MANIFEST}{ASIDE}"}
"""What stands in a directory that was on its way to become a knowledge base, beside the lock."""


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What one run did, in documents; `repeated` ones stood twice in the sources. Of those
    `replaced`, so many as `displaced` were of other sources that are still there, where they have
    the same ids; `displaced_first` names one."""

    added: int
    replaced: int
    unchanged: int
    repeated: int
    broken: int
    documents: int
    paragraphs: int
    displaced: int = 0
    displaced_first: str = ""


def stop_at(broken: Broken) -> None:
    """The strict way with a broken file or row: refuse everything."""
    raise CorpusError(
        f"{broken}. Nothing was indexed: mend it, or leave such rows out with --skip-bad."
    )


def index_documents(
    directory: Path,
    items: Iterable[Document | Broken],
    *,
    config: Config | None = None,
    on_broken: Callable[[Broken], None] = stop_at,
    progress: Progress = silent,
    estimate: Callable[[int], int | None] = lambda _done: None,
) -> IndexSummary:
    """Add documents to a knowledge base, which is made if it is not there.

    All of them or none: stopped in the middle, the knowledge base answers as before, and the
    same call takes up the work where it was. `on_broken` may raise, which ends the run, or
    return, which leaves the item out. `estimate` guesses, from the number of documents read so
    far, how many there are.
    """
    was_there = _claim(directory)
    with write_lock(directory), full_disk_is_an_error(directory):
        is_new = _make_if_missing(directory, config)
        try:
            return _index(directory, items, config, on_broken, progress, estimate)
        except CorpusError:
            if is_new:
                _unmake(directory, keep_directory=was_there)
            raise


def remove_from(directory: Path, ids: Sequence[str]) -> int:
    """Take documents out by their ids, all of them or none; how many paragraphs went."""
    with KnowledgeBase(directory) as kb, write_lock(directory), full_disk_is_an_error(directory):
        removed = remove_documents(directory / "corpus.sqlite", ids)
        kb.catch_up()
    return removed


def _index(
    directory: Path,
    items: Iterable[Document | Broken],
    config: Config | None,
    on_broken: Callable[[Broken], None],
    progress: Progress,
    estimate: Callable[[int], int | None],
) -> IndexSummary:
    with KnowledgeBase(directory) as kb:
        _require_config(kb, config)
        staging = Staging(
            directory / "corpus.sqlite", directory / "incoming.sqlite", kb.config.corpus
        )
        try:
            broken = _stage(staging, items, on_broken, progress, estimate)
            staging.publish()
        except CorpusError:
            staging.discard()
            raise
        finally:
            staging.close()  # what it has staged stays on the disk for the run that resumes this
        kb.catch_up(progress)
        _keep_settings(kb, config)
        counts = staging.counts
        return IndexSummary(
            added=counts["added"],
            replaced=counts["replaced"],
            unchanged=counts["unchanged"],
            repeated=counts["repeated"],
            broken=broken,
            documents=kb.store.count_documents(),
            paragraphs=kb.store.count_paragraphs(),
            displaced=counts["displaced"],
            displaced_first=staging.displaced,
        )


def _stage(
    staging: Staging,
    items: Iterable[Document | Broken],
    on_broken: Callable[[Broken], None],
    progress: Progress,
    estimate: Callable[[int], int | None],
) -> int:
    """Stage everything, batch by batch; how many items were broken."""
    iterator = iter(items)
    done = broken = 0
    while batch := list(islice(iterator, BATCH)):
        bad = [item for item in batch if isinstance(item, Broken)]
        bad += staging.add([item for item in batch if isinstance(item, Document)])
        for item in bad:
            on_broken(item)
        broken += len(bad)
        done += len(batch)
        progress("reading", done, estimate(done))
    if done == broken and not staging.counts:
        raise CorpusError("The sources hold no documents, so there is nothing to index.")
    return broken


def _claim(directory: Path) -> bool:
    """A directory that is, or may become, a knowledge base; whether it was there."""
    try:
        str(directory).encode()
        was_there = directory.exists()
        directory.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in directory.iterdir()}
    except OSError as error:
        raise ArtifactError(
            f"{directory} cannot be made ({error.strerror}). Choose another place for --into."
        ) from error
    except UnicodeEncodeError as error:
        raise ArtifactError(
            f"{directory} cannot be made: its name is not UTF-8. Choose another for --into."
        ) from error
    if MANIFEST not in names and names - _BEGUN - {"lock", "lock.owner"}:
        raise ArtifactError(
            f"{directory} exists and is no knowledge base. Choose another place for --into."
        )
    return was_there


def _make_if_missing(directory: Path, config: Config | None) -> bool:
    """An empty knowledge base where there was none, its manifest last; whether it was made."""
    if (directory / MANIFEST).exists():
        return False
    for name in _BEGUN:
        (directory / name).unlink(missing_ok=True)
    create_store(directory / "corpus.sqlite")
    write_json(directory / MANIFEST, asdict(Manifest(KIND, FORMAT, _lasting(config or Config()))))
    return True


def _lasting(config: Config) -> dict[str, Any]:
    """What a knowledge base keeps of its settings: all that it is made with, and of how it is asked
    only what somebody chose, so that better defaults of a later version hold for it too."""
    table, usual = to_table(config), to_table(Config())
    for stage in ("retrieve", "read"):
        table[stage] = {n: v for n, v in table[stage].items() if v != usual[stage][n]}
    return table


def _unmake(directory: Path, *, keep_directory: bool) -> None:
    """As if nothing had been there; somebody's own empty directory stays one."""
    for path in directory.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if not keep_directory:
        directory.rmdir()


def _require_config(kb: KnowledgeBase, config: Config | None) -> None:
    """How a knowledge base is asked may change; what its files are made by may not. Of that, what a
    file of settings leaves out stands at its default, and says nothing."""
    made_by = ("corpus", "bm25", "tfidf")
    if config is None or all(
        getattr(config, part) in (getattr(kb.config, part), getattr(Config(), part))
        for part in made_by
    ):
        return
    raise ConfigError(
        f"{kb.directory} was made with other settings of [corpus], [bm25] or [tfidf], and they "
        "cannot change under its documents. Leave them out, or index into a new knowledge base."
    )


def _keep_settings(kb: KnowledgeBase, config: Config | None) -> None:
    """How it is asked from now on, if somebody says so: all of that."""
    if config is None:
        return
    kept = replace(kb.config, retrieve=config.retrieve, read=config.read)
    if kept != kb.config:
        write_json(kb.directory / MANIFEST, asdict(Manifest(KIND, FORMAT, _lasting(kept))))
