"""Benchmark files → one TrainingData: questions with gold, and every paragraph once.

Paragraphs are cut to a number of tokens by whole trailing sentences; a question is left out,
and counted, where that or its file leaves it without its evidence (checklist 17, 18).
"""

import bisect
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import accumulate
from pathlib import Path

from muppet.corpus.benchmarks import VERDICT, BenchmarkQuestion, Gold, read_questions
from muppet.domain import Paragraph
from muppet.text.stopwords import STOP_WORDS
from muppet.text.tokens import tokenize, words
from muppet.train.bridges import KIND as COMPOSED
from muppet.train.examples import TrainingData, TrainingQuestion

MOST_HOPS = 4

_ONLY_2WIKI = frozenset({"compositional", "inference", "bridge_comparison"})
_HOPS = re.compile(r"([2-9])hop")


@dataclass(frozen=True, slots=True)
class Dropped:
    """How many questions of a dataset were left out, by the first reason that applied."""

    repeated: int = 0
    """The same id and question came before, in this file or another one."""
    without_gold: int = 0
    """No gold paragraph, or one without text."""
    without_decomposition: int = 0
    """MuSiQue: not one gold paragraph per hop (test rows, unanswerable questions)."""
    too_many_hops: int = 0
    """More gold paragraphs than `MOST_HOPS`."""
    support_lost: int = 0
    """A supporting sentence, or where none is marked the answer, stood in what was cut off."""
    only_stop_words: int = 0
    """Nothing to search for: too dependent on its paragraph (checklist 18)."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the files gave, and for every dataset in them what was left out."""

    data: TrainingData
    dropped: Mapping[str, Dropped]

    def left_out(self) -> list[str]:
        """A line for each dataset that lost questions: how many, and why."""
        kept = Counter(question.dataset for question in self.data.questions)
        lines = []
        for dataset, dropped in self.dropped.items():
            reasons = {name: count for name, count in asdict(dropped).items() if count}
            if reasons:
                lost = sum(reasons.values())
                told = ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in reasons.items())
                lines.append(
                    f"{dataset}: {lost:,} of {lost + kept[dataset]:,} questions left out ({told})."
                )
        return lines


def load_training_data(files: Sequence[Path], *, max_tokens: int = 600) -> TrainingData:
    """The questions of all files in their order, without counts of what was left out."""
    return read_training_data(files, max_tokens=max_tokens).data


def read_training_data(files: Sequence[Path], *, max_tokens: int = 600) -> Loaded:
    """What `load_training_data` gives, with the counts of what was left out."""
    pool = _Pool(max_tokens)
    found: list[TrainingQuestion] = []
    reasons: dict[str, Counter[str]] = {}
    seen: set[tuple[str, str, str]] = set()
    for path in files:
        items = read_questions(path)
        dataset = dataset_of(items)
        counts = reasons.setdefault(dataset, Counter())
        neighbours = _neighbours(items, pool) if dataset == "squad" else {}
        for item in items:
            key = (dataset, item.question.id, item.question.text)
            reason = "repeated" if key in seen else _reason_to_drop(item, dataset, pool)
            if reason:
                counts[reason] += 1
                continue
            seen.add(key)
            found.append(_training_question(item, dataset, pool, neighbours))
    names = [field.name for field in fields(Dropped)]
    dropped = {
        dataset: Dropped(**{name: counts[name] for name in names})
        for dataset, counts in reasons.items()
    }
    return Loaded(TrainingData(tuple(found), tuple(pool.paragraphs)), dropped)


def dataset_of(items: Sequence[BenchmarkQuestion]) -> str:
    """Which benchmark the questions of one file are from, told by their kinds.

    2Wiki has kinds of its own beside the `comparison` it shares with HotpotQA; MuSiQue's kinds
    count hops; SQuAD's questions are all single and mark no sentence; those that `comparisons`
    makes all compare, those of `bridges` and `compositions` are all composed, and BoolQ's all ask
    for a verdict. The rest is of HotpotQA.
    """
    kinds = {item.gold.kind for item in items}
    if kinds & _ONLY_2WIKI:
        return "2wiki"
    if any(_HOPS.fullmatch(kind) for kind in kinds):
        return "musique"
    if kinds == {"single"} and not any(item.gold.support for item in items):
        return "squad"
    if kinds == {COMPOSED}:
        return "bridges"
    if kinds == {VERDICT}:
        return "boolq"
    return "comparisons" if kinds == {"comparison"} else "hotpotqa"


def truncated(paragraph: Paragraph, max_tokens: int) -> Paragraph:
    """The paragraph without the trailing sentences that do not fit; numbers never shift.

    The title is read with the first sentence and counts too. A first sentence that alone is too
    long is cut behind its last token that fits: no paragraph becomes empty.
    """
    room = max(max_tokens - len(words(f"{paragraph.title}. ")), 1)
    if len(paragraph.text) <= room:  # a token has at least one character
        return paragraph
    tokens = 0
    for number, sentence in enumerate(paragraph.sentences):
        tokens_before, tokens = tokens, tokens + len(words(sentence))
        if tokens > room:
            kept = paragraph.sentences[:number]
            if tokens_before == 0:
                kept += (sentence[: tokenize(sentence).ends[room - 1]],)
            return replace(paragraph, sentences=kept)
    return paragraph


