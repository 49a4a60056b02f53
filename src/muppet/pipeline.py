"""The whole system: retrieve chains, read them, say what is known."""

import time
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib.resources import files
from pathlib import Path
from typing import Self

from muppet.config import Config, ReadConfig
from muppet.domain import Answer, Progress, Result, silent
from muppet.knowledge.open import KnowledgeBase
from muppet.read.reader import ChainReader
from muppet.read.rounds import read_until_sure
from muppet.retrieve.retriever import Retrieved, Retriever, Watch, open_retriever, unwatched
from muppet.text.questions import question_from

AT_ONCE = 16
"""Questions that are retrieved, and then read, together."""


class Muppet:
    """A knowledge base that answers questions; to be closed, or used in a `with` block."""

    def __init__(self, retriever: Retriever, reader: ChainReader, config: ReadConfig) -> None:
        self.knowledge = retriever.knowledge
        self.retriever = retriever
        self.reader = reader
        self.config = config

    def ask(self, question: str) -> Result:
        """The answers to a question, with the chains they rest on."""
        return self.ask_many([question])[0]

    def ask_many(
        self,
        questions: Sequence[str],
        progress: Progress = silent,
        hidden: Mapping[str, AbstractSet[int]] | None = None,
        watch: Watch = unwatched,
    ) -> list[Result]:
        """The same for many questions, which is faster than one after another.

        `hidden` are, for a question, paragraphs that are passed over, by their numbers. `watch` is
        told of the stages of up to `AT_ONCE` questions at a time: each hop, and reading.
        """
        asked = [question_from(question).text for question in questions]
        results: list[Result] = []
        for first in range(0, len(asked), AT_ONCE):
            results += self._ask(asked[first : first + AT_ONCE], hidden or {}, watch)
            progress("asking", len(results), len(asked))
        return results

    def _ask(
        self, questions: Sequence[str], hidden: Mapping[str, AbstractSet[int]], watch: Watch
    ) -> list[Result]:
        found = self.retriever.retrieve_many(questions, hidden, watch)
        watch("reading", {})
        began = time.perf_counter()
        answers = self._read(found)
        seconds = (time.perf_counter() - began) / len(questions)
        return [
            Result(
                question=one.question,
                answers=tuple(own),
                is_known=bool(own) and own[0].probability >= self.reader.threshold,
                chains=tuple(ranked.chain for ranked in one.chains),
                paragraphs=one.paragraphs,
                seconds={"retrieve": one.seconds, "read": seconds},
                ranks=one.ranks,
                scores=tuple(ranked.score for ranked in one.chains),
            )
            for one, own in zip(found, answers, strict=True)
        ]

    def _read(self, found: Sequence[Retrieved]) -> list[list[Answer]]:
        workers = self.reader.threads
        answers = read_until_sure(found, self.reader.read, self.config, workers=workers)
        return [self.reader.calibrated(own) for own in answers]

    def close(self) -> None:
        self.knowledge.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def open_muppet(
    kb: Path | KnowledgeBase,
    *,
    config: Config | None = None,
    model: Path | None = None,
    reader: Path | None = None,
    threads: int = 2,
    progress: Progress = silent,
) -> Muppet:
    """A knowledge base with the encoder it was made with and a reader, ours if none is named.

    It is closed with the Muppet, or where that cannot be made, even if it was open before.
    """
    knowledge = kb if isinstance(kb, KnowledgeBase) else KnowledgeBase(kb)
    try:
        settings = config or knowledge.config
        retriever = open_retriever(knowledge, model, settings.retrieve, progress)
        chain_reader = ChainReader(reader or shipped_reader(), threads)
    except BaseException:
        knowledge.close()
        raise
    return Muppet(retriever, chain_reader, settings.read)


def shipped_reader() -> Path:
    """The trained reader that comes with this package."""
    return Path(str(files("muppet") / "models" / "reader"))
