"""How far a system's probabilities can be trusted, and when it should say that it does not know.

Questions are asked twice: as they are, and with their gold paragraphs hidden, so that the answer
is not in the documents. Whether an answer is right is exact match, as the benchmarks define it.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.domain import Result
from muppet.errors import QuestionError
from muppet.evaluate.asking import answered, ask_all, predictions_of
from muppet.evaluate.report import score_questions
from muppet.knowledge.open import KnowledgeBase
from muppet.read.calibrate import (
    Calibration,
    Flags,
    Floats,
    expected_calibration_error,
    fit,
    log_odds,
    risk_coverage,
)

AskHiding = Callable[[Sequence[str], Mapping[str, AbstractSet[int]]], list[Result]]
"""The whole system, from which some paragraphs of a question may be hidden."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The best answers' probabilities and whether they were right, with the gold paragraphs in
    the documents and with them hidden: (N,) each."""

    probabilities: Floats
    right: Flags
    hidden_probabilities: Floats
    hidden_right: Flags


@dataclass(frozen=True, slots=True)
class Trust:
    """What can be said of the probabilities of answered questions.

    `error` is the expected calibration error, `area` that under the risk-coverage curve; `told`
    are the shares of questions that get an answer: of those whose answer was right, of those whose
    answer was wrong, and of those whose evidence was hidden.
    """

    error: float
    area: float
    right: float
    told_right: float
    told_wrong: float
    told_hidden: float


def judge(
    ask: AskHiding, knowledge: KnowledgeBase, questions: Sequence[BenchmarkQuestion]
) -> Judged:
    """Ask all questions that name their gold paragraphs, twice."""
    asked = [one for one in questions if one.gold.paragraphs]
    if not asked:
        raise QuestionError(
            "None of these questions names its gold paragraphs, so none can be hidden. Use a "
            "benchmark's development set."
        )
    hidden = {
        one.question.text: {
            number
            for gold in one.gold.paragraphs
            for number in knowledge.store.by_title(gold.title)
        }
        for one in asked
    }
    seen = ask_all(lambda some: ask(some, {}), asked)
    unseen = ask_all(lambda some: ask(some, hidden), asked)
    return Judged(*_verdicts(asked, seen), *_verdicts(asked, unseen))


def calibrate(judged: Judged) -> Calibration:
    """Probabilities that fit the questions whose evidence is there, and the threshold that best
    tells right answers from the others: as many of the first above it, and of the second below.

    What was judged must be uncalibrated: shares of what was read.
    """
    found = fit(log_odds(judged.probabilities), judged.right)
    likely = found.probabilities(log_odds(judged.probabilities))
    unlikely = found.probabilities(log_odds(judged.hidden_probabilities))
    every = np.concatenate([likely, unlikely])
    right = np.concatenate([judged.right, judged.hidden_right])
    thresholds = np.unique(every)
    gains = [
        (every[right] >= one).mean() + (every[~right] < one).mean() if right.any() else 0.0
        for one in thresholds
    ]
    return replace(found, threshold=float(thresholds[int(np.argmax(gains))]))


def trust(judged: Judged, threshold: float) -> Trust:
    """What the calibrated probabilities of other questions are worth."""
    told = judged.probabilities >= threshold
    return Trust(
        error=expected_calibration_error(judged.probabilities, judged.right),
        area=risk_coverage(judged.probabilities, judged.right).area,
        right=float(judged.right.mean()),
        told_right=_share(told[judged.right]),
        told_wrong=_share(told[~judged.right]),
        told_hidden=_share(judged.hidden_probabilities >= threshold),
    )


def _verdicts(
    asked: Sequence[BenchmarkQuestion], results: Mapping[str, Result]
) -> tuple[Floats, Flags]:
    scores = score_questions(predictions_of(answered(asked, results)), asked)
    right = np.array([one.answer is not None and one.answer.em == 1 for one in scores])
    best = [results[one.question.id].answers for one in asked]
    return np.array([own[0].probability if own else 0.0 for own in best]), right


def _share(flags: Flags) -> float:
    return float(flags.mean()) if len(flags) else 0.0
