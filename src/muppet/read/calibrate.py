"""Scores → probabilities that mean what they say; when to say "not in these documents".

All is fitted on held-out questions: one score each, and whether its answer was right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

LEAST_SLOPE = 1e-3
"""A higher score never means a lower probability, whatever the held-out questions say."""
NEVER = 2.0
"""A threshold that no probability reaches."""
_STEPS = 50
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Calibration:
    """probability = sigmoid(score / temperature + bias); below `threshold` it is a guess."""

    temperature: float = 1.0
    bias: float = 0.0
    threshold: float = 0.0

    def __post_init__(self) -> None:
        if not self.temperature > 0:  # NaN is not either
            raise ValueError(f"a temperature is above 0, not {self.temperature}")

    def probabilities(self, scores: Sequence[float] | Floats) -> Floats:
        """(N,) -> (N,)"""
        return sigmoid(np.asarray(scores, dtype=np.float64) / self.temperature + self.bias)

    def of_answers(self, shares: Sequence[float]) -> Floats:
        """Of one question's answers, best first, by their shares of what was read: (N,) -> (N,)

        One of them at most is right, so the others have no more than what the first one leaves.
        """
        likely = self.probabilities(log_odds(shares))
        left = (1 - likely[0]) / max(1 - shares[0], _TINY)
        likely[1:] = np.minimum(likely[1:], left * np.asarray(shares[1:]))
        return likely


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of about one probability: how many, what was said of them, and what was true."""

    count: int
    probability: float
    right: float


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """What share of the given answers is wrong if only so many questions are answered, those
    with a probability of at least `thresholds`; from few to all: (K,) each."""

    thresholds: Floats
    coverage: Floats
    risk: Floats

    @property
    def area(self) -> float:
        """The mean risk over all coverages: smaller is better."""
        return float((self.risk * np.diff(self.coverage, prepend=0.0)).sum())


def log_odds(probabilities: Sequence[float] | Floats) -> Floats:
    """The scores of a model that gives probabilities: (N,) -> (N,)"""
    inside = np.clip(np.asarray(probabilities, dtype=np.float64), _TINY, 1 - _TINY)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def fit(scores: Sequence[float] | Floats, right: Sequence[bool] | Flags) -> Calibration:
    """The temperature and bias under which what happened was likeliest, by Newton's method.

    Targets are a little inside 0 and 1 (Platt's), so that a clean split gives no infinite slope.
    Where higher scores are right less often the scores tell nothing, and the bias says all.
    """
    values = np.asarray(scores, dtype=np.float64)
    flags = np.asarray(right, dtype=bool)
    yes, no = int(flags.sum()), int((~flags).sum())
    targets = np.where(flags, (yes + 1) / (yes + 2), 1 / (no + 2))
    inputs = np.stack([values, np.ones_like(values)], axis=1)  # (N, 2)
    weights = np.zeros(2)
    for _ in range(_STEPS):
        said = sigmoid(inputs @ weights)
        gradient = inputs.T @ (said - targets)
        curvature = (inputs * (said * (1 - said))[:, None]).T @ inputs + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        weights -= step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-10:
            break
    slope, bias = weights.tolist()
    if slope < LEAST_SLOPE:
        slope, bias = (
            LEAST_SLOPE,
            float(log_odds([targets.mean()])[0] - LEAST_SLOPE * values.mean()),
        )
    return Calibration(temperature=1 / slope, bias=bias)


def reliability(probabilities: Floats, right: Flags, bins: int = 10) -> list[Bin]:
    """Bins of equal width that have answers in them, from 0 to 1."""
    which = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    return [
        Bin(
            int((which == number).sum()),
            float(probabilities[which == number].mean()),
            float(right[which == number].mean()),
        )
        for number in np.unique(which).tolist()
    ]


def expected_calibration_error(probabilities: Floats, right: Flags, bins: int = 10) -> float:
    """How far what was said is from what was true, over the bins, weighed by their answers."""
    total = max(len(probabilities), 1)
    return sum(
        each.count / total * abs(each.probability - each.right)
        for each in reliability(probabilities, right, bins)
    )


def risk_coverage(probabilities: Floats, right: Flags) -> RiskCoverage:
    """The curve, one point for each distinct probability."""
    order = np.argsort(-probabilities, kind="stable")
    sorted_, wrong = probabilities[order], ~right[order]
    last = np.flatnonzero(np.diff(sorted_, append=-np.inf))  # of equal ones all or none
    answered = last + 1
    risk = np.cumsum(wrong)[last] / answered
    return RiskCoverage(sorted_[last], answered / max(len(order), 1), risk)


def choose_threshold(probabilities: Floats, right: Flags, *, risk: float) -> float:
    """The least probability worth answering with, if at most this share may be wrong.

    The one that answers most; `NEVER` where even the surest answers are wrong too often.
    """
    curve = risk_coverage(probabilities, right)
    good = np.flatnonzero(curve.risk <= risk)
    return float(curve.thresholds[good[-1]]) if len(good) else NEVER


def sigmoid(values: Floats) -> Floats:
    """(...) -> (...), without an overflow for any value"""
    return np.asarray(0.5 * (1 + np.tanh(values / 2)))
