"""How well lexical narrowing finds the gold paragraphs: Figure (a) (checklist 22, 32)."""

import html
from collections.abc import Hashable, Sequence

from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.corpus.store import Store
from muppet.domain import Paragraph, Progress
from muppet.errors import QuestionError
from muppet.evaluate.chains import CUTOFFS, RetrievalScores, score_ranking
from muppet.evaluate.report import Report, score_retrieval
from muppet.knowledge.open import KnowledgeBase


def evaluate_narrowing(
    knowledge: KnowledgeBase,
    engine: str,
    questions: Sequence[BenchmarkQuestion],
    progress: Progress,
) -> Report:
    """At-least-one@k and potentially-perfect@k of one lexical engine, k up to 512."""
    with_gold = [question for question in questions if question.gold.paragraphs]
    if not with_gold:
        raise QuestionError(
            "None of these questions names its gold paragraphs, so retrieval cannot be scored."
        )
    scores: dict[str, RetrievalScores] = {}
    for done, item in enumerate(with_gold, start=1):
        gold = [gold_key(knowledge.store, paragraph) for paragraph in item.gold.paragraphs]
        hops = knowledge.narrow(item.question.text, max(CUTOFFS), engine)
        scores[item.question.id] = score_ranking(gold, [hop.paragraph for hop in hops])
        progress(engine, done, len(with_gold))
    return score_retrieval(scores, questions)


def gold_key(store: Store, gold: Paragraph) -> Hashable:
    """The number of a gold paragraph in this store; a key that nothing matches if it is not there.

    Benchmarks name paragraphs by title. Where several have that title, the one with the gold
    text is meant, or the one that shares most words with it.
    """
    found = store.by_title(gold.title) or store.by_title(html.unescape(gold.title))
    if not found:
        return ("missing", gold.title)
    if len(found) == 1:
        return next(iter(found))
    wanted = set(gold.text.split())
    return max(found, key=lambda number: len(wanted & set(found[number].text.split())))


def count_missing(store: Store, questions: Sequence[BenchmarkQuestion]) -> int:
    """How many gold paragraphs are not in the store at all."""
    gold = {paragraph.title: paragraph for q in questions for paragraph in q.gold.paragraphs}
    return sum(not isinstance(gold_key(store, paragraph), int) for paragraph in gold.values())
