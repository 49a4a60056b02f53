"""Hard negatives: paragraphs that look right by their words and are not.

`squad_negatives` finds the paper's twelve of every SQuAD question among the training data
(checklist 18). `mine_lexical` asks a whole knowledge base, for any dataset, and keeps what it
found in a directory that a later run goes on filling:

    MINED/manifest.json      which engine, how many, of which state of the knowledge base
    MINED/questions.jsonl    {"id", "question", "first": numbers, "next": [numbers, …]}
    MINED/paragraphs.jsonl   {"number", "title", "sentences"}, each paragraph once

Numbers are those of the knowledge base, which is not needed to read the directory again.
"""

import html
import json
import os
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from muppet.artifact import MANIFEST, Manifest, read_manifest, write_json
from muppet.config import TfidfConfig
from muppet.domain import Paragraph, Progress, silent
from muppet.errors import ArtifactError
from muppet.knowledge.open import KnowledgeBase
from muppet.lexical.ngrams import hashed_ngrams
from muppet.lexical.tfidf import inverse_frequency
from muppet.train.data import truncated
from muppet.train.examples import TrainingData, TrainingQuestion, random_paragraph

# Of which kind the about twelve negatives of a SQuAD question are (checklist 18).
OF_SAME_ARTICLE = 3
OF_OTHER_ARTICLES = 2
RANDOM = 2

KIND = "mined negatives"
FORMAT = 1
SPARE = 10
"""Hits asked for beyond those kept, since some are gold."""

SAME_TITLE_OVERLAP = 0.5
"""Paragraphs of one title that share so much of the shorter one's words are one paragraph."""

Key = tuple[str, str]
"""A question's id and text: files without ids count from 1, each anew."""


@dataclass(frozen=True, slots=True)
class Mined:
    """What looks right for one question, best first, as numbers of the knowledge base.

    `first` was found by the question; `next[i]` by the question and its gold paragraph i.
    """

    first: tuple[int, ...]
    next: tuple[tuple[int, ...], ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys([*self.first, *(n for numbers in self.next for n in numbers)]))


@dataclass(frozen=True, slots=True)
class MinedNegatives:
    """Mined paragraphs by question, none of them gold of it, and the paragraphs themselves."""

    questions: Mapping[Key, Mined]
    paragraphs: Mapping[int, Paragraph]


def squad_negatives(
    data: TrainingData, rng: np.random.Generator, wanted: Container[int] | None = None
) -> dict[int, tuple[int, ...]]:
    """About twelve distinct paragraphs for the number of every SQuAD question, or of those that
    are wanted, none its gold.

    3 + 3 of its article nearest to the question and to its paragraph by TF-IDF, 2 + 2 of the
    first paragraphs of all other articles, 2 random ones. First paragraphs are the first of
    every title in the data: HotpotQA's belong to them, and so does what `with_mined` added from
    a knowledge base of Wikipedia's.
    """
    all_of_them = [n for n, question in enumerate(data.questions) if question.dataset == "squad"]
    numbers = [n for n in all_of_them if wanted is None or n in wanted]
    texts = [f"{paragraph.title}\n{paragraph.text}" for paragraph in data.paragraphs]
    paragraphs, questions = _weigh(texts, [data.questions[n].text for n in numbers])
    openings: dict[str, int] = {}
    for row, paragraph in enumerate(data.paragraphs):
        openings.setdefault(paragraph.title, row)
    everywhere = _postings(paragraphs, list(openings.values()))
    place_everywhere = {title: place for place, title in enumerate(openings)}
    articles = _articles(data, all_of_them)
    within: dict[str, _Postings] = {}
    nearest_to_gold: dict[int, list[int]] = {}
    found: dict[int, tuple[int, ...]] = {}
    for place, number in enumerate(numbers):
        (gold,) = data.questions[number].gold
        title = data.paragraphs[gold].title
        if title not in within:
            within = {title: _postings(paragraphs, articles[title])}  # they come one by one
        searches = [
            _Search(within[title], articles[title].index(gold), OF_SAME_ARTICLE),
            _Search(everywhere, place_everywhere[title], OF_OTHER_ARTICLES),
        ]
        if gold not in nearest_to_gold:
            nearest_to_gold[gold] = _nearest(paragraphs.of(gold), searches)
        near = [*_nearest(questions.of(place), searches), *nearest_to_gold[gold]]
        for _ in range(RANDOM):
            near.append(random_paragraph(data, {gold, *near}, rng))
        found[number] = tuple(dict.fromkeys(near))
    return found


