"""Intervals of means and ratios, against what theory says of them."""

import math

import numpy as np
import pytest

from muppet.evaluate.bootstrap import Estimate, mean_of, ratio_of


def test_the_interval_of_a_mean_is_that_of_the_normal_law_for_many_questions() -> None:
    values = np.random.default_rng(5).normal(loc=3.0, size=900).tolist()
    found = mean_of(values)
    assert found.value == pytest.approx(np.mean(values))
    half = 1.96 * np.std(values) / math.sqrt(900)
    assert found.low == pytest.approx(found.value - half, abs=0.15 * half)
    assert found.high == pytest.approx(found.value + half, abs=0.15 * half)


def test_a_ratio_is_compared_on_the_same_questions() -> None:
    """Twice as good on every question is twice as good on every draw of them."""
    hard = np.random.default_rng(6).uniform(size=50)
    exact = ratio_of((2 * hard).tolist(), hard.tolist())
    assert (exact.value, exact.low, exact.high) == pytest.approx((2.0, 2.0, 2.0))
    apart = ratio_of((2 * hard[::-1]).tolist(), hard.tolist())
    assert apart.high - apart.low > 0.2


def test_the_interval_of_a_ratio_is_that_of_the_delta_method_for_many_questions() -> None:
    rng = np.random.default_rng(7)
    others = rng.uniform(1, 3, size=2_000)
    values = 1.3 * others + rng.normal(scale=0.5, size=2_000)
    found = ratio_of(values.tolist(), others.tolist())
    assert found.value == pytest.approx(values.mean() / others.mean())
    spread = np.std(values - found.value * others) / others.mean()
    half = 1.96 * spread / math.sqrt(2_000)
    assert found.low == pytest.approx(found.value - half, abs=0.15 * half)
    assert found.high == pytest.approx(found.value + half, abs=0.15 * half)


def test_intervals_depend_on_nothing_but_the_seed() -> None:
    values = [0.0, 1.0, 0.5, 1.0, 0.25]
    assert mean_of(values) == mean_of(values)
    assert mean_of(values, seed=2, draws=50) != mean_of(values, seed=3, draws=50)
    assert mean_of([0.5, 0.5]) == Estimate(0.5, 0.5, 0.5)


def test_a_ratio_to_nothing_is_infinite_and_of_nothing_to_nothing_unknown() -> None:
    found = ratio_of([1.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    assert (found.value, found.low, found.high) == (2.0, 0.0, math.inf)
    assert ratio_of([1.0, 2.0], [0.0, 0.0]) == Estimate(math.inf, math.inf, math.inf)
    unknown = ratio_of([0.0, 0.0], [0.0, 0.0])
    assert all(math.isnan(one) for one in (unknown.value, unknown.low, unknown.high))


def test_scores_of_other_questions_and_of_none_are_refused() -> None:
    with pytest.raises(ValueError, match="same questions"):
        ratio_of([1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="No question"):
        mean_of([])
