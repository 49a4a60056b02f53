"""One reader over the chains of any retrieval (checklist 30, 33).

To read is what takes the time: every chain is read once, and the answers are then chosen from it
by as many settings as are to be compared.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from muppet.config import ReadConfig
from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.domain import Paragraph, Progress, Result, silent
from muppet.evaluate.finding import Find
from muppet.evaluate.retrieval import BATCH
from muppet.read.answers import ChainRead, choose_answers, with_retrieval, worth_reading
from muppet.read.reader import ChainReader
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
        most = [_most(one, settings.values()) for one in found]
        read = iter(reader.read(_pairs(found, most)))
        for asked, one, count in zip(some, found, most, strict=True):
            own = [next(read) for _ in range(count)]
            for name, config in settings.items():
                results[name][asked.question.id] = _result(reader, one, own, config)
        progress(stage, first + len(some), len(questions))
    return results


def _most(found: Retrieved, settings: Iterable[ReadConfig]) -> int:
    """How many chains are read by the settings that read most."""
    return max(worth_reading(found.scores, found.hops, config) for config in settings)


def _pairs(found: Sequence[Retrieved], most: Sequence[int]) -> list[tuple[str, list[Paragraph]]]:
    return [
        (one.question, [one.paragraphs[number] for number in ranked.chain.paragraphs])
        for one, count in zip(found, most, strict=True)
        for ranked in one.chains[:count]
    ]


def _result(
    reader: ChainReader, found: Retrieved, read: Sequence[ChainRead], config: ReadConfig
) -> Result:
    count = worth_reading(found.scores, found.hops, config)
    weighed = [
        with_retrieval(one, ranked.score, ranked.chain.sentences, config)
        for one, ranked in zip(read[:count], found.chains, strict=False)
    ]
    answers = reader.calibrated(choose_answers(weighed, config))
    return Result(
        question=found.question,
        answers=tuple(answers),
        is_known=bool(answers) and answers[0].probability >= reader.threshold,
        chains=tuple(ranked.chain for ranked in found.chains),
        paragraphs=found.paragraphs,
        seconds={},
    )
