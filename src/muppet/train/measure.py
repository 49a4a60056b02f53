"""How well an encoder ranks the paragraphs each question brings along: what training watches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import logsigmoid

from muppet.nn.arrays import tensors
from muppet.nn.chains import next_questions
from muppet.nn.encoder import Encoder
from muppet.text.batch import make_batch
from muppet.text.prepare import Prepared
from muppet.train.batches import Texts


@dataclass(frozen=True, slots=True)
class Ranked:
    """One question's own paragraphs: log probabilities of each first and second hop."""

    question: int
    rows: tuple[int, ...]  # its paragraphs, (C,)
    first: NDArray[np.float64]  # (C,)
    second: NDArray[np.float64]  # (C, C): second hop b after first hop a
    stop: float | None = None  # how far the stop head is right: after one gold no, after all yes

    def best_pair(self) -> tuple[int, int]:
        """The rows of the pair whose hops' log probabilities sum to most, in that order."""
        scores = self.first[:, None] + self.second
        np.fill_diagonal(scores, -np.inf)
        a, b = np.unravel_index(int(scores.argmax()), scores.shape)
        return self.rows[int(a)], self.rows[int(b)]


def rank_own_paragraphs(encoder: Encoder, texts: Texts, numbers: Sequence[int]) -> Iterable[Ranked]:
    """Score every paragraph, and every ordered pair, that the questions' files give them."""
    encoder.eval()
    with torch.no_grad():
        for number in numbers:
            yield _rank(encoder, texts, number)


def average_precision(scores: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """The mean, over the right ones, of the precision down to each of them."""
    order = np.argsort(-scores, kind="stable")
    hits = right[order]
    if not hits.any():
        return 0.0
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precision[hits].mean())


def summarise(texts: Texts, ranked: Iterable[Ranked]) -> dict[str, float]:
    """Average precision of both hops, and how often the gold pair is ranked first.

    The second hop's candidates are those after a gold first hop, as in checklist 19; only
    questions of two gold paragraphs have a pair to find.
    """
    first, second, pairs, stops = _Pooled(), _Pooled(), list[bool](), list[float]()
    for one in ranked:
        stops += [] if one.stop is None else [one.stop]
        gold = set(texts.data.questions[one.question].gold)
        right = np.array([row in gold for row in one.rows])
        first.add(one.first, right)
        if len(gold) != 2:
            continue
        for a in np.flatnonzero(right):
            others = np.arange(len(one.rows)) != a
            second.add(one.second[a][others], right[others])
        pairs.append(set(one.best_pair()) == gold)
    summary = {"first_hop_ap": first.average_precision()}
    if pairs:
        summary["second_hop_ap"] = second.average_precision()
        summary["pair_first"] = float(np.mean(pairs))
    if stops:
        summary["stop_accuracy"] = float(np.mean(stops))
    return summary


class _Pooled:
    """Scores of many questions, to be ranked together."""

    def __init__(self) -> None:
        self._scores: list[NDArray[np.float64]] = []
        self._right: list[NDArray[np.bool_]] = []

    def add(self, scores: NDArray[np.float64], right: NDArray[np.bool_]) -> None:
        self._scores.append(scores)
        self._right.append(right)

    def average_precision(self) -> float:
        return average_precision(np.concatenate(self._scores), np.concatenate(self._right))


def _rank(encoder: Encoder, texts: Texts, number: int) -> Ranked:
    asked = texts.data.questions[number]
    rows = tuple(sorted({*asked.gold, *asked.distractors}))
    lexicon = texts.preparer.lexicon
    question, paragraphs = texts.question(number), [texts.paragraph(row) for row in rows]
    batch = tensors(make_batch(paragraphs, lexicon))
    sentences, present = encoder.sentences(encoder.read(batch), batch)
    vector = encoder.question(encoder.read(tensors(make_batch([question], lexicon))))
    first = encoder.relevance_at(0).of_all(sentences, present, vector)[0]
    second = np.zeros((len(rows), len(rows)))
    stop = None
    if encoder.config.hops > 1:
        alone = [[paragraph] for paragraph in paragraphs]
        vectors = next_questions(encoder, texts.preparer, [question] * len(rows), alone)  # (C, D)
        logits = encoder.relevance_at(1).of_all(sentences, present, vectors)  # (C, C)
        second = logsigmoid(logits).double().numpy()
        stop = _stop_accuracy(
            encoder, texts, question, [texts.paragraph(row) for row in asked.gold]
        )
    return Ranked(number, rows, logsigmoid(first).double().numpy(), second, stop)


def _stop_accuracy(
    encoder: Encoder, texts: Texts, question: Prepared, gold: Sequence[Prepared]
) -> float:
    """How far the stop head is right along the gold chain: no, no, …, and yes at its end."""
    right = []
    for hops in range(1, len(gold) + 1):
        vector = next_questions(encoder, texts.preparer, [question], [gold[:hops]])
        right.append(bool(encoder.is_complete(vector) > 0) == (hops == len(gold)))
    return float(np.mean(right))
