"""Chains that retrieval finds for training questions: what the reader will have to choose between.

One line a question, by titles, so that a file outlives the knowledge base it was made with:

    {"id": question, "chains": [[title, …], …]}
"""

import json
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.corpus.files import decode, open_file
from muppet.domain import Progress
from muppet.errors import ConfigError
from muppet.evaluate.finding import Find
from muppet.train.examples import TrainingData

_logger = logging.getLogger(__name__)

AT_ONCE = 16
"""Questions that are retrieved for together; a run that is stopped loses so many at most."""

BEGINNING = b'{"id": '
"""Of every line."""

Rows = tuple[int, ...]


def write_retrieved(
    path: Path, questions: Sequence[BenchmarkQuestion], find: Find, keep: int, progress: Progress
) -> int:
    """Append the best `keep` chains of each question that the file lacks; how many it lacked."""
    known = _known(path)
    missing = [one for one in questions if one.question.id not in known]
    with path.open("a", encoding="utf-8") as stream:
        for first in range(0, len(missing), AT_ONCE):
            some = missing[first : first + AT_ONCE]
            for asked, found in zip(some, find(some), strict=True):
                best = [ranked.chain.paragraphs for ranked in found.chains[:keep]]
                chains = [[found.paragraphs[number].title for number in one] for one in best]
                line = {"id": asked.question.id, "chains": chains}
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            stream.flush()
            progress("retrieving", first + len(some), len(missing))
    return len(missing)


def read_retrieved(path: Path, data: TrainingData) -> dict[int, tuple[Rows, ...]]:
    """Retrieved chains by question number; those with a title that the data lacks are left out."""
    numbers = {question.id: number for number, question in enumerate(data.questions)}
    by_title: dict[str, int] = {}
    for row, paragraph in enumerate(data.paragraphs):
        by_title.setdefault(paragraph.title, row)
    found: dict[int, tuple[Rows, ...]] = {}
    unknown = 0
    for id_, chains in _parsed_lines(path):
        if id_ not in numbers:
            continue
        question = data.questions[numbers[id_]]
        own = {data.paragraphs[row].title: row for row in (*question.distractors, *question.gold)}
        rows = [tuple(own.get(title, by_title.get(title, -1)) for title in one) for one in chains]
        known = tuple(dict.fromkeys(chain for chain in rows if chain and -1 not in chain))
        unknown += len(rows) - len(known)
        found[numbers[id_]] = known
    _logger.info("%s: chains of %d questions, left out %d", path, len(found), unknown)
    return found


def _known(path: Path) -> set[str]:
    """The questions whose chains the file holds; a last line that a stop has torn is taken off."""
    if not path.exists():
        return set()
    lines, end, torn = path.read_bytes().rpartition(b"\n")
    if torn.startswith(BEGINNING[: len(torn)]):
        os.truncate(path, len(lines) + len(end))
    return {id_ for id_, _ in _parsed_lines(path)}


def _parsed_lines(path: Path) -> Iterator[tuple[str, list[list[str]]]]:
    with open_file(path) as stream:
        lines = [line for line in decode(stream.read(), str(path)).split("\n") if line.strip()]
    for place, line in enumerate(lines, 1):
        yield _parsed(line, path, place)


def _parsed(line: str, path: Path, place: int) -> tuple[str, list[list[str]]]:
    try:
        content = json.loads(line)
        return str(content["id"]), [[str(title) for title in chain] for chain in content["chains"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path}:{place} holds no retrieved chains ({error}). Each line must be "
            '{"id": question, "chains": [[title, …], …]}.'
        ) from error
