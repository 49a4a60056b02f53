"""What Tables 1 and 2 share: one reader over the chains of several systems, and their ratios.

Every system's chains are read once, and answers chosen from them in two ways. Plainly, as in the
paper: up to 45 chains count, and what retrieval thinks of them does not. And with scores counting,
by the settings of the knowledge base, as in `muppet ask`: a chain's score is added to what was
read in it, so that a few chains are enough, and the sentences that a paragraph was found by are
support the sooner. Words have no log probabilities and no such sentences: their chains score by
the share of the best one's that they lack, 0 down to -1, times --words-weight. All other settings
(the longest span and what length costs, merging, the threshold of support) are the same
everywhere; they were chosen with the model's chains.

What is fair: the whole system over plain TF-IDF is what a user gains; plain over plain is the
paper's comparison, of the chains and nothing else; and the whole system over TF-IDF whose scores
count gives the baseline all that can be given to it.
"""

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from shared import (
    add_reader,
    arguments,
    head,
    markdown,
    means_of,
    per_cent,
    reading_all,
    settings_of,
    tell,
    times,
    values_of,
    warn_of_missing,
)

from muppet.cli.progress import ProgressLine
from muppet.config import Config, ReadConfig
from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.evaluate import retrieval
from muppet.evaluate.asking import answered, predictions_of
from muppet.evaluate.bootstrap import Estimate, ratio_of
from muppet.evaluate.finding import Find, by_model, by_words
from muppet.evaluate.reading import read_found
from muppet.evaluate.report import QuestionScores, score_questions
from muppet.knowledge.open import KnowledgeBase
from muppet.read.reader import ChainReader
from muppet.retrieve.retriever import open_retriever

TFIDF, BM25 = "TF-IDF", "BM25"
SENTENCE, PARAGRAPH = "sentence level", "paragraph level"
COUNTING = ", scores count"

Lexical = Callable[[KnowledgeBase, str], retrieval.System]
"""A knowledge base and the name of an engine → chains by words."""
Scored = dict[str, list[QuestionScores]]
"""By row of the table: what each question scored, in the order of the questions."""


@dataclass(frozen=True, slots=True)
class Further:
    """What an experiment tells beside its table, for people and for programs."""

    text: str = ""
    facts: dict[str, object] = field(default_factory=dict)


More = Callable[[KnowledgeBase, ChainReader, Scored], Further]


def nothing_more(_knowledge: KnowledgeBase, _reader: ChainReader, _scored: Scored) -> Further:
    return Further()


@dataclass(frozen=True, slots=True)
class Published:
    """The paper's rows of a table, its columns, and what the ratio is of."""

    columns: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]
    measure: str
    ratios: str


@dataclass(frozen=True, slots=True)
class System:
    """A way to find chains, and how answers are chosen from what was read in them."""

    find: Find
    read: ReadConfig


@dataclass(frozen=True, slots=True)
class Ratio:
    """One row's mean over another's."""

    measure: str
    row: str
    other: str
    ratio: Estimate


def comparison_arguments(doc: str, *, skip: int) -> argparse.ArgumentParser:
    parser = arguments(doc, skip=skip)
    parser.add_argument("questions", type=Path)
    add_reader(parser)
    parser.add_argument("--paragraph-model", type=Path, help="A paragraph-level encoder as well.")
    parser.add_argument("--bm25", action="store_true", help="BM25 as well.")
    parser.add_argument("--chains", type=int, default=45, help="In plain rows [%(default)s].")
    parser.add_argument("--words-weight", type=float, help="chain_weight of words [the KB's].")
    return parser


def compare(
    asked: argparse.Namespace,
    questions: Sequence[BenchmarkQuestion],
    published: Published,
    *,
    lexical: Lexical,
    settings: Callable[[Config], Config],
    more: More = nothing_more,
) -> None:
    """The whole experiment: find, read, score, tell; `more` is told behind it."""
    progress = ProgressLine()
    with KnowledgeBase(asked.kb) as knowledge:
        warn_of_missing(knowledge, questions)
        config = settings(settings_of(knowledge, asked.config))
        systems = _systems(knowledge, config, asked, lexical, progress)
        reader = ChainReader(asked.reader, asked.threads)
        scored: Scored = {}
        for name, system in systems.items():
            scored |= _read(name, system, reader, questions, asked.chains, progress)
        further = more(knowledge, reader, scored)
    progress.close()
    _tell(scored, published, further, as_json=asked.json)


def _systems(
    knowledge: KnowledgeBase,
    config: Config,
    asked: argparse.Namespace,
    lexical: Lexical,
    progress: ProgressLine,
) -> dict[str, System]:
    """The baselines, and then the models; all are opened before the first is asked."""
    engines = {TFIDF: "tfidf"} | ({BM25: "bm25"} if asked.bm25 else {})
    models = {SENTENCE: asked.model}
    if asked.paragraph_model:
        models[PARAGRAPH] = asked.paragraph_model
    weight = config.read.chain_weight if asked.words_weight is None else asked.words_weight
    systems = {}
    for name, engine in engines.items():
        knowledge.narrower(engine, progress)
        find = by_words(knowledge, lexical(knowledge, engine))
        read = replace(config.read, chain_weight=weight, margin=math.inf)  # theirs are no log
        systems[name] = System(find, read)  # probabilities, which the margin was chosen for
    for name, model in models.items():
        retriever = open_retriever(knowledge, model, config.retrieve, progress)
        systems[name] = System(by_model(retriever), config.read)
    return systems


def _read(
    name: str,
    system: System,
    reader: ChainReader,
    questions: Sequence[BenchmarkQuestion],
    chains: int,
    progress: ProgressLine,
) -> Scored:
    """The two rows of a system."""
    plain = replace(reading_all(system.read, chains), chain_weight=0.0, match_weight=0.0)
    settings = {name: plain, name + COUNTING: system.read}
    results = read_found(system.find, reader, questions, settings, progress, name)
    return {
        row: score_questions(predictions_of(answered(questions, found)), questions)
        for row, found in results.items()
    }


def _tell(scored: Scored, published: Published, further: Further, *, as_json: bool) -> None:
    means = {row: means_of(scores) for row, scores in scored.items()}
    ratios = _ratios(scored, published.measure)
    rows = [[row, *(per_cent(own[one]) for one in published.columns)] for row, own in means.items()]
    rows += [[row, *own] for row, own in published.rows.items()]
    count = len(scored[TFIDF])
    text = [
        f"{count} questions, per cent, 95 % intervals; chains are read plainly, or their scores "
        "count",
        markdown(["", *map(head, published.columns)], rows),
        markdown(
            [f"ratio of {head(published.measure)}", "", "times"],
            [[one.row, f"/ {one.other}", times(one.ratio)] for one in ratios],
        ),
        published.ratios,
        *([further.text] if further.text else []),
    ]
    facts = {"questions": count, "means": means, "ratios": ratios} | further.facts
    tell("\n\n".join(text), facts, as_json=as_json)


def _ratios(scored: Scored, measure: str) -> list[Ratio]:
    """The whole system over plain words, plain over plain, and both with their scores."""
    found = []
    for name in (SENTENCE, PARAGRAPH):
        for words in (TFIDF, BM25):
            if name in scored and words in scored:
                whole = name + COUNTING
                for row, other in ((whole, words), (name, words), (whole, words + COUNTING)):
                    values, others = (values_of(scored[one], measure) for one in (row, other))
                    found.append(Ratio(measure, row, other, ratio_of(values, others)))
    return found
