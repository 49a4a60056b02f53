"""Samples of some questions → one batch of the reader's, with what is right about each chain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muppet.read.answers import VERDICTS
from muppet.read.spans import extents
from muppet.text.batch import Batch, chunks, make_batch, padded
from muppet.text.layout import (
    NOWHERE,
    Layout,
    Layouts,
    Reading,
    pad_layouts,
    reading_apart,
    reading_joined,
)
from muppet.text.normalise import normalise
from muppet.text.prepare import Prepared
from muppet.text.vocab import Lexicon
from muppet.train.answers_in_text import answer_places
from muppet.train.batches import CHUNK, JOINED_TOKENS, Texts
from muppet.train.examples import TrainingQuestion
from muppet.train.reader_samples import ReaderSample, is_gold

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ChainChunk:
    """B chains of similar length, which are read together.

    Apart from their question they are made of the batch's paragraphs, `tokens` of them; read in
    one text with it they are `joined`.
    """

    layouts: Layouts
    question: Numbers  # (B,), row of the batch's questions
    tokens: Numbers  # (B, T), of all paragraphs' tokens, each padded to the width of the widest
    joined: Batch | None


@dataclass(frozen=True, slots=True)
class Labels:
    """What is right about N chains of Q questions."""

    question: Numbers  # (N,)
    allowed: Flags  # (N, T), where an answer may stand
    start: Flags  # (N, T)
    end: Flags  # (N, T)
    kind: Flags  # (N, 2), span or yes/no
    verdict: Flags  # (N, 2), yes or no; neither where the answer is a span
    support: Flags  # (N, S)
    known: Flags  # (N, S), which sentences have a label


@dataclass(frozen=True, slots=True)
class ReaderBatch:
    """N samples in chunks, longest last, with the texts they share where these are read apart."""

    questions: Batch | None
    paragraphs: tuple[Batch, ...]
    chunks: tuple[ChainChunk, ...]
    labels: Labels
    samples: tuple[ReaderSample, ...]  # N, in the order of the chunks
    readings: tuple[Reading, ...]  # N


def make_reader_batch(
    texts: Texts, samples: Sequence[ReaderSample], *, joins: bool, answers_in: str = "every"
) -> ReaderBatch:
    """`joins` says whether the network reads question and chain in one text."""
    readings = [_reading(texts, sample, joins=joins) for sample in samples]
    order = sorted(range(len(samples)), key=lambda place: readings[place].size)
    samples, readings = [samples[place] for place in order], [readings[place] for place in order]
    numbers = sorted({sample.question for sample in samples})
    question = np.array([numbers.index(sample.question) for sample in samples])
    distinct = {row for sample in samples for row in sample.paragraphs}
    rows = sorted(distinct, key=lambda row: (*texts.paragraph(row).size, row))
    width = max([1, *(len(texts.paragraph(row).types) for row in rows)])
    places = {row: place for place, row in enumerate(rows)}
    flat = [
        _flat_tokens(sample, reading, places, width)
        for sample, reading in zip(samples, readings, strict=True)
    ]
    sizes = [reading.size for reading in readings]
    most = JOINED_TOKENS if joins else CHUNK * max(sizes)
    lexicon = texts.preparer.lexicon
    return ReaderBatch(
        questions=None if joins else make_batch([*map(texts.question, numbers)], lexicon),
        paragraphs=() if joins else _paragraphs([*map(texts.paragraph, rows)], texts),
        chunks=tuple(
            _chunk(readings[part], question[part], flat[part], lexicon)
            for part in chunks(sizes, most)
        ),
        labels=make_labels(texts, samples, readings, question, answers_in),
        samples=tuple(samples),
        readings=tuple(readings),
    )


def make_labels(
    texts: Texts,
    samples: Sequence[ReaderSample],
    readings: Sequence[Reading],
    question: Numbers,
    answers_in: str = "every",
) -> Labels:
    """Where the answers stand, and the other heads' targets, in the samples' order.

    An answer is right in every chain that holds it (checklist 24), or in gold chains alone.
    """
    asked = [texts.data.questions[sample.question] for sample in samples]
    verdicts = np.array([_verdict(one) for one in asked])  # (N, 2)
    is_verdict: Flags = np.asarray(verdicts.any(axis=1))
    counts = [
        answers_in == "every" or is_gold(sample.paragraphs, one)
        for sample, one in zip(samples, asked, strict=True)
    ]
    right = np.array(counts)[:, None]  # (N, 1), whether the answer is right in this chain
    spans = [
        _spans(reading, one.answers) if in_place and not given else []
        for reading, one, given, in_place in zip(readings, asked, is_verdict, counts, strict=True)
    ]
    layouts = [reading.layout for reading in readings]
    support = [_support(*three) for three in zip(asked, samples, readings, strict=True)]
    known = [layout.present & bool(one.support) for layout, one in zip(layouts, asked, strict=True)]
    return Labels(
        question=question,
        allowed=padded([layout.regions != NOWHERE for layout in layouts], 0),
        start=padded(_marked(layouts, [[first for first, _ in one] for one in spans]), 0),
        end=padded(_marked(layouts, [[last for _, last in one] for one in spans]), 0),
        kind=np.stack([~is_verdict, is_verdict], axis=1) & right,
        verdict=verdicts & right,
        support=padded(support, 0),
        known=padded(known, 0),
    )


def _reading(texts: Texts, sample: ReaderSample, *, joins: bool) -> Reading:
    question = texts.question(sample.question)
    chain = [texts.paragraph(row) for row in sample.paragraphs]
    if joins:
        return reading_joined(texts.preparer, question, chain)
    return reading_apart(question, chain)


def _chunk(
    readings: Sequence[Reading], question: Numbers, flat: Sequence[Numbers], lexicon: Lexicon
) -> ChainChunk:
    joined = [one.joined for one in readings if one.joined is not None]
    return ChainChunk(
        layouts=pad_layouts([one.layout for one in readings]),
        question=question,
        tokens=padded(flat, 0),
        joined=make_batch(joined, lexicon) if joined else None,
    )


def _paragraphs(prepared: Sequence[Prepared], texts: Texts) -> tuple[Batch, ...]:
    return tuple(
        make_batch(prepared[first : first + CHUNK], texts.preparer.lexicon)
        for first in range(0, len(prepared), CHUNK)
    )


def _flat_tokens(
    sample: ReaderSample, reading: Reading, places: dict[int, int], width: int
) -> Numbers:
    """Where the chain's tokens are among those of all paragraphs; of a question, anywhere."""
    rows = np.array([places[row] for row in sample.paragraphs])
    found = rows[reading.layout.places] * width + reading.layout.tokens
    return np.where(reading.layout.places == NOWHERE, 0, found)


