"""How sure a mean over questions is: 95 % intervals, by drawing as many questions again.

Questions are drawn with replacement. Two systems are compared on the same draws, so that what
makes a question hard for both does not blur how they compare.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SEED = 1
DRAWS = 2_000

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the questions gave, and the ends of its 95 % interval."""

    value: float
    low: float
    high: float


def mean_of(values: Sequence[float], seed: int = SEED, draws: int = DRAWS) -> Estimate:
    """The mean of what each question scored."""
    return _estimate(_means([values], seed, draws)[:, 0])


def ratio_of(
    values: Sequence[float], others: Sequence[float], seed: int = SEED, draws: int = DRAWS
) -> Estimate:
    """One system's mean over another's, of the same questions in the same order.

    Where the other scores nothing the ratio is infinite, or not a number if both do; draws of the
    latter kind say nothing and are left out.
    """
    if len(values) != len(others):
        raise ValueError(f"{len(values)} scores against {len(others)}: not of the same questions")
    means = _means([values, others], seed, draws)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _estimate(means[:, 0] / means[:, 1])


def _means(scores: Sequence[Sequence[float]], seed: int, draws: int) -> Floats:
    """Each system's mean over all questions, and then over each draw: (1 + draws, systems)"""
    observed = np.asarray(scores, dtype=np.float64)  # (systems, N)
    count = observed.shape[1]
    if not count:
        raise ValueError("No question, no mean")
    rng = np.random.default_rng(seed)
    drawn = (rng.integers(count, size=count) for _ in range(draws))
    return np.stack([observed.mean(axis=1), *(observed[:, one].mean(axis=1) for one in drawn)])


def _estimate(values: Floats) -> Estimate:
    """The first is what was observed, the others were drawn."""
    value, drawn = float(values[0]), values[1:][~np.isnan(values[1:])]
    if not len(drawn):
        return Estimate(value, value, value)
    # one of the draws and never between two, since some may be infinite
    low, high = np.quantile(drawn, (0.025, 0.975), method="closest_observation")
    return Estimate(value, float(low), float(high))