class _Pool:
    """The paragraphs found so far, truncated, each once; `row` tells or gives the row of one."""

    def __init__(self, max_tokens: int) -> None:
        self.paragraphs: list[Paragraph] = []
        self._max_tokens = max_tokens
        self._rows: dict[tuple[str, str], int] = {}
        self._short: dict[tuple[str, ...], Paragraph] = {}

    def short(self, paragraph: Paragraph) -> Paragraph:
        key = (paragraph.title, *paragraph.sentences)  # benchmarks split one text differently
        if key not in self._short:
            self._short[key] = truncated(paragraph, self._max_tokens)
        return self._short[key]

    def row(self, paragraph: Paragraph) -> int:
        short = self.short(paragraph)
        row = self._rows.setdefault((short.title, short.text), len(self.paragraphs))
        if row == len(self.paragraphs):
            self.paragraphs.append(short)
        return row

    def rows(self, paragraphs: Iterable[Paragraph]) -> tuple[int, ...]:
        """Those that have text, each once, in their order."""
        return tuple(dict.fromkeys(self.row(one) for one in paragraphs if one.text.strip()))


def _neighbours(items: Iterable[BenchmarkQuestion], pool: _Pool) -> dict[int, tuple[int, ...]]:
    """For every paragraph of a SQuAD file the others of its article."""
    articles: dict[str, dict[int, None]] = {}
    for item in items:
        for paragraph in item.context:
            articles.setdefault(paragraph.title, {})[pool.row(paragraph)] = None
    return {
        row: tuple(other for other in rows if other != row)
        for rows in articles.values()
        for row in rows
    }


def _reason_to_drop(item: BenchmarkQuestion, dataset: str, pool: _Pool) -> str:
    """The name of a field of `Dropped`, or nothing if the question can be learned from."""
    paragraphs = item.gold.paragraphs
    hops = _HOPS.fullmatch(item.gold.kind)
    if dataset == "musique" and (not hops or len(paragraphs) != int(hops[1])):
        return "without_decomposition"
    if not paragraphs or not all(paragraph.text.strip() for paragraph in paragraphs):
        return "without_gold"
    if len(paragraphs) > MOST_HOPS:
        return "too_many_hops"
    if _loses_support(item.gold, pool):
        return "support_lost"
    return "" if _is_searchable(item.question.text) else "only_stop_words"


def _loses_support(gold: Gold, pool: _Pool) -> bool:
    pairs = [(one, pool.short(one)) for one in gold.paragraphs]
    if gold.support:
        whole = {one.title: (one.sentences, short.sentences) for one, short in pairs}
        # an annotation beyond the last sentence was lost by its benchmark, not by us
        return any(
            before[fact.index : fact.index + 1] != after[fact.index : fact.index + 1]
            for fact in gold.support
            for before, after in [whole[fact.paragraph]]
        )
    had = any(answer in one.text for answer in gold.answers for one, _ in pairs)
    return had and not any(answer in short.text for answer in gold.answers for _, short in pairs)


def _is_searchable(text: str) -> bool:
    return any(
        word.lower() not in STOP_WORDS and any(map(str.isalnum, word)) for word in words(text)
    )


def _training_question(
    item: BenchmarkQuestion, dataset: str, pool: _Pool, neighbours: Mapping[int, tuple[int, ...]]
) -> TrainingQuestion:
    gold = pool.rows(item.gold.paragraphs)
    if dataset == "squad":
        distractors = neighbours[gold[0]]
    else:
        distractors = tuple(row for row in pool.rows(item.context) if row not in gold)
    return TrainingQuestion(
        id=item.question.id,
        text=" ".join(item.question.text.split()),
        dataset=dataset,
        gold=gold,
        distractors=distractors,
        is_ordered=dataset == "musique",
        answers=item.gold.answers,
        support=tuple(_support(item.gold, pool)),
    )


def _support(gold: Gold, pool: _Pool) -> Iterator[tuple[int, int]]:
    """The supporting sentences as (row, number), by their characters: another benchmark may have
    split the same paragraph differently before."""
    by_title = {one.title: one for one in gold.paragraphs}
    for fact in sorted(gold.support, key=lambda one: (one.paragraph, one.index)):
        own = pool.short(by_title[fact.paragraph]).sentences
        row = pool.row(by_title[fact.paragraph])
        ends = list(accumulate(map(len, pool.paragraphs[row].sentences)))
        number = bisect.bisect_right(ends, sum(map(len, own[: fact.index])))
        if fact.index < len(own) and number < len(ends):
            yield row, number
