"""One reader over the chains of any retrieval (checklist 30, 33).

To read is what takes the time: every chain is read once, and the answers are then chosen from it
by as many settings as are to be compared.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from muppet.config import ReadConfig
from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.domain import Answer, Paragraph, Progress, Result, silent
from muppet.evaluate.finding import Find
from muppet.evaluate.retrieval import BATCH
from muppet.read.answers import ChainRead
from muppet.read.reader import ChainReader
from muppet.read.rounds import Pair, Read, read_until_sure
from muppet.retrieve.retriever import Retrieved

Name = TypeVar("Name", bound=Hashable)


def read_found(
    find: Find,
    reader: ChainReader,
    questions: Sequence[BenchmarkQuestion],
    settings: Mapping[Name, ReadConfig],
    progress: Progress = silent,
    stage: str = "reading",
) -> dict[Name, dict[str, Result]]:
    """By each of the settings, what is found for each question, by the question's id.

    With the model's chains and a knowledge base's own settings this is what `ask` says.
    """
    results: dict[Name, dict[str, Result]] = {name: {} for name in settings}
    for first in range(0, len(questions), BATCH):
        some = questions[first : first + BATCH]
        found = find(some)
        read = _once(reader)
        for name, config in settings.items():
            answers = read_until_sure(found, read, config, workers=reader.threads)
            for asked, one, own in zip(some, found, answers, strict=True):
                results[name][asked.question.id] = _result(reader, one, own)
        progress(stage, first + len(some), len(questions))
    return results


def _once(reader: ChainReader) -> Read:
    """Reads what has not been read before."""
    known: dict[tuple[str, tuple[Paragraph, ...]], ChainRead] = {}

    def read(pairs: Sequence[Pair]) -> list[ChainRead]:
        keys = [(question, tuple(chain)) for question, chain in pairs]
        new = [key for key in dict.fromkeys(keys) if key not in known]
        known.update(zip(new, reader.read(new), strict=True))
        return [known[key] for key in keys]

    return read


def _result(reader: ChainReader, found: Retrieved, chosen: Sequence[Answer]) -> Result:
    answers = reader.calibrated(chosen)
    return Result(
        question=found.question,
        answers=tuple(answers),
        is_known=bool(answers) and answers[0].probability >= reader.threshold,
        chains=tuple(ranked.chain for ranked in found.chains),
        paragraphs=found.paragraphs,
        seconds={},
    )