def mine_lexical(
    data: TrainingData,
    knowledge: KnowledgeBase,
    directory: Path,
    *,
    keep: int,
    engine: str = "bm25",
    progress: Progress = silent,
) -> MinedNegatives:
    """For each question its `keep` best paragraphs of the whole knowledge base that are not gold.

    Then, for each of its gold paragraphs, the best for the question and that paragraph: what the
    next hop is tempted by. Questions that stand in `directory` already are not asked again.
    """
    _open_mined(directory, knowledge, keep, engine)
    mined = read_mined(directory)
    asked = dict(mined.questions)
    paragraphs = dict(mined.paragraphs)
    missing = [one for one in data.questions if question_key(one) not in asked]
    with (
        (directory / "paragraphs.jsonl").open("a", encoding="utf-8") as paragraph_lines,
        (directory / "questions.jsonl").open("a", encoding="utf-8") as question_lines,
    ):
        for done, question in enumerate(missing, 1):
            gold = [data.paragraphs[row] for row in question.gold]
            searches = [
                question.text,
                *(f"{question.text}\n{one.title}\n{one.text}" for one in gold),
            ]
            hits = [_not_gold(text, gold, knowledge, keep, engine) for text in searches]
            first, *later = (tuple(found) for found in hits)
            asked[question_key(question)] = Mined(first, tuple(later))
            unknown = {n: one for found in hits for n, one in found.items() if n not in paragraphs}
            paragraphs |= unknown
            for number, one in unknown.items():
                line = {"number": number, "title": one.title, "sentences": one.sentences}
                _write_line(paragraph_lines, line)
            paragraph_lines.flush()  # before the line that names them
            line = {"id": question.id, "question": question.text, "first": first, "next": later}
            _write_line(question_lines, line)
            progress("mining", done, len(missing))
    return MinedNegatives(asked, paragraphs)


def read_mined(directory: Path) -> MinedNegatives:
    """What has been mined into a directory so far."""
    read_manifest(directory, KIND, FORMAT, remake="muppet train")
    paragraphs = {
        line["number"]: Paragraph(line["title"], line["title"], tuple(line["sentences"]))
        for line in _lines(directory / "paragraphs.jsonl")
    }
    questions = {
        (line["id"], line["question"]): Mined(
            tuple(line["first"]), tuple(tuple(numbers) for numbers in line["next"])
        )
        for line in _lines(directory / "questions.jsonl")
    }
    return MinedNegatives(questions, paragraphs)


def with_mined(data: TrainingData, mined: MinedNegatives, *, max_tokens: int = 600) -> TrainingData:
    """The same questions, with what was mined for them behind their distractors."""
    paragraphs = list(data.paragraphs)
    rows = {(one.title, one.text): row for row, one in enumerate(paragraphs)}
    row_of: dict[int, int] = {}
    for number, paragraph in mined.paragraphs.items():
        short = truncated(paragraph, max_tokens)
        row = row_of[number] = rows.setdefault((short.title, short.text), len(paragraphs))
        if row == len(paragraphs):
            paragraphs.append(short)
    questions = []
    for question in data.questions:
        found = mined.questions.get(question_key(question))
        added = [row_of[number] for number in found.numbers] if found else []
        both = dict.fromkeys([*question.distractors, *added])
        distractors = tuple(row for row in both if row not in question.gold)
        questions.append(replace(question, distractors=distractors))
    return TrainingData(tuple(questions), tuple(paragraphs))


def _articles(data: TrainingData, numbers: Sequence[int]) -> dict[str, list[int]]:
    """The paragraphs of each SQuAD article; another benchmark may have its opening once more."""
    found: dict[str, dict[int, None]] = {}
    for row in (row for number in numbers for row in data.questions[number].gold):
        found.setdefault(data.paragraphs[row].title, {})[row] = None
    return {title: list(rows) for title, rows in found.items()}


