"""Questions that wait, and the one thread that answers them: many at once where many wait."""

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from muppet.domain import Paragraph
from muppet.pipeline import AT_ONCE, Muppet
from muppet.retrieve.retriever import Watch
from muppet.wire import Json, attention_to_json, result_to_json, search_to_json

Tell = Callable[[str, Sequence[Paragraph]], None]
"""Told of a question's own stages: `hop` with its best chain so far, and `reading`."""
Look = Callable[[str, int], None]
"""Told of each batch: of which kind, and how many questions."""

LOG = logging.getLogger("muppet.server")
USUAL = 0.5
"""Seconds for a question, until some have been measured."""


def _unheard(_stage: str, _chain: Sequence[Paragraph]) -> None:
    """The stages of a question that nobody watches."""


@dataclass(frozen=True, slots=True)
class Job:
    """One question to one knowledge base; `chain` are the paragraphs an attention is wanted for."""

    kind: str  # ask, search or attention
    kb: str
    question: str
    top: int = 0
    chain: tuple[Paragraph, ...] = ()
    tell: Tell = _unheard
    answer: Future[Json] = field(default_factory=Future)


class FullError(Exception):
    """No more questions may wait; in `seconds` there should be room."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Worker:
    """A bounded queue and its thread. Questions of one kind to one knowledge base go together."""

    def __init__(self, knowledge_bases: Mapping[str, Muppet], most: int, look: Look) -> None:
        self._muppets = knowledge_bases
        self._most = most
        self._look = look
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._is_closing = False
        self._pace = USUAL
        self._thread = threading.Thread(target=self._work, name="muppet-worker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Answer nothing more; what is under way is finished first."""
        with self._changed:
            self._is_closing = True
            left, self._waiting = self._waiting, deque()
            self._changed.notify_all()
        for job in left:
            job.answer.cancel()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def depth(self) -> int:
        """How many questions wait, and are waited for."""
        with self._changed:
            self._drop_unwanted()
            return len(self._waiting)

    @property
    def is_ready(self) -> bool:
        """Whether a question would be taken now."""
        return self._thread.is_alive() and not self._is_closing and self.depth < self._most

    def submit(self, job: Job) -> Future[Json]:
        """What the job will answer; where too many wait it is not taken, with a FullError."""
        with self._changed:
            self._drop_unwanted()
            if self._is_closing or len(self._waiting) >= self._most:
                raise FullError(max(1, math.ceil(len(self._waiting) * self._pace)))
            self._waiting.append(job)
            self._changed.notify_all()
        return job.answer

    def _drop_unwanted(self) -> None:
        self._waiting = deque(job for job in self._waiting if not job.answer.cancelled())

    def _work(self) -> None:
        while batch := self._next():
            self._look(batch[0].kind, len(batch))  # before anyone can ask what was told
            began = time.perf_counter()
            self._answer(batch)
            seconds = time.perf_counter() - began
            self._pace += 0.2 * (seconds / len(batch) - self._pace)

    def _next(self) -> list[Job]:
        """The oldest question with those that can be answered with it; none where it is over."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._waiting or self._is_closing)
                if self._is_closing:
                    return []
                first = self._waiting[0]
                batch = [job for job in self._waiting if _go_together(job, first)][:AT_ONCE]
                taken = set(map(id, batch))
                self._waiting = deque(job for job in self._waiting if id(job) not in taken)
                wanted = [job for job in batch if job.answer.set_running_or_notify_cancel()]
                if wanted:
                    return wanted

    def _answer(self, batch: Sequence[Job]) -> None:
        """Where a batch fails, each question is asked by itself: one must not spoil the others."""
        try:
            found = self._ask(batch)
        except Exception as error:
            if len(batch) == 1:
                batch[0].answer.set_exception(error)
                return
            LOG.exception("A batch of %d failed; its questions are asked one by one.", len(batch))
            for job in batch:
                self._answer([job])
            return
        for job, content in zip(batch, found, strict=True):
            job.answer.set_result(content)

    def _ask(self, batch: Sequence[Job]) -> list[Json]:
        muppet = self._muppets[batch[0].kb]
        kinds = {"ask": _answers, "search": _chains, "attention": _attention}
        return kinds[batch[0].kind](muppet, batch)


def _go_together(job: Job, other: Job) -> bool:
    return (job.kind, job.kb) == (other.kind, other.kb)


def _answers(muppet: Muppet, batch: Sequence[Job]) -> list[Json]:
    results = muppet.ask_many([job.question for job in batch], watch=_watch(batch))
    return list(map(result_to_json, results))


def _chains(muppet: Muppet, batch: Sequence[Job]) -> list[Json]:
    found = muppet.retriever.retrieve_many([job.question for job in batch], watch=_watch(batch))
    return [search_to_json(one.best(job.top)) for job, one in zip(batch, found, strict=True)]


def _attention(muppet: Muppet, batch: Sequence[Job]) -> list[Json]:
    encoder = muppet.retriever.encoder
    return [
        attention_to_json(attention.question, job.chain, attention.chain)
        for job in batch
        for attention in [encoder.attention(job.question, job.chain)]
    ]


def _watch(batch: Sequence[Job]) -> Watch:
    """Passes each stage on to the questions it is about; `reading` is about all of them."""

    def watch(stage: str, best: Mapping[int, Sequence[Paragraph]]) -> None:
        for place, job in enumerate(batch):
            if stage == "reading" or place in best:
                job.tell(stage, best.get(place, ()))

    return watch
