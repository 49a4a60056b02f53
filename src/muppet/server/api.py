"""What programs ask a server: each method is one address under /api."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated

from fastapi import Query, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from muppet.domain import Paragraph
from muppet.errors import MuppetError
from muppet.pipeline import Muppet
from muppet.server.examples import examples_of
from muppet.server.guard import json_response
from muppet.server.schema import AskBody, AttentionBody, Kb, SearchBody
from muppet.server.worker import Job, Worker
from muppet.text.questions import question_from
from muppet.wire import Json, error_to_json, knowledge_to_json, paragraph_to_json, stage_to_json

Event = tuple[str, Json]
"""A name and its content."""

LOG = logging.getLogger("muppet.server")
OUR_BUG = "Something went wrong that should not: a bug of ours. The server's log says more."


class Api:
    """The addresses of one server, over its knowledge bases; the first is the default."""

    def __init__(self, muppets: Mapping[str, Muppet], worker: Worker, seconds: float) -> None:
        self._muppets = muppets
        self._worker = worker
        self._seconds = seconds
        self._known: dict[str, tuple[int, Json]] = {}

    def knowledge(self) -> Response:
        """The knowledge bases of this server, with questions to begin with."""
        return json_response({"knowledge_bases": [*map(self._described, self._muppets)]})

    async def ask(self, body: AskBody) -> Response:
        """Answer a question, with the chain of evidence: what `muppet ask --json` prints."""
        return await self._answered(Job("ask", self._kb(body.kb), _question(body.question)))

    async def search(self, body: SearchBody) -> Response:
        """Find the chains that a question needs: what `muppet search --json` prints."""
        job = Job("search", self._kb(body.kb), _question(body.question), top=body.top)
        return await self._answered(job)

    async def attention(self, body: AttentionBody) -> Response:
        """The words of question and chain that made the question of the next hop."""
        kb = self._kb(body.kb)
        chain = await asyncio.to_thread(lambda: [self._paragraph(kb, id_) for id_ in body.chain])
        job = Job("attention", kb, _question(body.question), chain=tuple(chain))
        return await self._answered(job)

    def paragraph(self, id_: str, kb: Annotated[Kb, Query()] = None) -> Response:
        """A paragraph, by the id that chains name it by."""
        return json_response(paragraph_to_json(self._paragraph(self._kb(kb), id_)))

    async def stream(self, body: AskBody) -> StreamingResponse:
        """The same answer as an event, `answer`, after events that tell of its progress: `hop`,
        with the best chain so far, once for each hop; and `reading`. `error` ends it otherwise."""
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Event | None] = asyncio.Queue()

        def tell(stage: str, chain: Sequence[Paragraph]) -> None:
            loop.call_soon_threadsafe(events.put_nowait, (stage, stage_to_json(chain)))

        job = Job("ask", self._kb(body.kb), _question(body.question), tell=tell)
        answer = asyncio.wrap_future(self._worker.submit(job))
        answer.add_done_callback(lambda _: events.put_nowait(None))
        return StreamingResponse(self._told(events, answer), media_type="text/event-stream")

    async def _answered(self, job: Job) -> Response:
        try:
            async with asyncio.timeout(self._seconds):
                return json_response(await asyncio.wrap_future(self._worker.submit(job)))
        except TimeoutError as error:
            raise HTTPException(504, self._too_late()) from error

    async def _told(
        self, events: asyncio.Queue[Event | None], answer: asyncio.Future[Json]
    ) -> AsyncIterator[str]:
        """The events of one question as text; who goes away is no longer waited for."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        hops = 0
        try:
            while event := await _before(deadline, events):
                name, content = event
                if name == "hop" and len(content["chain"]) <= hops:
                    continue  # its chain ended before those of the questions beside it
                hops = max(hops, len(content["chain"]))
                yield _event(name, content)
            yield _event("answer", await answer)
        except TimeoutError:
            yield _event("error", error_to_json(self._too_late()))
        except MuppetError as error:
            yield _event("error", error_to_json(str(error)))
        except Exception:
            LOG.exception("A question failed.")
            yield _event("error", error_to_json(OUR_BUG))
        finally:
            answer.cancel()

    def _kb(self, name: str | None) -> str:
        if name is None:
            return next(iter(self._muppets))
        if name not in self._muppets:
            known = ", ".join(self._muppets)
            raise HTTPException(404, f"There is no knowledge base {name!r} here, only {known}.")
        return name

    def _paragraph(self, kb: str, id_: str) -> Paragraph:
        found = self._muppets[kb].knowledge.store.paragraph(id_)
        if found is None:
            raise HTTPException(404, f"There is no paragraph {id_!r} in {kb}.")
        return found

    def _described(self, name: str) -> Json:
        """Counted once for every revision of a knowledge base."""
        revision = self._muppets[name].knowledge.store.revision
        if self._known.get(name, (None,))[0] != revision:
            self._known[name] = revision, _described(name, self._muppets[name])
        return self._known[name][1]

    def _too_late(self) -> str:
        return f"There was no answer within {self._seconds:g} seconds. Try again later."


async def _before(deadline: float, events: asyncio.Queue[Event | None]) -> Event | None:
    async with asyncio.timeout_at(deadline):
        return await events.get()


def _event(name: str, content: Json) -> str:
    return f"event: {name}\ndata: {json.dumps(content)}\n\n"


def _question(text: str) -> str:
    return question_from(text).text


def _described(name: str, muppet: Muppet) -> Json:
    store = muppet.knowledge.store
    return knowledge_to_json(
        name, store.count_documents(), store.count_paragraphs(), examples_of(muppet.knowledge)
    )
