"""Predicted answers: their files, and the official scores of HotpotQA and SQuAD (checklist 29)."""

import bz2
import gzip
import json
import lzma
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TypeVar

import zstandard

from muppet.artifact import write_whole
from muppet.corpus.files import decode, open_file
from muppet.domain import SentenceRef
from muppet.errors import CorpusError, QuestionError
from muppet.text.normalise import normalise as normalise

Kind = TypeVar("Kind")

AnswerScorer = Callable[[str, Sequence[str]], "Scores"]
"""Scores a predicted answer against all the gold answers of its question."""

_VERDICTS = frozenset({"yes", "no", "noanswer"})

_JSON_WORDS: dict[type, str] = {dict: "an object", list: "a list", str: "text"}
_COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".bz2": bz2.compress,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


@dataclass(frozen=True, slots=True)
class Predictions:
    """Answers by question id, and the supporting sentences if the system names any."""

    answers: dict[str, str]
    support: dict[str, frozenset[SentenceRef]] | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """Exact match, F1, precision and recall of one question or the means of many, all 0..1."""

    em: float
    f1: float
    precision: float
    recall: float


NOTHING = Scores(em=0.0, f1=0.0, precision=0.0, recall=0.0)
"""What a missing prediction scores."""


def hotpot_scores(prediction: str, answers: Sequence[str]) -> Scores:
    """The best scores over the gold answers: yes, no and noanswer have no partial credit."""
    return _best_of([_verdict_scores(normalise(prediction), normalise(gold)) for gold in answers])


def squad_scores(prediction: str, answers: Sequence[str]) -> Scores:
    """The best scores over the gold answers: yes and no are words like any other."""
    return _best_of([_overlap_scores(normalise(prediction), normalise(gold)) for gold in answers])


def support_scores(predicted: AbstractSet[SentenceRef], gold: AbstractSet[SentenceRef]) -> Scores:
    """How well the predicted supporting sentences are the gold ones, as sets."""
    return _count_scores(
        em=predicted == gold,
        shared=len(predicted & gold),
        predicted=len(predicted),
        gold=len(gold),
    )


def joint_scores(answer: Scores, support: Scores) -> Scores:
    """Credit only for being right in both: the products of the two, and the F1 of these."""
    return _with_f1(
        em=answer.em * support.em,
        precision=answer.precision * support.precision,
        recall=answer.recall * support.recall,
    )


def mean_scores(scores: Sequence[Scores]) -> Scores:
    """Each score averaged by itself: the mean F1 is not the F1 of the means."""
    return Scores(
        em=fmean(each.em for each in scores),
        f1=fmean(each.f1 for each in scores),
        precision=fmean(each.precision for each in scores),
        recall=fmean(each.recall for each in scores),
    )


def read_predictions(path: Path) -> Predictions:
    """Predictions in HotpotQA's or SQuAD's format: {"answer": …, "sp": …} or {id: text}."""
    try:
        with open_file(path) as stream:
            return _parse(json.loads(decode(stream.read(), str(path))))
    except CorpusError as error:
        raise QuestionError(f"No predictions to score: {error}.") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise QuestionError(
            f"{path} does not hold predictions: {error}. It must be JSON, either "
            '{"answer": {id: text}, "sp": {id: [[title, sentence number], ...]}} or {id: text}.'
        ) from error


def write_predictions(path: Path, predictions: Predictions) -> None:
    """Write HotpotQA's format, or SQuAD's without support; the file appears only when complete."""
    content: object = predictions.answers
    if predictions.support is not None:
        support = {
            question: sorted([each.paragraph, each.index] for each in sentences)
            for question, sentences in predictions.support.items()
        }
        content = {"answer": predictions.answers, "sp": support}
    compress = _COMPRESSORS.get(path.suffix.lower(), bytes)
    try:
        write_whole(path, compress(json.dumps(content).encode()))
    except OSError as error:
        raise QuestionError(
            f"Cannot write predictions to {path}: {error.strerror}. Name a file in a directory "
            "that exists and that you may write to."
        ) from error


def _parse(content: object) -> Predictions:
    by_name = _checked(content, dict, "the file")
    if not isinstance(by_name.get("answer"), dict):
        return Predictions(_parse_answers(by_name))
    support = by_name.get("sp")
    return Predictions(
        answers=_parse_answers(by_name["answer"]),
        support=None if support is None else _parse_support(_checked(support, dict, '"sp"')),
    )


def _parse_answers(by_id: dict[str, object]) -> dict[str, str]:
    return {
        question: _checked(text, str, f"the answer to {question}")
        for question, text in by_id.items()
    }


def _parse_support(by_id: dict[str, object]) -> dict[str, frozenset[SentenceRef]]:
    return {
        question: frozenset(
            _parse_sentence(row, question)
            for row in _checked(rows, list, f"the support of {question}")
        )
        for question, rows in by_id.items()
    }


def _parse_sentence(row: object, question: str) -> SentenceRef:
    match row:
        case [str(title), int(number)]:
            return SentenceRef(title, number)
    raise ValueError(f"the support of {question} has {row!r} for a [title, sentence number]")


def _checked(value: object, kind: type[Kind], name: str) -> Kind:
    if not isinstance(value, kind):
        raise TypeError(f"{name} is not {_JSON_WORDS[kind]}")
    return value


def _best_of(scores: Sequence[Scores]) -> Scores:
    """The highest EM and the highest F1, each by itself, with that F1's precision and recall."""
    if not scores:
        return NOTHING
    closest = max(scores, key=lambda each: (each.f1, each.precision))
    return Scores(
        em=max(each.em for each in scores),
        f1=closest.f1,
        precision=closest.precision,
        recall=closest.recall,
    )


def _verdict_scores(prediction: str, gold: str) -> Scores:
    if prediction != gold and not _VERDICTS.isdisjoint((prediction, gold)):
        return NOTHING
    return _overlap_scores(prediction, gold)


def _overlap_scores(prediction: str, gold: str) -> Scores:
    """Scores by shared words, a repeated word counted as often as both sides have it."""
    predicted_words, gold_words = Counter(prediction.split()), Counter(gold.split())
    return _count_scores(
        em=prediction == gold,
        shared=(predicted_words & gold_words).total(),
        predicted=predicted_words.total(),
        gold=gold_words.total(),
    )


def _count_scores(*, em: bool, shared: int, predicted: int, gold: int) -> Scores:
    """Scores from counts; a share of nothing is 0, so two empty sides match with an F1 of 0."""
    return _with_f1(
        em=float(em),
        precision=shared / predicted if predicted else 0.0,
        recall=shared / gold if gold else 0.0,
    )


def _with_f1(*, em: float, precision: float, recall: float) -> Scores:
    total = precision + recall
    f1 = 2 * precision * recall / total if total else 0.0
    return Scores(em=em, f1=f1, precision=precision, recall=recall)
