"""Benchmark questions that a reader or the whole system answers → predictions, and their scores."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from muppet.config import ReadConfig
from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.domain import Answer, Paragraph, Progress, Result, SentenceRef, silent
from muppet.encode.encoder import Asked, TextEncoder
from muppet.evaluate.answers import Predictions
from muppet.evaluate.chains import RetrievalScores, score_chains
from muppet.evaluate.narrowing import gold_key
from muppet.evaluate.report import Report, score_predictions, score_retrieval, with_retrieval
from muppet.evaluate.retrieval import CUTOFFS
from muppet.knowledge.open import KnowledgeBase
from muppet.read.answers import choose_answers, favoured
from muppet.read.reader import ChainReader
from muppet.retrieve.beam import log_sigmoid

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


def read_own(
    reader: ChainReader,
    questions: Sequence[BenchmarkQuestion],
    config: ReadConfig,
    progress: Progress = silent,
    encoder: TextEncoder | None = None,
) -> list[Answered]:
    """Answers from the paragraphs that each question's file gives it: the distractor setting.

    A question with gold of one paragraph reads that alone (SQuAD); else every pair is read, or,
    with an encoder, those pairs that it believes in most, whose scores count as they do in `ask`.
    """
    found = []
    for place, asked in enumerate(questions, start=1):
        if encoder is None or len(asked.gold.paragraphs) == 1:
            chains = [(0.0, chain) for chain in own_chains(asked)]
        else:
            chains = rank_own(encoder, asked)[: config.chains]
        read = reader.read([(asked.question.text, chain) for _, chain in chains])
        weighed = [
            favoured(one, config.chain_weight * score)
            for one, (score, _) in zip(read, chains, strict=True)
        ]
        answers = reader.calibrated(choose_answers(weighed, config))
        found.append(Answered(asked, answers, _titles(asked.context)))
        progress("reading", place, len(questions))
    return found


def own_chains(asked: BenchmarkQuestion) -> list[tuple[Paragraph, ...]]:
    """The gold paragraph of a question of one hop, or all pairs of the paragraphs it is given."""
    if len(asked.gold.paragraphs) == 1:
        return [asked.gold.paragraphs]
    return list(combinations(asked.context, 2))


def rank_own(
    encoder: TextEncoder, asked: BenchmarkQuestion
) -> list[tuple[float, tuple[Paragraph, ...]]]:
    """All pairs of a question's own paragraphs in their better order, the likeliest first, with
    the sum of both hops' log probabilities."""
    question, own = asked.question.text, asked.context
    rows = encoder.sentences(own)
    first = encoder.ask([question])
    second = encoder.ask_after([question] * len(own), [[one] for one in own])

    def score(hop: Asked, row: int, paragraph: int) -> float:
        best = float((rows[paragraph] @ hop.search[row]).max()) + float(hop.offset[row])
        return float(log_sigmoid(np.array(best)))

    pairs: dict[frozenset[int], tuple[float, tuple[Paragraph, ...]]] = {}
    for one, other in permutations(range(len(own)), 2):
        found = (score(first, 0, one) + score(second, one, other), (own[one], own[other]))
        pairs[frozenset((one, other))] = max(
            found, pairs.get(frozenset((one, other)), found), key=lambda pair: pair[0]
        )
    return sorted(pairs.values(), key=lambda pair: -pair[0])


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
