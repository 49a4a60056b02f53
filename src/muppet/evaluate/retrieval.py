"""How well chains are found, beside what does without a trained model (checklist 22, 30-33).

A system is a function from questions to their chains, best first; all are scored alike.
"""

from collections.abc import Callable, Mapping, Sequence

from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.domain import Chain, Hop, Progress
from muppet.errors import QuestionError
from muppet.evaluate.chains import score_chains
from muppet.evaluate.narrowing import gold_key
from muppet.evaluate.pairs import pairs_of
from muppet.evaluate.report import Report, score_retrieval
from muppet.knowledge.open import KnowledgeBase
from muppet.retrieve.beam import Ranked
from muppet.retrieve.names import with_chain
from muppet.retrieve.retriever import Retriever

CUTOFFS = (1, 2, 4, 8, 16, 32, 45)
BATCH = 16
"""Questions that are retrieved together."""
BEAM = 8

System = Callable[[Sequence[str]], list[list[Chain]]]


def lexical_pairs(knowledge: KnowledgeBase, engine: str) -> System:
    """All pairs of the ten best paragraphs by words (checklist 7)."""

    def find(questions: Sequence[str]) -> list[list[Chain]]:
        return [pairs_of(knowledge.narrow(question, 10, engine)) for question in questions]

    return find


def lexical_requery(knowledge: KnowledgeBase, engine: str = "bm25") -> System:
    """Two hops by words: the question alone, then with each of the eight best paragraphs.

    Longer questions score higher whatever they find, so every list counts in shares of its best.
    """

    def find(questions: Sequence[str]) -> list[list[Chain]]:
        return [_requeried(knowledge, question, engine) for question in questions]

    return find


def one_shot_pairs(retriever: Retriever) -> System:
    """All pairs of the ten best paragraphs by a model's first hop; it must be asked for one."""

    def find(questions: Sequence[str]) -> list[list[Chain]]:
        found = retriever.retrieve_many(questions)
        return [pairs_of([one.chain.hops[0] for one in each.chains]) for each in found]

    return find


def model_chains(retriever: Retriever) -> System:
    """The chains of multi-hop retrieval."""

    def find(questions: Sequence[str]) -> list[list[Chain]]:
        return [_chains(found.chains) for found in retriever.retrieve_many(questions)]

    return find


def evaluate_systems(
    knowledge: KnowledgeBase,
    systems: Mapping[str, System],
    questions: Sequence[BenchmarkQuestion],
    progress: Progress,
) -> dict[str, Report]:
    """Perfect@k, hits@k and at-least-one@k of every system, by type of question."""
    asked = [item for item in questions if item.gold.paragraphs]
    if not asked:
        raise QuestionError(
            "None of these questions names its gold paragraphs, so retrieval cannot be scored."
        )
    gold = {
        item.question.id: {gold_key(knowledge.store, one) for one in item.gold.paragraphs}
        for item in asked
    }
    reports = {}
    for name, system in systems.items():
        scores = {}
        for first in range(0, len(asked), BATCH):
            some = asked[first : first + BATCH]
            found = system([item.question.text for item in some])
            for item, chains in zip(some, found, strict=True):
                paragraphs = [chain.paragraphs for chain in chains]
                id_ = item.question.id
                scores[id_] = score_chains(gold[id_], paragraphs, CUTOFFS)
            progress(name, first + len(some), len(asked))
        reports[name] = score_retrieval(scores, questions)
    return reports


def _chains(ranked: Sequence[Ranked]) -> list[Chain]:
    return [one.chain for one in ranked]


def _requeried(knowledge: KnowledgeBase, question: str, engine: str) -> list[Chain]:
    first = _shares(knowledge.narrow(question, BEAM, engine))
    paragraphs = knowledge.store.paragraphs([hop.paragraph for hop in first])
    best: dict[frozenset[int], Chain] = {}
    for hop in first:
        read = paragraphs[hop.paragraph]
        asked = with_chain(question, [read])
        for second in _shares(knowledge.narrow(asked, max(CUTOFFS) + 1, engine)):
            chain = Chain((hop, second))
            key = frozenset(chain.paragraphs)
            if len(key) == 2 and (key not in best or best[key].score < chain.score):
                best[key] = chain
    return sorted(best.values(), key=lambda chain: -chain.score)[: max(CUTOFFS)]


def _shares(hops: Sequence[Hop]) -> list[Hop]:
    return [Hop(hop.paragraph, hop.score / hops[0].score) for hop in hops if hops[0].score > 0]
