"""One reader over the chains of any retrieval (checklist 30, 33).

To read is what takes the time: every chain is read once, and the answers are then chosen from it
by as many settings as are to be compared.
"""

from collections.abc import Hashable, Mapping, Sequence
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
    most = max(config.chains for config in settings.values())
    results: dict[Name, dict[str, Result]] = {name: {} for name in settings}
    for first in range(0, len(questions), BATCH):
        some = questions[first : first + BATCH]
        found = find(some)
        read = iter(reader.read(_pairs(found, most)))
        for asked, one in zip(some, found, strict=True):
            own = [next(read) for _ in one.chains[:most]]
            for name, config in settings.items():
                results[name][asked.question.id] = _result(reader, one, own, config)
        progress(stage, first + len(some), len(questions))
    return results


def _pairs(found: Sequence[Retrieved], most: int) -> list[tuple[str, list[Paragraph]]]:
    return [
        (one.question, [one.paragraphs[number] for number in ranked.chain.paragraphs])
        for one in found
        for ranked in one.chains[:most]
    ]


def _result(
    reader: ChainReader, found: Retrieved, read: Sequence[ChainRead], config: ReadConfig
) -> Result:
    count = worth_reading([ranked.score for ranked in found.chains], config)
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
