"""What requests and answers look like, for those who write programs: the OpenAPI schema's types.

Answers are written by `wire` alone; the types here describe them, and a test compares the two.
"""

import difflib
from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from muppet.text.questions import LONGEST

QUESTION = "Which Norwegian sea captain founded the whaling station where Shackleton is buried?"

Question = Annotated[
    str,
    Field(
        description=f"1 to {LONGEST:,} characters, with at least one word to search for.",
        examples=[QUESTION],
    ),
]
Kb = Annotated[
    str | None,
    Field(description="The name of a knowledge base; without it, the first one.", examples=["kb"]),
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Answered(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AskBody(_Request):
    """A question to be answered."""

    question: Question
    kb: Kb = None


class SearchBody(_Request):
    """A question whose chains are wanted."""

    question: Question
    kb: Kb = None
    top: Annotated[int, Field(ge=1, le=1000, description="At most so many chains.")] = 5


class AttentionBody(_Request):
    """A question, and the chain after which it was reformulated."""

    question: Question
    kb: Kb = None
    chain: Annotated[
        list[str],
        Field(min_length=1, max_length=4, description="Ids of paragraphs.", examples=[["fram"]]),
    ]


class HopFound(_Answered):
    """A paragraph of a chain: `score` is a log probability, `sentence` the one that matched best,
    `rank_for_question` where the plain question alone would have put it."""

    paragraph: str
    title: str
    source: str
    score: float
    sentence: int | None
    rank_for_question: int | None
    text: str


class SpanFound(_Answered):
    """Where an answer stands: characters of the paragraph's text, or of its title."""

    paragraph: str
    start: int
    end: int
    document_start: int | None
    in_title: bool


class SupportFound(_Answered):
    """A sentence that bears an answer out."""

    paragraph: str
    title: str
    sentence: int
    text: str


class AnswerFound(_Answered):
    """An answer: a span of a document, yes or no; with how likely it is right."""

    text: str
    kind: str
    probability: float
    span: SpanFound | None
    support: list[SupportFound]
    chain: list[HopFound]


class ResultFound(_Answered):
    """All that was found, best first. Unless it `is_known` the best answer is only a guess."""

    question: str
    is_known: bool
    answers: list[AnswerFound]
    chains: list[list[HopFound]]
    seconds: dict[str, float]


class ChainsFound(_Answered):
    """Chains, best first, and what they were ranked by."""

    question: str
    chains: list[list[HopFound]]
    scores: list[float]
    seconds: dict[str, float]


class ParagraphFound(_Answered):
    """A paragraph, whole; it begins at character `start` of its document."""

    paragraph: str
    title: str
    source: str
    document: str
    position: int
    start: int
    sentences: list[str]
    text: str


class WordFound(_Answered):
    """A word, and its share of the attention."""

    word: str
    share: float


class AttendedParagraph(_Answered):
    """The words of one paragraph, its title first."""

    paragraph: str
    title: str
    words: list[WordFound]


class AttentionFound(_Answered):
    """What the reformulation looked at."""

    question: list[WordFound]
    chain: list[AttendedParagraph]


class KnowledgeFound(_Answered):
    """A knowledge base of this server."""

    name: str
    documents: int
    paragraphs: int
    examples: list[str]


class KnowledgeBasesFound(_Answered):
    """The knowledge bases of this server; the first is the default."""

    knowledge_bases: list[KnowledgeFound]


class Health(_Answered):
    """Whether the server is there."""

    status: str


class Problem(_Answered):
    """What is wrong, and what to do about it."""

    error: str = Field(examples=["The question is empty. Ask something, in quotes."])


BODIES: Mapping[str, type[BaseModel]] = {
    "/api/ask": AskBody,
    "/api/ask/stream": AskBody,
    "/api/search": SearchBody,
    "/api/attention": AttentionBody,
}
"""What each address wants to be sent."""


def problem_in_words(
    errors: Sequence[Mapping[str, Any]], body: type[BaseModel] | None = None
) -> tuple[int, str]:
    """The first thing that is wrong with a request, and its status; `body` is what it asks for."""
    error = min(errors, key=lambda one: one["type"] != "extra_forbidden")  # a slip of the pen
    place, kind = [str(part) for part in error["loc"][1:]], error["type"]
    if kind == "json_invalid":
        return 400, f"The body is not valid JSON: {error['ctx']['error']}."
    if not place:
        return 422, f'The body must be a JSON object such as {{"question": "{QUESTION}"}}.'
    name = shorten(".".join(place), 60, placeholder=" …")
    if kind == "extra_forbidden":
        return 422, f"Unknown field {name}.{_suggest(place[-1], body)}"
    if kind == "missing":
        return 422, f"The field {name} is missing."
    given = shorten(repr(error["input"]), 60, placeholder=" …")
    return 422, f"{name} cannot be {given}: {error['msg'].lower()}."


def _suggest(name: str, body: type[BaseModel] | None) -> str:
    known = sorted(body.model_fields) if body else []
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if close:
        return f" Did you mean {close[0]}?"
    return f" Known: {', '.join(known)}." if known else ""
