"""Retrieval scores of rankings and of chains (checklist 22)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muppet.evaluate.chains import (
    CUTOFFS,
    RetrievalScores,
    mean_retrieval,
    no_retrieval,
    score_chains,
    score_ranking,
)

KEYS = st.integers(min_value=0, max_value=7)
GOLD = st.sets(KEYS, min_size=1, max_size=3)


def test_a_ranking_is_perfect_when_all_gold_paragraphs_are_in_the_top_k_checklist_22() -> None:
    scores = score_ranking({"a", "b"}, ["x", "a", "y", "b", "z"], cutoffs=(1, 2, 3, 4, 5))
    assert scores.perfect == {1: 0.0, 2: 0.0, 3: 0.0, 4: 1.0, 5: 1.0}


def test_a_ranking_has_at_least_one_when_any_gold_is_in_the_top_k_checklist_22() -> None:
    scores = score_ranking({"a", "b"}, ["x", "a", "y", "b"], cutoffs=(1, 2, 4))
    assert scores.at_least_one == {1: 0.0, 2: 1.0, 4: 1.0}


def test_the_hits_of_a_ranking_are_the_share_of_gold_in_the_top_k_checklist_22() -> None:
    scores = score_ranking({"a", "b", "c"}, ["a", "x", "b"], cutoffs=(1, 2, 3, 9))
    assert scores.hits == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 2 / 3, 9: 2 / 3})


def test_a_chain_is_perfect_when_it_is_the_gold_set_in_any_order_checklist_22() -> None:
    chains = [["a", "x"], ["x", "b"], ["a", "b", "x"], ["b", "a"], ["a", "b"]]
    scores = score_chains({"a", "b"}, chains, cutoffs=(1, 2, 3, 4, 5))
    assert scores.perfect == {1: 0.0, 2: 0.0, 3: 0.0, 4: 1.0, 5: 1.0}


def test_gold_spread_over_two_chains_is_found_but_not_perfect_checklist_22() -> None:
    scores = score_chains({"a", "b"}, [["x", "y"], ["a", "x"], ["x", "b"]], cutoffs=(1, 2, 3))
    assert scores == RetrievalScores(
        perfect={1: 0.0, 2: 0.0, 3: 0.0},
        at_least_one={1: 0.0, 2: 1.0, 3: 1.0},
        hits={1: 0.0, 2: 0.5, 3: 1.0},
    )


def test_a_gold_paragraph_named_twice_counts_once() -> None:
    assert score_ranking(["a", "a", "b"], ["a"], cutoffs=(1,)).hits == {1: 0.5}


def test_a_repeated_paragraph_counts_at_its_first_rank() -> None:
    assert score_ranking({"a"}, ["a", "x", "a"], cutoffs=(1,)).perfect == {1: 1.0}


def test_nothing_found_scores_0_at_every_cutoff() -> None:
    zeros = dict.fromkeys(CUTOFFS, 0.0)
    nothing = RetrievalScores(perfect=zeros, at_least_one=zeros, hits=zeros)
    assert score_ranking({1}, []) == score_chains({1}, []) == no_retrieval() == nothing


def test_a_question_without_gold_paragraphs_cannot_be_scored_checklist_22() -> None:
    with pytest.raises(ValueError, match="without gold paragraphs"):
        score_ranking([], ["a"])
    with pytest.raises(ValueError, match="without gold paragraphs"):
        score_chains([], [["a"]])


def test_retrieval_is_averaged_over_questions_at_each_cutoff_checklist_22() -> None:
    found = score_ranking({"a", "b"}, ["a", "b"], cutoffs=(1, 2))
    missed = score_ranking({"a", "b"}, ["x", "b"], cutoffs=(1, 2))
    assert mean_retrieval([found, missed]) == RetrievalScores(
        perfect={1: 0.0, 2: 0.5}, at_least_one={1: 0.5, 2: 1.0}, hits={1: 0.25, 2: 0.75}
    )


def assert_ordered(scores: RetrievalScores) -> None:
    """perfect ≤ hits ≤ at least one, and none of them falls when k grows."""
    for cutoff in CUTOFFS:
        assert 0.0 <= scores.perfect[cutoff] <= scores.hits[cutoff]
        assert scores.hits[cutoff] <= scores.at_least_one[cutoff] <= 1.0
    for by_cutoff in (scores.perfect, scores.hits, scores.at_least_one):
        assert list(by_cutoff) == list(CUTOFFS)
        assert list(by_cutoff.values()) == sorted(by_cutoff.values())


@settings(deadline=None)
@given(GOLD, st.lists(KEYS, max_size=30))
def test_rankings_score_as_plain_counting_does_checklist_22(
    gold: set[int], ranking: list[int]
) -> None:
    scores = score_ranking(gold, ranking)
    assert_ordered(scores)
    for cutoff in CUTOFFS:
        found = gold & set(ranking[:cutoff])
        assert scores.perfect[cutoff] == float(found == gold)
        assert scores.at_least_one[cutoff] == float(bool(found))
        assert scores.hits[cutoff] == len(found) / len(gold)


@settings(deadline=None)
@given(GOLD, st.lists(st.lists(KEYS, max_size=3), max_size=30))
def test_chains_score_as_plain_counting_does_checklist_22(
    gold: set[int], chains: list[list[int]]
) -> None:
    scores = score_chains(gold, chains)
    assert_ordered(scores)
    for cutoff in CUTOFFS:
        top = [set(chain) for chain in chains[:cutoff]]
        found = {key for key in gold if any(key in chain for chain in top)}
        assert scores.perfect[cutoff] == float(gold in top)
        assert scores.at_least_one[cutoff] == float(bool(found))
        assert scores.hits[cutoff] == len(found) / len(gold)


@settings(deadline=None)
@given(GOLD, st.lists(KEYS, max_size=30))
def test_a_ranking_and_chains_of_one_find_the_same_checklist_22(
    gold: set[int], ranking: list[int]
) -> None:
    single = score_chains(gold, [[key] for key in ranking])
    scores = score_ranking(gold, ranking)
    assert (single.hits, single.at_least_one) == (scores.hits, scores.at_least_one)
    if len(gold) == 1:
        assert single.perfect == scores.perfect
