"""A knowledge base as tools for agents: search, ask and read, by the Model Context Protocol.

The tools answer what `wire` writes; the types that describe it are the server's.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from inspect import getdoc
from typing import Annotated, Literal

from muppet.errors import MuppetError, needing
from muppet.facade.knowledge import Knowledge
from muppet.wire import paragraph_to_json, result_to_json, search_to_json

with needing("Answering agents", "mcp"):
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations
    from pydantic import Field

    from muppet.server.schema import ChainsFound, ParagraphFound, Question, ResultFound

INSTRUCTIONS = (
    "The documents of one knowledge base, offline. Some questions have an answer that no single "
    "paragraph holds: ask them whole, in plain words, rather than piece by piece. What is found "
    "are chains of paragraphs, each found with what the ones before it say. Use `search` for the "
    "evidence, `ask` for an answer with its evidence, `read` for a paragraph by its id."
)
Hops = Annotated[
    Literal["auto", 1, 2, 3, 4] | None,
    Field(
        description="How many paragraphs a chain has; auto lets the model decide. Without it, as "
        "the knowledge base is set."
    ),
]
Chains = Annotated[int, Field(ge=1, le=50, description="At most so many chains, best first.")]
Answers = Annotated[int, Field(ge=1, le=20, description="At most so many answers, best first.")]
ParagraphId = Annotated[str, Field(description="As `search` and `ask` name it: `paragraph`.")]


class Tools:
    """What an agent may do with a knowledge base: each method is one tool."""

    def __init__(self, kb: Knowledge) -> None:
        self._kb = kb

    def search(self, question: Question, chains: Chains = 5, hops: Hops = None) -> ChainsFound:
        """Find the chains of paragraphs that a question needs.

        Of each hop: the paragraph's id, title, source and text, its score (a log probability),
        the sentence that matched best, counted from 0, and the rank that the plain question alone
        gives it. Best chain first. For evidence to reason over; it reads no answer out of it.
        """
        with _in_words():
            found = self._kb.search(question, chains=chains, hops=hops)
        return ChainsFound.model_validate(search_to_json(found))

    def ask(self, question: Question, answers: Answers = 3, hops: Hops = None) -> ResultFound:
        """Answer a question from the documents, with the chain of evidence.

        Each answer has its probability, where it stands, the sentences that bear it out, and the
        chain of paragraphs it was read in. Where `is_known` is false the documents most likely do
        not hold the answer, and the first one is no more than a guess.
        """
        with _in_words():
            result = self._kb.ask(question, hops=hops)
        best = replace(result, answers=result.answers[:answers])
        return ResultFound.model_validate(result_to_json(best, chains=0))

    def read(self, paragraph: ParagraphId) -> ParagraphFound:
        """Read a paragraph whole, by its id: its sentences, and where it stands in its document."""
        with _in_words():
            return ParagraphFound.model_validate(paragraph_to_json(self._kb.paragraph(paragraph)))


def mcp_server(kb: Knowledge) -> MCPServer[None]:
    """The server of a knowledge base's tools; its `run` answers on standard input and output."""
    server = MCPServer[None](
        "muppet",
        title=f"Muppet: {kb.directory.resolve().name}",
        instructions=INSTRUCTIONS,
        version=version("muppet"),
        log_level="WARNING",
    )
    tools = Tools(kb)
    hints = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    for tool, title in (
        (tools.search, "Search for chains of evidence"),
        (tools.ask, "Answer a question"),
        (tools.read, "Read a paragraph"),
    ):
        server.add_tool(tool, title=title, description=getdoc(tool), annotations=hints)
    return server


@contextmanager
def _in_words() -> Iterator[None]:
    """What the caller can put right is told it in our words; the rest is our bug."""
    try:
        yield
    except MuppetError as error:
        raise ToolError(str(error)) from error
