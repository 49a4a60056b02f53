"""Samples of some questions → one training batch, every text in it once."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muppet.text.batch import Batch, chunks, make_batch
from muppet.text.prepare import Prepared, Preparer
from muppet.train.examples import ChainSample, TrainingData
from muppet.train.frozen import FrozenInputs, StandIns

CHUNK = 16
"""Paragraphs of similar length that are read together."""
JOINED_TOKENS = 1024
"""Tokens of joined texts that are: a transformer is fastest while they fit into the cache."""


@dataclass(frozen=True, slots=True)
class TrainingBatch:
    """N samples of Q questions over P paragraphs; chains have up to H hops, padded with -1.

    The paragraphs come shortest first and in chunks, so that little of what is read is padding.
    """

    questions: Batch
    paragraphs: tuple[Batch, ...]
    question: NDArray[np.int64]  # (N,), row of `questions`
    chain: NDArray[np.int64]  # (N, H), row of `paragraphs`; -1: the chain has ended
    relevant: NDArray[np.bool_]  # (N, H)
    complete: NDArray[np.bool_]  # (N, H)
    judged: NDArray[np.bool_]  # (N,)
    gold: NDArray[np.int64]  # (Q, P), the place of a paragraph in the gold chain; -1: not gold
    is_ordered: NDArray[np.bool_]  # (Q,)
    texts: "BatchTexts"


@dataclass(frozen=True, slots=True)
class BatchTexts:
    """The batch's questions and paragraphs as they were prepared, to be read together."""

    questions: tuple[Prepared, ...]  # Q
    paragraphs: tuple[Prepared, ...]  # P
    preparer: Preparer

    def joined(self, prefixes: NDArray[np.int64]) -> tuple[list[Batch], NDArray[np.int64]]:
        """Each (question, paragraphs...) as one text, in chunks; and where each text went."""
        texts = [
            self.preparer.joined(self.questions[number], [self.paragraphs[row] for row in rows])
            for number, *rows in prefixes.tolist()
        ]
        sizes = np.array([text.size[0] for text in texts])
        order = np.argsort(sizes, kind="stable")
        batches = [
            make_batch([texts[place] for place in order[part]], self.preparer.lexicon)
            for part in chunks(sizes[order].tolist(), JOINED_TOKENS)
        ]
        return batches, np.argsort(order)


class Texts:
    """The questions and paragraphs of the training data, prepared for a network."""

    def __init__(self, data: TrainingData, preparer: Preparer) -> None:
        self.data = data
        self.preparer = preparer
        self._questions = [preparer.question(question.text) for question in data.questions]
        self._paragraphs = [preparer.paragraph(paragraph) for paragraph in data.paragraphs]

    def all(self) -> list[Prepared]:
        """Every text, the questions first."""
        return [*self._questions, *self._paragraphs]

    def checksum(self) -> str:
        """Of the words of every text, in order."""
        digest = hashlib.sha256()
        for text in self.all():
            digest.update(json.dumps(text.tokens.words()).encode())
        return digest.hexdigest()

    def fill(self, frozen: FrozenInputs | StandIns) -> None:
        """Give every text its contextual layers, computed beforehand."""
        filled = frozen.fill(self.all())
        self._questions = filled[: len(self._questions)]
        self._paragraphs = filled[len(self._questions) :]

    def question(self, number: int) -> Prepared:
        return self._questions[number]

    def paragraph(self, row: int) -> Prepared:
        return self._paragraphs[row]


def make_training_batch(texts: Texts, samples: Sequence[ChainSample]) -> TrainingBatch:
    """The distinct questions and paragraphs of the samples, and who belongs to whom."""
    numbers = sorted({sample.question for sample in samples})
    distinct = {row for sample in samples for row in sample.paragraphs}
    rows = sorted(distinct, key=lambda row: (*texts.paragraph(row).size, row))
    place = {row: position for position, row in enumerate(rows)}
    hops = max(len(sample.paragraphs) for sample in samples)
    shape = (len(samples), hops)
    chain = np.full(shape, -1, dtype=np.int64)
    relevant, complete = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for row, sample in enumerate(samples):
        length = len(sample.paragraphs)
        chain[row, :length] = [place[paragraph] for paragraph in sample.paragraphs]
        relevant[row, :length] = sample.relevant
        complete[row, :length] = sample.complete
    gold = np.full((len(numbers), len(rows)), -1, dtype=np.int64)
    for position, number in enumerate(numbers):
        for hop, paragraph in enumerate(texts.data.questions[number].gold):
            if paragraph in place:
                gold[position, place[paragraph]] = hop
    lexicon = texts.preparer.lexicon
    own = BatchTexts(
        tuple(texts.question(number) for number in numbers),
        tuple(texts.paragraph(row) for row in rows),
        texts.preparer,
    )
    return TrainingBatch(
        questions=make_batch(own.questions, lexicon),
        paragraphs=tuple(
            make_batch(own.paragraphs[first : first + CHUNK], lexicon)
            for first in range(0, len(rows), CHUNK)
        ),
        question=np.array([numbers.index(sample.question) for sample in samples]),
        chain=chain,
        relevant=relevant,
        complete=complete,
        judged=np.array([sample.judged for sample in samples], dtype=bool),
        gold=gold,
        is_ordered=np.array([texts.data.questions[number].is_ordered for number in numbers]),
        texts=own,
    )
