"""Somebody's own questions: a file of them, read and checked, and which of them are held out.

A line is {"question": "…", "answer": "…"}; the answer, or `answers`, may be a list, each of which
is right, and `paragraphs`, by title or id, may say what it rests on.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from muppet.corpus.files import UnreadableError, open_file
from muppet.corpus.rows import json_values
from muppet.corpus.store import Store
from muppet.domain import Broken, Paragraph
from muppet.errors import QuestionError
from muppet.text.questions import question_from
from muppet.train.data import MOST_HOPS

FIELDS = ("id", "question", "answer", "answers", "paragraphs")
"""What a line may have; an id is passed over."""
NEEDS = (
    'a line is {"question": "…", "answer": "…"}; the answer may be a list, and `paragraphs`, a '
    "list of titles or ids, may say what it rests on"
)
SHOWN = 3
"""Ids that are named where a title means many paragraphs."""


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    """A question, all of its right answers, and the paragraphs named for it, if any were."""

    line: int
    text: str
    answers: tuple[str, ...]
    paragraphs: tuple[str, ...] = ()


def read_own_questions(path: Path) -> list[OwnQuestion]:
    """All questions of a file; QuestionError names the first line that is not one."""
    found: dict[str, OwnQuestion] = {}
    for one in _questions(path):
        before = found.setdefault(one.text.casefold(), one)
        if before is not one:
            raise QuestionError(
                f"{path}:{one.line}: the same question as in line {before.line}. Keep one of them; "
                "an answer may be a list."
            )
    if not found:
        raise QuestionError(f"{path} has no questions; {NEEDS}.")
    return list(found.values())


def named_paragraphs(asked: OwnQuestion, store: Store, source: str) -> tuple[Paragraph, ...]:
    """The paragraphs that a question of this source names, by their ids or their titles."""
    return tuple(_named(name, store, f"{source}:{asked.line}") for name in asked.paragraphs)


def hold_out(questions: Iterable[OwnQuestion], share: float, seed: int) -> set[int]:
    """The lines of those that are only measured on.

    By the seed and the question's own words, so that a question hardly ever changes sides when
    others are added to its file.
    """
    ordered = sorted(questions, key=lambda one: _lot(one, seed))
    return {one.line for one in ordered[: round(share * len(ordered))]}


def checksum_questions(questions: Iterable[OwnQuestion]) -> str:
    """Of all that a file of questions says."""
    return hashlib.sha256(json.dumps([asdict(one) for one in questions]).encode()).hexdigest()


def _lot(asked: OwnQuestion, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {asked.text.casefold()}".encode()).digest()


def _questions(path: Path) -> Iterator[OwnQuestion]:
    try:
        with open_file(path) as stream:
            for line, value in json_values(stream, str(path)):
                if isinstance(value, Broken):
                    raise QuestionError(f"{value}.")
                yield _question(value, line, f"{path}:{line}")
    except UnreadableError as error:
        raise QuestionError(f"{error}.") from None


def _question(value: object, line: int, where: str) -> OwnQuestion:
    if not isinstance(value, dict):
        raise QuestionError(f"{where}: is no object; {NEEDS}.")
    for name in value:
        if name not in FIELDS:
            raise QuestionError(f"{where}: has an unknown field {name!r}; {NEEDS}.")
    text, answer = value.get("question"), value.get("answers", value.get("answer"))
    if not isinstance(text, str):
        raise QuestionError(f"{where}: its question is missing, or not text; {NEEDS}.")
    try:
        question = question_from(text)
    except QuestionError as error:
        raise QuestionError(f"{where}: {error}") from error
    answers = _texts(answer if isinstance(answer, list) else [answer], "answer", where)
    if not answers:
        raise QuestionError(f"{where}: its answer is an empty list.")
    paragraphs = _texts(value.get("paragraphs") or [], "paragraphs", where)
    if len(paragraphs) > MOST_HOPS:
        raise QuestionError(
            f"{where}: names {len(paragraphs)} paragraphs; at most {MOST_HOPS} make a chain."
        )
    return OwnQuestion(line, question.text, answers, paragraphs)


def _texts(given: object, field: str, where: str) -> tuple[str, ...]:
    """A list of texts, each once."""
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise QuestionError(f"{where}: its {field} is missing, or not text; {NEEDS}.")
    if not all(one.strip() for one in given):
        raise QuestionError(f"{where}: its {field} is empty.")
    return tuple(dict.fromkeys(" ".join(one.split()) for one in given))


def _named(name: str, store: Store, where: str) -> Paragraph:
    by_id = store.paragraph(name)
    found = [by_id] if by_id else list(store.by_title(name).values())
    if not found:
        raise QuestionError(
            f"{where}: there is no paragraph {name!r}. Name it by its title or its id, as "
            "`muppet search KB QUESTION --json` prints them."
        )
    if len(found) > 1:
        ids = ", ".join(repr(one.id) for one in found[:SHOWN])
        raise QuestionError(
            f"{where}: {name!r} is the title of {len(found)} paragraphs. Name one of them by its "
            f"id: {ids}{', …' if len(found) > SHOWN else ''}."
        )
    return found[0]
