"""Probabilities that mean what they say, on data of which the truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muppet.read.calibrate import (
    NEVER,
    Calibration,
    choose_threshold,
    expected_calibration_error,
    fit,
    log_odds,
    reliability,
    risk_coverage,
)


def world(temperature: float, bias: float, count: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Scores whose answers are right exactly as often as sigmoid(score / temperature + bias)."""
    rng = np.random.default_rng(5)
    scores = rng.normal(scale=4.0, size=count)
    truth = Calibration(temperature, bias).probabilities(scores)
    return scores, rng.random(count) < truth


@pytest.mark.parametrize(("temperature", "bias"), [(1.0, 0.0), (3.0, -1.0), (0.5, 2.0)])
def test_the_temperature_and_bias_that_made_the_data_are_found_again(
    temperature: float, bias: float
) -> None:
    found = fit(*world(temperature, bias))
    assert found.temperature == pytest.approx(temperature, rel=0.06)
    assert found.bias == pytest.approx(bias, abs=0.1)


def test_fitting_makes_an_overconfident_reader_honest() -> None:
    scores, right = world(4.0, -0.5)
    before = Calibration().probabilities(scores)
    after = fit(scores[:10_000], right[:10_000]).probabilities(scores[10_000:])
    assert expected_calibration_error(before, right) > 0.15
    assert expected_calibration_error(after, right[10_000:]) < 0.02


@pytest.mark.parametrize("right", [[True] * 5, [False] * 5, [False, False, True, True, True]])
def test_few_or_clean_or_one_sided_data_give_finite_numbers(right: list[bool]) -> None:
    found = fit([1.0, 2.0, 3.0, 4.0, 5.0], right)
    probabilities = found.probabilities([1.0, 5.0])
    assert np.isfinite([found.temperature, found.bias]).all()
    assert found.temperature > 0
    assert ((probabilities > 0) & (probabilities < 1)).all()


def test_a_higher_score_never_means_a_lower_probability() -> None:
    found = fit([1.0, 2.0, 3.0, 4.0], [True, True, False, False])
    said = found.probabilities([1.0, 2.0, 3.0, 4.0])
    assert said[0] <= said[-1]
    assert said.mean() == pytest.approx(0.5, abs=0.01)  # and it is as likely as it is right


@given(st.floats(0.001, 0.999))
def test_log_odds_undo_the_sigmoid(probability: float) -> None:
    assert Calibration().probabilities(log_odds([probability]))[0] == pytest.approx(probability)


def test_the_calibration_error_is_its_definition() -> None:
    probabilities = np.array([0.05, 0.15, 0.95, 0.85, 0.95, 1.0])
    right = np.array([False, True, True, True, False, True])
    bins = reliability(probabilities, right)
    assert [one.count for one in bins] == [1, 1, 1, 3]
    expected = (0.05 + 0.85 + 0.15 + 3 * abs((0.95 + 0.95 + 1.0) / 3 - 2 / 3)) / 6
    assert expected_calibration_error(probabilities, right) == pytest.approx(expected)


def test_probabilities_that_are_always_true_have_no_error() -> None:
    probabilities = np.repeat([0.25, 0.75], 40)
    right = np.concatenate([np.arange(40) % 4 == 0, np.arange(40) % 4 != 0])
    assert expected_calibration_error(probabilities, right) == pytest.approx(0)


def test_risk_and_coverage_are_counted_from_the_surest_down() -> None:
    curve = risk_coverage(np.array([0.2, 0.9, 0.5, 0.9]), np.array([False, True, True, False]))
    assert curve.thresholds.tolist() == [0.9, 0.5, 0.2]
    assert curve.coverage.tolist() == [0.5, 0.75, 1.0]
    assert curve.risk.tolist() == pytest.approx([1 / 2, 1 / 3, 1 / 2])
    assert curve.area == pytest.approx(0.5 * 0.5 + 0.25 / 3 + 0.25 * 0.5)


def test_knowing_when_one_is_wrong_makes_the_area_small() -> None:
    right = np.array([True, True, True, False])
    sure, unsure = np.array([0.9, 0.8, 0.7, 0.1]), np.array([0.1, 0.7, 0.8, 0.9])
    assert risk_coverage(sure, right).area < risk_coverage(unsure, right).area


def test_the_threshold_answers_as_much_as_the_risk_allows() -> None:
    probabilities = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    right = np.array([True, False, True, True, False])
    assert choose_threshold(probabilities, right, risk=0.0) == 0.9
    assert choose_threshold(probabilities, right, risk=0.25) == 0.6
    assert choose_threshold(probabilities, right, risk=1.0) == 0.5
    assert choose_threshold(probabilities, ~right, risk=0.3) == NEVER


@given(
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=6),
    temperature=st.floats(0.2, 5),
    bias=st.floats(-4, 4),
)
def test_the_answers_of_a_question_are_right_together_at_most_once(
    shares: list[float], temperature: float, bias: float
) -> None:
    known = [share / max(sum(shares), 1.0) for share in shares]
    calibration = Calibration(temperature, bias)
    likely = calibration.of_answers(known)
    assert likely[0] == calibration.probabilities(log_odds(known[:1]))[0]
    assert (likely >= 0).all() and likely.sum() <= 1 + 1e-9
    assert (likely <= calibration.probabilities(log_odds(known)) + 1e-12).all()
