"""What a program does with a knowledge base: make it, open it, ask it, search it, read in it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Self

from muppet.bounds import require_at_least
from muppet.config import Config, RetrieveConfig
from muppet.corpus.sources import Sources
from muppet.domain import Broken, Document, Found, Paragraph, Progress, Result, silent
from muppet.errors import ConfigError, CorpusError, QuestionError
from muppet.index.build import EncodeSummary
from muppet.knowledge.encode import encode_knowledge
from muppet.knowledge.open import KnowledgeBase, has_model
from muppet.knowledge.write import IndexSummary, index_documents, stop_at
from muppet.pipeline import Muppet, shipped_reader
from muppet.read.reader import ChainReader
from muppet.retrieve.retriever import Retriever, open_retriever, search_words
from muppet.text.questions import question_from

AnyPath = str | PathLike[str]
Hops = int | str
"""How many paragraphs a chain has: a number, or auto."""


class Knowledge:
    """An open knowledge base; to be closed, or used in a `with` block.

    The networks are loaded when they are first needed. Threads may share it: they take turns.
    """

    def __init__(
        self,
        directory: Path,
        config: Config | None = None,
        *,
        model: Path | None = None,
        reader: Path | None = None,
        threads: int = 2,
    ) -> None:
        require_at_least("threads", threads, 1)
        _require_config(config)
        self.directory = directory
        self._knowledge = KnowledgeBase(directory)
        self._config = config or self._knowledge.config
        self._model, self._reader_path, self._threads = model, reader, threads
        self._opened: Retriever | None = None
        self._reader: ChainReader | None = None
        self._lock = RLock()
        self._is_open = True

    def ask(self, question: str, *, hops: Hops | None = None) -> Result:
        """The answers to a question, best first, with the chains they rest on."""
        return self.ask_many([question], hops=hops)[0]

    def ask_many(
        self, questions: Sequence[str], *, hops: Hops | None = None, progress: Progress = silent
    ) -> list[Result]:
        """The same for many questions, which is faster than one after another."""
        if isinstance(questions, str):  # which is a sequence of questions of one letter each
            raise QuestionError("One question is for `ask`; `ask_many` takes a list of them.")
        with self._turn():
            retriever = self._retriever(self._settings(hops, self._config.read.chains))
            if self._reader is None:
                self._reader = ChainReader(self._reader_path or shipped_reader(), self._threads)
            return Muppet(retriever, self._reader, self._config.read).ask_many(questions, progress)

    def search(self, question: str, *, chains: int = 5, hops: Hops | None = None) -> Found:
        """The best chains of paragraphs for a question, without reading an answer out of them.

        A knowledge base that has not been encoded is searched by words alone: chains of one hop.
        """
        if chains < 1:
            raise QuestionError(f"At least 1 chain has to be wanted, not {chains}.")
        asked = question_from(question).text
        with self._turn():
            is_ready = self._model is not None or has_model(self.directory)
            if not is_ready and not self._config.retrieve.on_demand:
                return search_words(self._knowledge, asked, chains, self._config.retrieve.engine)
            retriever = self._retriever(self._settings(hops, chains))
            return retriever.retrieve(asked).best(chains)

    def paragraph(self, id_: str) -> Paragraph:
        """The paragraph with this id, as chains and answers name it."""
        with self._turn():
            found = self._knowledge.store.paragraph(id_)
        if found is None:
            raise QuestionError(f"There is no paragraph {id_!r} in {self.directory}.")
        return found

    def __len__(self) -> int:
        """How many paragraphs it holds."""
        with self._turn():
            return self._knowledge.store.count_paragraphs()

    def __repr__(self) -> str:
        return f"<muppet.Knowledge {str(self.directory)!r}>"

    def close(self) -> None:
        with self._lock:
            self._is_open = False
            self._knowledge.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One thread's, while it is open."""
        with self._lock:
            if not self._is_open:
                raise QuestionError(f"{self.directory} has been closed. Open it again to ask it.")
            yield

    def _settings(self, hops: Hops | None, chains: int) -> RetrieveConfig:
        config = self._config.retrieve
        wanted = config.hops if hops is None else hops
        return replace(config, hops=wanted, keep=max(chains, config.keep))

    def _retriever(self, config: RetrieveConfig) -> Retriever:
        if self._opened is None:
            self._opened = open_retriever(self._knowledge, self._model, config)
        return self._opened if self._opened.config == config else self._opened.with_config(config)


def open(
    kb: AnyPath,
    *,
    config: Config | None = None,
    model: AnyPath | None = None,
    reader: AnyPath | None = None,
    threads: int = 2,
) -> Knowledge:
    """Open a knowledge base, to ask it.

    It is asked by its own settings unless a `config` is given, by the encoder it was last encoded
    with unless another `model` is named, and by the package's `reader` unless another is.
    """
    return Knowledge(Path(kb), config, model=_path(model), reader=_path(reader), threads=threads)


def index(
    sources: AnyPath | Document | Iterable[AnyPath | Document],
    *,
    into: AnyPath,
    config: Config | None = None,
    on_broken: Callable[[Broken], None] = stop_at,
    progress: Progress = silent,
) -> IndexSummary:
    """Read files, folders and documents into a knowledge base, which is made if it is not there.

    All of them or none; what has not changed since the last time is skipped. A broken file or row
    is an error, unless `on_broken` takes it: it is then left out.
    """
    given = [sources] if isinstance(sources, str | PathLike | Document) else list(sources)
    documents = [one for one in given if isinstance(one, Document)]
    for one in documents:
        _require_text(one)
    _require_config(config)
    files = Sources([Path(one) for one in given if not isinstance(one, Document)])
    return index_documents(
        Path(into),
        chain(files, documents),
        config=config,
        on_broken=on_broken,
        progress=progress,
    )


def encode(
    kb: AnyPath,
    *,
    model: AnyPath | None = None,
    dtype: str = "int8",
    threads: int = 2,
    again: bool = False,
    progress: Progress = silent,
) -> EncodeSummary:
    """Compute the sentence vectors that questions of many hops need, of paragraphs without them.

    `dtype` is how they are stored: int8, float16 or float32. `again` computes all of them anew.
    """
    return encode_knowledge(
        Path(kb), _path(model), dtype=dtype, threads=threads, again=again, progress=progress
    )


def _require_config(config: Config | None) -> None:
    if not isinstance(config, Config | None):
        raise ConfigError(
            f"config must be a muppet.Config, not {config!r}. "
            "`muppet.config.load_config(PATH)` reads one from a TOML file."
        )


def _require_text(document: Document) -> None:
    """A number is no id, though databases have such: one and the same document must be found by
    one and the same text."""
    for name in ("title", "source", "id", "text", "name"):
        value = getattr(document, name)
        if not isinstance(value, str) and not (name == "id" and value is None):
            raise CorpusError(
                f"Document {document.place} of {document.source!r}: its {name} must be text, "
                f"not {value!r}."
            )


def _path(given: AnyPath | None) -> Path | None:
    return None if given is None else Path(given)
