"""What went wrong, the surest mistakes first, and whether the second hop was worth it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.domain import Answer, Result
from muppet.evaluate.asking import answered, predictions_of
from muppet.evaluate.report import score_questions

BestTitles = Mapping[str, Sequence[str]]
"""By question id: the titles of the paragraphs that are best for the plain question, in order."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong answer beside the right one, with what each rests on."""

    question: str
    said: str
    probability: float
    right: tuple[str, ...]
    chain: tuple[str, ...]  # titles
    gold: tuple[str, ...]  # titles
    support: tuple[str, ...]  # sentences

    @property
    def stage(self) -> str:
        """What failed: the chain was not the gold one, or it was misread."""
        return "reading" if set(self.chain) == set(self.gold) else "retrieval"


@dataclass(frozen=True, slots=True)
class SecondHop:
    """Of the questions with gold of several paragraphs, in shares.

    `by_question` have all of it among as many paragraphs as it has, the best for the plain
    question; `by_chain` have it as their first chain; `only_by_chain` have the second but not the
    first.
    """

    questions: int
    by_question: float
    by_chain: float
    only_by_chain: float


def find_mistakes(
    questions: Sequence[BenchmarkQuestion], results: Mapping[str, Result], most: int = 50
) -> list[Mistake]:
    """Wrong answers (no exact match), those that were believed most first."""
    scores = score_questions(predictions_of(answered(questions, results)), questions)
    wrong = [
        _mistake(asked, results[asked.question.id])
        for asked, score in zip(questions, scores, strict=True)
        if score.answer is not None and score.answer.em < 1 and results[asked.question.id].answers
    ]
    return sorted(wrong, key=lambda one: -one.probability)[:most]


def second_hop(
    questions: Sequence[BenchmarkQuestion], results: Mapping[str, Result], best: BestTitles
) -> SecondHop | None:
    """Whether chains find what the question alone does not; None without questions of two hops."""
    asked = [one for one in questions if len(one.gold.paragraphs) > 1]
    if not asked:
        return None
    alone, together = [], []
    for one in asked:
        result = results[one.question.id]
        gold = {paragraph.title for paragraph in one.gold.paragraphs}
        alone.append(set(best[one.question.id][: len(gold)]) == gold)
        first = result.chains[0].paragraphs if result.chains else ()
        together.append({result.paragraphs[number].title for number in first} == gold)
    gained = [chain and not question for question, chain in zip(alone, together, strict=True)]
    count = len(asked)
    return SecondHop(count, sum(alone) / count, sum(together) / count, sum(gained) / count)


def _mistake(asked: BenchmarkQuestion, result: Result) -> Mistake:
    best = result.answers[0]
    chain = result.chain_of(best)
    return Mistake(
        question=asked.question.text,
        said=best.text,
        probability=best.probability,
        right=asked.gold.answers,
        chain=tuple(result.paragraphs[number].title for number in chain.paragraphs),
        gold=tuple(paragraph.title for paragraph in asked.gold.paragraphs),
        support=_support(best, result),
    )


def _support(answer: Answer, result: Result) -> tuple[str, ...]:
    by_id = {paragraph.id: paragraph for paragraph in result.paragraphs.values()}
    return tuple(
        " ".join(by_id[one.paragraph].sentences[one.index].split()) for one in answer.support
    )
