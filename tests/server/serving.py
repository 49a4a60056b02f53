"""A server as tests use it: on a real socket, or with a reader that waits to be let go on."""

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import Any

import httpx2
import uvicorn
from fastapi import FastAPI

from muppet.domain import Progress, Result, silent
from muppet.pipeline import Muppet
from muppet.retrieve.retriever import Watch, unwatched

HERE = "http://127.0.0.1"
QUESTIONS = [
    "Which Norwegian sea captain founded the whaling station where Ernest Shackleton is buried?",
    "Who led the expedition of the ship Endurance?",
    "Is Grytviken older than Ernest Shackleton?",
    "Where was Colin Archer born?",
    "Who designed the ship Fram?",
]


class GatedMuppet(Muppet):
    """Answers as another does, once its gate is open; it remembers what was asked together."""

    def __init__(self, muppet: Muppet) -> None:
        super().__init__(muppet.retriever, muppet.reader, muppet.config)
        self.gate = threading.Event()
        self.asked: list[list[str]] = []

    def ask_many(
        self,
        questions: Sequence[str],
        progress: Progress = silent,
        hidden: Mapping[str, AbstractSet[int]] | None = None,
        watch: Watch = unwatched,
    ) -> list[Result]:
        self.asked.append(list(questions))
        assert self.gate.wait(30)
        if any("breaks" in question for question in questions):
            raise RuntimeError("a question that breaks it")
        return super().ask_many(questions, progress, hidden, watch)


@contextmanager
def running(app: FastAPI) -> Iterator[str]:
    """The address of a server that runs in a thread of this process."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"{HERE}:{port}"
    server.should_exit = True
    thread.join(30)
    assert not thread.is_alive()


def until(is_so: Any, seconds: float = 30) -> None:  # noqa: ANN401 (any callable)
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def events(response: httpx2.Response) -> list[tuple[str, Any]]:
    """The names and contents of a stream of events."""
    found = []
    for block in response.text.split("\n\n"):
        if block:
            name, data = block.split("\n")
            found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def untimed(content: Any) -> Any:  # noqa: ANN401 (JSON)
    """An answer without how long it took."""
    return {key: value for key, value in content.items() if key != "seconds"}
