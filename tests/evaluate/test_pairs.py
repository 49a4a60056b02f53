"""Pairs of a ranking's best paragraphs (checklist 7)."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from muppet.domain import Hop
from muppet.evaluate.pairs import pairs_of

RANKINGS = st.lists(st.integers(0, 5), max_size=14).map(
    lambda scores: [Hop(90 - rank, score) for rank, score in enumerate(sorted(scores)[::-1])]
)


def test_the_baseline_reads_all_45_pairs_of_the_top_10_checklist_7() -> None:
    pairs = pairs_of([Hop(number, 100.0 - number) for number in range(30)])
    assert len(pairs) == 45
    assert {pair.paragraphs for pair in pairs} == set(combinations(range(10), 2))


def test_pairs_come_best_first_by_the_sum_of_their_scores() -> None:
    pairs = pairs_of([Hop(7, 9.0), Hop(3, 5.0), Hop(5, 4.5), Hop(1, 0.25)])
    assert [pair.paragraphs for pair in pairs] == [(7, 3), (7, 5), (3, 5), (7, 1), (3, 1), (5, 1)]
    assert pairs[0].hops == (Hop(7, 9.0), Hop(3, 5.0))


def test_equal_sums_are_ordered_by_ranks_and_not_by_paragraph_numbers() -> None:
    pairs = pairs_of([Hop(9, 3.0), Hop(2, 2.0), Hop(8, 2.0), Hop(1, 1.0)])
    assert [pair.paragraphs for pair in pairs] == [(9, 2), (9, 8), (9, 1), (2, 8), (2, 1), (8, 1)]


def test_fewer_than_two_paragraphs_make_no_pair() -> None:
    assert pairs_of([]) == []
    assert pairs_of([Hop(1, 1.0)]) == []


@given(RANKINGS, st.integers(0, 50), st.integers(0, 12))
def test_pairs_are_the_best_of_all_pairs(ranking: list[Hop], keep: int, among: int) -> None:
    top = range(min(among, len(ranking)))
    ranks = sorted(
        ((first, second) for first in top for second in top if first < second),
        key=lambda pair: (-ranking[pair[0]].score - ranking[pair[1]].score, pair),
    )
    expected = [(ranking[first], ranking[second]) for first, second in ranks[:keep]]
    assert [pair.hops for pair in pairs_of(ranking, keep, among)] == expected