def _spans(reading: Reading, answers: Sequence[str]) -> list[tuple[int, int]]:
    """Every match within a title or a paragraph's text, as tokens of the layout."""
    words = [text.tokens.words() for text in reading.chain]
    layout, found = reading.layout, []
    for first, past in extents(layout.regions):
        own = words[layout.places[first]]
        here = own[layout.tokens[first] : layout.tokens[past - 1] + 1]
        found += [(first + begin, first + end) for begin, end in answer_places(here, answers)]
    return [span for span in found if (layout.regions[list(span)] != NOWHERE).all()]


def _marked(layouts: Sequence[Layout], tokens: Sequence[Sequence[int]]) -> list[Flags]:
    """True at the given tokens of each chain: (T,) each"""
    return [
        np.isin(np.arange(len(layout.segments)), own)
        for layout, own in zip(layouts, tokens, strict=True)
    ]


def _verdict(question: TrainingQuestion) -> tuple[bool, bool]:
    """Whether the answer is yes, and whether it is no; SQuAD's are words of the text."""
    answers = {normalise(answer) for answer in question.answers}
    is_verdict = question.dataset != "squad" and len(answers) == 1
    yes, no = (is_verdict and text in answers for text in VERDICTS)
    return yes, no


def _support(question: TrainingQuestion, sample: ReaderSample, reading: Reading) -> Flags:
    gold = set(question.support)
    layout = reading.layout
    pairs = zip(layout.sentence_places.tolist(), layout.sentence_numbers.tolist(), strict=True)
    return np.array(
        [place >= 0 and (sample.paragraphs[place], number) in gold for place, number in pairs]
    )
