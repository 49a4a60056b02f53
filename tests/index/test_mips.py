"""Search by inner product is what a loop over paragraphs and sentences finds (checklist 14, 20)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from muppet.index.mips import SMALL, best_sentences, top

Counts = st.lists(st.integers(0, 5), max_size=12)


def whole_numbers(seed: int, *shape: int) -> NDArray[np.float32]:
    """Small whole numbers, so that products are exact and ties happen."""
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(np.float32)


def by_hand(paragraphs: list[NDArray[np.float32]], query: NDArray[np.float32]) -> list[tuple]:
    """The score and the best sentence of each paragraph."""
    found = []
    for sentences in paragraphs:
        best, which = -np.inf, 0
        for place, sentence in enumerate(sentences):
            product = sum(float(a) * float(b) for a, b in zip(sentence, query, strict=True))
            if product > best:
                best, which = product, place
        found.append((best, which))
    return found


@given(counts=Counts, queries=st.integers(0, 3), seed=st.integers(0, 1_000))
def test_a_paragraph_scores_as_its_best_sentence(
    counts: list[int], queries: int, seed: int
) -> None:
    rows, asked = whole_numbers(seed, sum(counts), 3), whole_numbers(seed + 1, queries, 3)
    starts = np.cumsum([0, *counts])[:-1].astype(np.int64)
    scores, sentence = best_sentences(rows, starts, asked)
    assert (scores.dtype, scores.shape) == (np.float32, (queries, len(counts)))
    paragraphs = np.split(rows, starts[1:]) if counts else []
    for query, row, places in zip(asked, scores.tolist(), sentence.tolist(), strict=True):
        assert list(zip(row, places, strict=True)) == by_hand(paragraphs, query)


def test_a_paragraph_without_sentences_is_never_the_best() -> None:
    rows = np.array([[1.0], [2.0]], dtype=np.float32)
    scores, sentence = best_sentences(rows, np.array([0, 0, 2, 2]), -np.ones((1, 1), np.float32))
    assert scores.tolist() == [[-np.inf, -1.0, -np.inf, -np.inf]]
    assert sentence.tolist() == [[0, 0, 0, 0]]


@given(
    paragraphs=st.integers(0, 40) | st.integers(SMALL - 2, 2 * SMALL),
    keep=st.integers(0, 50),
    values=st.integers(1, 1_000),
    seed=st.integers(0, 1_000),
)
def test_the_best_come_first_and_equals_in_order_of_place(
    paragraphs: int, keep: int, values: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, values, (3, paragraphs)).astype(np.float32)
    right = [
        sorted(range(paragraphs), key=lambda place: (-row[place], place))[:keep] for row in scores
    ]
    assert top(scores, keep).tolist() == right


@pytest.mark.parametrize("keep", [3, 400, 900])
def test_paragraphs_that_score_nothing_at_all_can_be_sorted(keep: int) -> None:
    scores = np.full((1, 900), -np.inf, dtype=np.float32)
    scores[0, [7, 500]] = 1.0
    assert top(scores, keep)[0, :3].tolist() == [7, 500, 0]
    assert len(set(top(scores, keep)[0].tolist())) == keep


def test_no_queries_and_no_paragraphs_give_nothing() -> None:
    nothing = np.empty((0, 4), dtype=np.float32)
    scores, _ = best_sentences(nothing, np.empty(0, dtype=np.int64), np.ones((2, 4), np.float32))
    assert top(scores, 5).shape == (2, 0)
    assert top(np.empty((0, 900), dtype=np.float32), 5).shape == (0, 5)
