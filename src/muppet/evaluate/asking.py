"""Benchmark questions that a reader or the whole system answers → predictions, and their scores."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.domain import Answer, Paragraph, Result, SentenceRef
from muppet.evaluate.answers import Predictions
from muppet.evaluate.chains import RetrievalScores, score_chains
from muppet.evaluate.narrowing import gold_key
from muppet.evaluate.report import Report, score_predictions, score_retrieval, with_retrieval
from muppet.evaluate.retrieval import CUTOFFS
from muppet.knowledge.open import KnowledgeBase

Ask = Callable[[Sequence[str]], list[Result]]
"""The whole system: questions in, results out."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its answers, best first, and the titles of the paragraphs they name."""

    asked: BenchmarkQuestion
    answers: Sequence[Answer]
    titles: Mapping[str, str]


def ask_all(ask: Ask, questions: Sequence[BenchmarkQuestion]) -> dict[str, Result]:
    """What the whole system finds for each question, by the question's id."""
    results = ask([one.question.text for one in questions])
    return {one.question.id: result for one, result in zip(questions, results, strict=True)}


def answered(
    questions: Sequence[BenchmarkQuestion], results: Mapping[str, Result]
) -> list[Answered]:
    return [
        Answered(
            one,
            results[one.question.id].answers,
            _titles(results[one.question.id].paragraphs.values()),
        )
        for one in questions
    ]


def predictions_of(items: Iterable[Answered]) -> Predictions:
    """The best answers and their support, named as the benchmarks name it: by title."""
    items = list(items)
    support = {}
    for one in items:
        best = one.answers[0] if one.answers else None
        refs = best.support if best else ()
        support[one.asked.question.id] = frozenset(
            SentenceRef(one.titles[ref.paragraph], ref.index) for ref in refs
        )
    answers = {one.asked.question.id: one.answers[0].text for one in items if one.answers}
    return Predictions(answers, support)


def evaluate_results(
    knowledge: KnowledgeBase,
    questions: Sequence[BenchmarkQuestion],
    results: Mapping[str, Result],
) -> Report:
    """Official scores of the answers, and, where gold paragraphs are named, of the chains."""
    report = score_predictions(predictions_of(answered(questions, results)), questions)
    scores: dict[str, RetrievalScores] = {}
    for asked in questions:
        if asked.gold.paragraphs:
            gold = {gold_key(knowledge.store, one) for one in asked.gold.paragraphs}
            chains = [chain.paragraphs for chain in results[asked.question.id].chains]
            scores[asked.question.id] = score_chains(gold, chains, CUTOFFS)
    if not scores:
        return report
    return with_retrieval(report, score_retrieval(scores, questions))


def _titles(paragraphs: Iterable[Paragraph]) -> dict[str, str]:
    return {one.id: one.title for one in paragraphs}
