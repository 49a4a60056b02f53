"""Ways to find chains for benchmark questions, and what each question's chains score.

By a model's hops, by words alone (the baselines of Tables 1 and 2), or among the paragraphs that
a question's file gives it (the distractor setting). All are read alike by `evaluate/reading.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from muppet.bounds import at_hop
from muppet.config import Bm25Config, RetrieveConfig
from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.domain import Chain, Hop, Paragraph, Progress, silent
from muppet.encode.encoder import Asked, TextEncoder
from muppet.errors import QuestionError
from muppet.evaluate.chains import RetrievalScores, score_chains
from muppet.evaluate.narrowing import gold_key
from muppet.evaluate.retrieval import BATCH, CUTOFFS, System
from muppet.index.mips import best_sentences
from muppet.knowledge.open import KnowledgeBase
from muppet.lexical.bm25 import terms_of
from muppet.retrieve.beam import BeamSettings, Prefix, Ranked, beam_search, log_sigmoid
from muppet.retrieve.coverage import Terms
from muppet.retrieve.judge import rank_whole
from muppet.retrieve.names import known_text, name_of, unnamed
from muppet.retrieve.retriever import Retrieved, Retriever

HOPS = 2
"""The length of the chains among a question's own paragraphs, if it has so many."""
KEEP = 45

Find = Callable[[Sequence[BenchmarkQuestion]], list[Retrieved]]
"""A few questions in, their chains out, best first, with the paragraphs they name."""


def by_model(retriever: Retriever) -> Find:
    """The chains of multi-hop retrieval."""

    def find(questions: Sequence[BenchmarkQuestion]) -> list[Retrieved]:
        return retriever.retrieve_many([one.question.text for one in questions])

    return find


def by_words(knowledge: KnowledgeBase, system: System) -> Find:
    """The chains of a system that does without a model.

    Its scores are of no common scale, so a chain has the share of the best one's that it lacks:
    0 for the best, down to -1.
    """

    def find(questions: Sequence[BenchmarkQuestion]) -> list[Retrieved]:
        texts = [one.question.text for one in questions]
        found = system(texts)
        numbers = {n for chains in found for chain in chains for n in chain.paragraphs}
        paragraphs = knowledge.store.paragraphs(sorted(numbers))
        return [
            Retrieved(text, _by_shares(chains), paragraphs)
            for text, chains in zip(texts, found, strict=True)
        ]

    return find


def lexical_paragraphs(knowledge: KnowledgeBase, engine: str, keep: int = KEEP) -> System:
    """The best paragraphs by words, each a chain of one hop."""

    def find(questions: Sequence[str]) -> list[list[Chain]]:
        found = knowledge.narrow_many(questions, keep, engine)
        return [[Chain((hop,)) for hop in hops] for hops in found]

    return find


def among_own(encoder: TextEncoder, config: RetrieveConfig, keep: int = KEEP) -> Find:
    """The best pairs of each question's own paragraphs, by the model: the distractor setting.

    All pairs are searched, and ranked as retrieval ranks them by these settings. Only BM25 counts
    for nothing here, whatever `lexical_weight`: nothing was narrowed.
    """
    terms = terms_of(Bm25Config())

    def find(questions: Sequence[BenchmarkQuestion]) -> list[Retrieved]:
        return [_best_own(encoder, one, config, keep, terms) for one in questions]

    return find


def every_own(questions: Sequence[BenchmarkQuestion]) -> list[Retrieved]:
    """All pairs of each question's own paragraphs, none above another; for SQuAD the gold one."""
    return [_every_own(one.question.text, own_paragraphs(one)) for one in questions]


def own_paragraphs(asked: BenchmarkQuestion) -> tuple[Paragraph, ...]:
    """What a question's file gives it to read; where a single paragraph is gold, that alone."""
    own = asked.gold.paragraphs if len(asked.gold.paragraphs) == 1 else asked.context
    if not own:
        raise QuestionError(
            f"Question {asked.question.id} brings no paragraphs of its own. Use a benchmark's "
            "file with contexts."
        )
    return own


def find_all(
    find: Find, questions: Sequence[BenchmarkQuestion], stage: str, progress: Progress = silent
) -> dict[str, list[Chain]]:
    """The chains of all questions, by the question's id."""
    found: dict[str, list[Chain]] = {}
    for first in range(0, len(questions), BATCH):
        some = questions[first : first + BATCH]
        for asked, one in zip(some, find(some), strict=True):
            found[asked.question.id] = [ranked.chain for ranked in one.chains]
        progress(stage, first + len(some), len(questions))
    return found


def score_found(
    knowledge: KnowledgeBase,
    questions: Sequence[BenchmarkQuestion],
    chains: Mapping[str, Sequence[Chain]],
) -> list[RetrievalScores]:
    """What the chains of each question score, in order; all must name their gold paragraphs."""
    return [
        score_chains(
            {gold_key(knowledge.store, one) for one in asked.gold.paragraphs},
            [chain.paragraphs for chain in chains[asked.question.id]],
            CUTOFFS,
        )
        for asked in questions
    ]


def _by_shares(chains: Sequence[Chain]) -> list[Ranked]:
    best = chains[0].score if chains and chains[0].score > 0 else 1.0
    return [Ranked(chain, chain.score / best - 1) for chain in chains]


def _best_own(
    encoder: TextEncoder, asked: BenchmarkQuestion, config: RetrieveConfig, keep: int, terms: Terms
) -> Retrieved:
    question, own = asked.question.text, own_paragraphs(asked)
    if len(own) < HOPS:
        return _every_own(question, own)
    rows = encoder.sentences(own)
    starts = np.cumsum([0, *map(len, rows[:-1])])
    names = [name_of(one.title) for one in own]

    def ask(prefixes: Sequence[Prefix]) -> Asked:
        if not prefixes[0].chain.hops:
            return encoder.ask([question])
        chains = [[own[number] for number in prefix.chain.paragraphs] for prefix in prefixes]
        return encoder.ask_after([question] * len(chains), chains)

    def search(asked: Asked, prefixes: Sequence[Prefix], hop: int) -> list[list[Hop]]:
        products, sentences = best_sentences(np.concatenate(rows), starts, asked.search)
        scores = log_sigmoid((products + asked.offset[:, None]) / config.temperature)
        weight = at_hop(config.title_weights, hop)
        for row, prefix in zip(scores, prefixes, strict=True):
            read = [own[number] for number in prefix.chain.paragraphs]
            row -= weight * unnamed(names, known_text(question, read))
        return [
            [Hop(number, *hop) for number, hop in enumerate(zip(*pair, strict=True))]
            for pair in zip(scores.tolist(), sentences.tolist(), strict=True)
        ]

    settings = BeamSettings(HOPS, widths=(len(own),), keep=keep)
    chains = beam_search(1, settings, ask=ask, search=search)
    texts = dict(enumerate(own))
    (ranked,) = rank_whole(encoder, [question], chains, texts, config, terms)
    return Retrieved(question, ranked, texts)


def _every_own(question: str, own: Sequence[Paragraph]) -> Retrieved:
    chains = combinations((Hop(number, 0.0) for number in range(len(own))), min(HOPS, len(own)))
    return Retrieved(question, [Ranked(Chain(one), 0.0) for one in chains], dict(enumerate(own)))
