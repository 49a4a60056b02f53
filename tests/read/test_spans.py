"""The best spans, against trying them all (checklist 27)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from muppet.read.spans import Floats, Found, best_span, best_spans, span_scores, window_maximum
from muppet.text.layout import NOWHERE

numbers = st.integers(-20, 20).map(float)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Floats, Floats, NDArray[np.int64], int]:
    """Logits of some tokens in regions, some of them nowhere, and a longest length."""
    nowhere = st.lists(st.booleans(), min_size=1, max_size=9)
    regions = [
        NOWHERE if is_nowhere else number
        for number, tokens in enumerate(draw(st.lists(nowhere, max_size=5)))
        for is_nowhere in tokens
    ]
    logits = [draw(st.lists(numbers, min_size=len(regions), max_size=len(regions)))
              for _ in range(2)]  # fmt: skip
    start, end = (np.array(some, dtype=np.float64) for some in logits)
    return start, end, np.array(regions, dtype=np.int64), draw(st.integers(1, 8))


def all_spans(
    start: Floats, end: Floats, regions: NDArray[np.int64], longest: int, brevity: float = 0.0
) -> list[Found]:
    return [
        Found(first, last, float(start[first] + end[last]) - brevity * (last - first))
        for first in range(len(start))
        for last in range(first, min(first + longest, len(start)))
        if regions[first] == regions[last] != NOWHERE
    ]


@given(cases())
def test_the_best_span_is_the_best_of_all_checklist_27(
    case: tuple[Floats, Floats, NDArray[np.int64], int],
) -> None:
    every = all_spans(*case)
    found = best_span(*case)
    if not every:
        assert found is None
        return
    assert found in every
    assert found.score == max(one.score for one in every)


@given(cases(), st.integers(1, 12), st.sampled_from([0.0, 0.5, 3.0]))
def test_the_best_spans_are_the_best_of_all_checklist_27(
    case: tuple[Floats, Floats, NDArray[np.int64], int], count: int, brevity: float
) -> None:
    every = all_spans(*case, brevity)
    found = best_spans(span_scores(*case, brevity), count)
    scores = sorted((one.score for one in every), reverse=True)
    assert [one.score for one in found] == scores[:count]
    assert len({(one.first, one.last) for one in found}) == len(found)
    assert all(one in every for one in found)


@given(st.lists(numbers, min_size=1, max_size=40), st.integers(1, 50))
def test_window_maxima_are_those_of_every_window(values: list[float], width: int) -> None:
    expected = [max(values[max(0, last - width + 1) : last + 1]) for last in range(len(values))]
    assert window_maximum(np.array(values), width).tolist() == expected


def test_a_span_never_leaves_its_region() -> None:
    start = np.array([9.0, 0.0, 0.0, 0.0])
    end = np.array([0.0, 1.0, 0.0, 9.0])
    regions = np.array([0, 0, 1, 1])
    assert best_span(start, end, regions, 8) == Found(0, 1, 10.0)
    assert best_span(start, end, np.array([0, 0, 0, 0]), 8) == Found(0, 3, 18.0)


def test_a_span_may_hold_a_token_that_is_nowhere_but_not_begin_or_end_with_it() -> None:
    start, end = np.array([5.0, 9.0, 0.0]), np.array([0.0, 9.0, 5.0])
    regions = np.array([1, NOWHERE, 1])
    assert best_span(start, end, regions, 8) == Found(0, 2, 10.0)
    assert best_spans(span_scores(start, end, regions, 8), 1) == [Found(0, 2, 10.0)]


def test_a_longer_limit_lets_longer_answers_through_checklist_27() -> None:
    start, end = np.zeros(20), np.zeros(20)
    start[1], end[17] = 5.0, 5.0
    regions = np.zeros(20, dtype=np.int64)
    assert best_span(start, end, regions, 8).score == 5.0  # type: ignore[union-attr]
    assert best_span(start, end, regions, 17) == Found(1, 17, 10.0)


@pytest.mark.parametrize("tokens", [0, 3])
def test_where_no_answer_may_stand_there_is_none(tokens: int) -> None:
    nowhere = np.full(tokens, NOWHERE)
    assert best_span(np.ones(tokens), np.ones(tokens), nowhere, 8) is None
    assert best_spans(span_scores(np.ones(tokens), np.ones(tokens), nowhere, 8), 3) == []
