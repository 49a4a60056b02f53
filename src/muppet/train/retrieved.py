"""Chains that retrieval finds for training questions: what the reader will have to choose between.

One line a question, its paragraphs by title and by how they begin, so that a file outlives the
knowledge base it was made with, and the paragraphs of one article are told apart:

    {"id": id, "question": text, "chains": [[[title, beginning], …], …]}

Files of questions without ids count from 1, each anew: so the text is there as well, though a line
without it is read too, and so is a paragraph that is a title alone.
"""

import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.corpus.files import DECOMPRESSORS, decode, open_file
from muppet.domain import Paragraph, Progress
from muppet.errors import ConfigError
from muppet.train.examples import TrainingData

if TYPE_CHECKING:
    from muppet.evaluate.finding import Find

_logger = logging.getLogger(__name__)

AT_ONCE = 16
"""Questions that are retrieved for together; a run that is stopped loses so many at most."""

BEGINNING = b'{"id": '
"""Of every line that was written here."""

BEGINS = 60
"""Characters of a paragraph that are written down."""

Rows = tuple[int, ...]
Retrieved = Mapping[int, tuple[Rows, ...]]
"""The chains of each question, by its number."""
Name = tuple[str, str]
"""A paragraph's title, and how it begins; "" where that does not matter."""
Key = tuple[str, str]
"""A question's id and text."""


def write_retrieved(
    path: Path, questions: Sequence[BenchmarkQuestion], find: "Find", keep: int, progress: Progress
) -> int:
    """Append the best `keep` chains of each question that the file lacks; how many it lacked."""
    if path.suffix.lower() in DECOMPRESSORS:
        raise ConfigError(f"{path} is written line by line, and so not compressed: call it .jsonl.")
    known = _known(path)
    asked = {key_of(one): one for one in questions}
    missing = [key for key in asked if key not in known]
    with path.open("a", encoding="utf-8") as stream:
        for first in range(0, len(missing), AT_ONCE):
            some = missing[first : first + AT_ONCE]
            for (id_, text), found in zip(some, find([asked[key] for key in some]), strict=True):
                best = [ranked.chain.paragraphs for ranked in found.chains[:keep]]
                chains = [[_name(found.paragraphs[number]) for number in one] for one in best]
                line = {"id": id_, "question": text, "chains": chains}
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            stream.flush()
            progress("retrieving", first + len(some), len(missing))
    return len(missing)


def key_of(question: BenchmarkQuestion) -> Key:
    """By what a question is known again, here and as a `TrainingQuestion`."""
    return question.question.id, " ".join(question.question.text.split())


def read_retrieved(path: Path, data: TrainingData) -> Retrieved:
    """Retrieved chains by question number; those with a paragraph that the data lacks are left
    out."""
    numbers = {(one.id, one.text): number for number, one in enumerate(data.questions)}
    numbers |= {(one.id, ""): number for number, one in enumerate(data.questions)}
    everywhere = _rows_by_name(data, range(len(data.paragraphs)))
    found: dict[int, tuple[Rows, ...]] = {}
    unknown = 0
    with open_file(path) as stream:
        content = decode(stream.read(), str(path))
    for key, chains in _parsed_lines(content, path):
        if key not in numbers:
            continue
        question = data.questions[numbers[key]]
        own = _rows_by_name(data, (*question.gold, *question.distractors))
        rows = [tuple(own.get(name, everywhere.get(name, -1)) for name in one) for one in chains]
        known = tuple(dict.fromkeys(chain for chain in rows if chain and -1 not in chain))
        unknown += len(rows) - len(known)
        found[numbers[key]] = known
    _logger.info("%s: chains of %d questions, left out %d", path, len(found), unknown)
    return found


def _name(paragraph: Paragraph) -> Name:
    return paragraph.title, paragraph.text[:BEGINS]


def _rows_by_name(data: TrainingData, rows: Iterable[int]) -> dict[Name, int]:
    """The first row of each name, and of each title."""
    found: dict[Name, int] = {}
    for row in rows:
        title, beginning = _name(data.paragraphs[row])
        found.setdefault((title, beginning), row)
        found.setdefault((title, ""), row)
    return found


def _known(path: Path) -> set[Key]:
    """The questions whose chains a file holds; a file of anything else is refused as it is. A last
    line that a stop has torn is taken off."""
    if not path.exists():
        return set()
    whole, end, last = path.read_bytes().rpartition(b"\n")
    known = {key for key, _ in _parsed_lines(decode(whole, str(path)), path)}
    if last.startswith(BEGINNING[: len(last)]) and not _is_json(last):
        os.truncate(path, len(whole) + len(end))
    elif last:
        everything = decode(whole + end + last, str(path))
        known = {key for key, _ in _parsed_lines(everything, path)}
        with path.open("ab") as stream:
            stream.write(b"\n")
    return known


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _parsed_lines(content: str, path: Path) -> Iterator[tuple[Key, list[list[Name]]]]:
    for place, line in enumerate(content.split("\n"), 1):
        if line.strip():
            yield _parsed(line, path, place)


def _parsed(line: str, path: Path, place: int) -> tuple[Key, list[list[Name]]]:
    try:
        content = json.loads(line)
        key = str(content["id"]), str(content.get("question", ""))
        return key, [[_read_name(one) for one in chain] for chain in content["chains"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(
            f"{path}:{place} holds no retrieved chains ({error}). Each line must be "
            '{"id": id, "question": text, "chains": [[[title, beginning], …], …]}.'
        ) from error


def _read_name(content: str | Sequence[str]) -> Name:
    if isinstance(content, str):
        return content, ""
    title, beginning = content
    return str(title), str(beginning)