class _Terms(NamedTuple):
    """Texts as TF-IDF vectors: text i has the entries `starts[i] : starts[i + 1]`."""

    starts: NDArray[np.int64]  # (texts + 1,)
    buckets: NDArray[np.int64]  # (entries,)
    weights: NDArray[np.float64]  # (entries,), tf * idf

    def of(self, text: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        own = slice(self.starts[text], self.starts[text + 1])
        return self.buckets[own], self.weights[own]


class _Postings(NamedTuple):
    """Some texts' entries, sorted by bucket."""

    rows: NDArray[np.int64]  # (texts,), which text it is
    buckets: NDArray[np.int64]  # (entries,), ascending
    places: NDArray[np.int64]  # (entries,), whose entry it is: a place in `rows`
    weights: NDArray[np.float64]  # (entries,)


def _weigh(paragraphs: Sequence[str], questions: Sequence[str]) -> tuple[_Terms, _Terms]:
    """Both as vectors, by the paper's weights of the paragraphs (checklist 5)."""
    config = TfidfConfig()
    counted = [_counted(texts, config) for texts in (paragraphs, questions)]
    paragraphs_with = np.bincount(counted[0][1], minlength=config.buckets)
    idf = inverse_frequency(len(paragraphs), paragraphs_with)
    both = [
        _Terms(
            np.searchsorted(text_of, np.arange(total + 1)), buckets, np.log1p(counts) * idf[buckets]
        )
        for total, (text_of, buckets, counts) in zip(
            (len(paragraphs), len(questions)), counted, strict=True
        )
    ]
    return both[0], both[1]


def _counted(
    texts: Sequence[str], config: TfidfConfig
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Text, bucket and count of every term, sorted by text and then by bucket."""
    text_of, buckets = hashed_ngrams(texts, config.ngrams, config.buckets)
    keys, counts = np.unique(text_of * config.buckets + buckets, return_counts=True)
    return keys // config.buckets, keys % config.buckets, counts


def _postings(terms: _Terms, rows: Sequence[int]) -> _Postings:
    own = [terms.of(row) for row in rows]
    buckets = np.concatenate([buckets for buckets, _ in own])
    weights = np.concatenate([weights for _, weights in own])
    places = np.repeat(np.arange(len(rows)), [len(buckets) for buckets, _ in own])
    order = np.argsort(buckets, kind="stable")
    return _Postings(np.array(rows), buckets[order], places[order], weights[order])


class _Search(NamedTuple):
    """Where to look for near texts, which place not to find, and how many to keep."""

    postings: _Postings
    excluded: int
    keep: int


def _nearest(
    text: tuple[NDArray[np.int64], NDArray[np.float64]], searches: Sequence[_Search]
) -> list[int]:
    """The nearest rows of each search that share a term at all, best first; ties in row order."""
    found: list[int] = []
    for postings, excluded, keep in searches:
        scores = _scores(postings, *text)
        scores[excluded] = 0.0
        for _ in range(keep):  # so few that sorting would take longer
            best = scores.argmax()
            if scores[best] > 0:
                found.append(int(postings.rows[best]))
                scores[best] = 0.0
    return found


def _scores(
    postings: _Postings, buckets: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The dot product of a text with each of the postings' texts: (texts,)."""
    firsts = np.searchsorted(postings.buckets, buckets)
    lengths = np.searchsorted(postings.buckets, buckets, side="right") - firsts
    before = np.cumsum(lengths) - lengths
    entries = np.arange(lengths.sum()) + np.repeat(firsts - before, lengths)
    products = postings.weights[entries] * np.repeat(weights, lengths)
    sums = np.bincount(postings.places[entries], products, minlength=len(postings.rows))
    return np.asarray(sums, dtype=np.float64)


def _not_gold(
    text: str, gold: Sequence[Paragraph], knowledge: KnowledgeBase, keep: int, engine: str
) -> dict[int, Paragraph]:
    """The best paragraphs for a text, best first, without those that are gold."""
    hops = knowledge.narrower(engine).narrow(text, keep + SPARE)
    here = knowledge.store.paragraphs([hop.paragraph for hop in hops])
    found = {
        hop.paragraph: here[hop.paragraph]
        for hop in hops
        if hop.paragraph in here and not any(_is_same(here[hop.paragraph], one) for one in gold)
    }
    return dict(list(found.items())[:keep])


def _is_same(paragraph: Paragraph, gold: Paragraph) -> bool:
    """Whether it is this gold paragraph, maybe as another dump or another splitter has it."""
    mine, its = paragraph.text.split(), gold.text.split()
    if html.unescape(paragraph.title) != html.unescape(gold.title):
        return mine == its
    shared = len({*mine} & {*its})
    return shared >= SAME_TITLE_OVERLAP * min(len({*mine}), len({*its}))


def question_key(question: TrainingQuestion) -> Key:
    return question.id, question.text


def _open_mined(directory: Path, knowledge: KnowledgeBase, keep: int, engine: str) -> None:
    """Make the directory, or refuse one that was mined in another way; mend a torn last line."""
    made_from = {"paragraphs": str(knowledge.store.revision)}
    manifest = Manifest(KIND, FORMAT, {"engine": engine, "keep": keep}, made_from)
    if not directory.exists():
        directory.mkdir(parents=True)
        write_json(directory / MANIFEST, asdict(manifest))
    if read_manifest(directory, KIND, FORMAT, remake="muppet train") != manifest:
        raise ArtifactError(
            f"{directory} was mined with another engine, number of paragraphs or knowledge base. "
            "Choose another directory, or delete this one."
        )
    for name in ("paragraphs.jsonl", "questions.jsonl"):
        path = directory / name
        path.touch()
        whole = path.read_bytes().rpartition(b"\n")
        os.truncate(path, len(whole[0]) + len(whole[1]))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        yield from (json.loads(line) for line in stream if line.endswith("\n"))  # else torn


def _write_line(stream: TextIO, content: dict[str, Any]) -> None:
    stream.write(json.dumps(content, ensure_ascii=False) + "\n")
