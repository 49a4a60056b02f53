"""Beam search with a dictionary for a corpus: every rule by hand (checklist 20, 21, 34)."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_world import (
    BASEBALL,
    CITY,
    CLUB,
    HOPS,
    PITCHER,
    STADIUM,
    WORLDS,
    Corpus,
    Numbers,
    Scores,
    World,
    numbers,
    scored,
    table,
)
from muppet.config import from_table
from muppet.domain import Chain, Hop
from muppet.errors import ConfigError
from muppet.retrieve.beam import BeamSettings, Prefix, beam_search, log_sigmoid


def test_two_hops_are_ranked_by_the_sum_of_their_log_probabilities_checklist_21() -> None:
    ranked = table(BASEBALL).retrieve(1, BeamSettings())[0]
    assert scored(ranked) == [
        ((PITCHER, CLUB), -0.75),
        ((CLUB, STADIUM), -1.125),
        ((PITCHER, STADIUM), -1.5),
        ((CITY, STADIUM), -4.125),
    ]
    assert ranked[0].chain.hops == (Hop(PITCHER, -0.5), Hop(CLUB, -0.25))


def test_a_narrow_beam_never_looks_behind_a_weak_first_hop() -> None:
    ranked = table(BASEBALL).retrieve(1, BeamSettings(widths=(1,)))[0]
    assert numbers(ranked) == [(PITCHER, CLUB), (PITCHER, STADIUM)]


def test_keep_is_how_many_chains_come_out_and_45_unless_told_checklist_7() -> None:
    many = Corpus(lambda _question, _chain: {number: -float(number) for number in range(20)})
    assert len(many.retrieve(1, BeamSettings())[0]) == 45
    assert len(many.retrieve(1, BeamSettings(keep=3))[0]) == 3
    assert len(many.asked[1]) == 8


def test_the_last_width_holds_for_all_further_hops() -> None:
    many = Corpus(lambda _question, _chain: {number: -float(number) for number in range(9)})
    many.retrieve(1, BeamSettings(hops=4, widths=(5, 3)))
    assert [len(prefixes) for prefixes in many.asked] == [1, 5, 3, 3]


def test_only_chains_near_the_best_of_their_question_go_on_and_all_that_come_out_may_be_far() -> (
    None
):
    many = Corpus(lambda q, _chain: {number: -(q + 1.0) * number for number in range(6)})
    ranked = many.retrieve(2, BeamSettings(margin=2.0))
    assert [len(prefixes) for prefixes in many.asked] == [2, 3 + 2]
    assert {chain[0] for chain in numbers(ranked[0])} == {0, 1, 2}
    assert min(one.score for one in ranked[0]) == -7.0
    released = Corpus(many.found)
    released.retrieve(2, BeamSettings(margin=2.0, ranking="released"))
    assert len(released.asked[1]) == 12


def test_all_prefixes_of_all_questions_are_asked_once_per_hop() -> None:
    tables: dict[tuple[int, Numbers], Scores] = {
        (0, ()): {1: -1.0, 2: -2.0},
        (0, (1,)): {2: -1.0},
        (0, (2,)): {3: -1.0},
        (2, ()): {7: -1.0},
        (2, (7,)): {8: -1.0},
    }
    corpus = Corpus(lambda question, chain: tables.get((question, chain), {}))
    results = corpus.retrieve(3, BeamSettings())
    first, second, third = (Chain((Hop(1, -1.0),)), Chain((Hop(2, -2.0),)), Chain((Hop(7, -1.0),)))
    assert corpus.asked == [
        [Prefix(0, Chain()), Prefix(1, Chain()), Prefix(2, Chain())],
        [Prefix(0, first), Prefix(0, second), Prefix(2, third)],
    ]
    assert corpus.hops == [0, 1]
    assert [numbers(ranked) for ranked in results] == [[(1, 2), (2, 3)], [], [(7, 8)]]


@given(world=WORLDS, hops=HOPS | st.just("auto"))
@settings(max_examples=40)
def test_the_model_runs_at_most_once_per_hop_and_the_stop_head_not_after_the_last(
    world: World, hops: int | str
) -> None:
    corpus = Corpus(world.found, world.logit)
    corpus.retrieve(world.questions, BeamSettings(hops))
    assert corpus.hops == list(range(len(corpus.asked)))
    assert len(corpus.asked) <= (4 if hops == "auto" else int(hops))
    assert corpus.completed == (max(len(corpus.asked) - 1, 0) if hops == "auto" else 0)


def test_the_better_order_of_a_set_goes_on_and_the_other_is_forgotten() -> None:
    corpus = table(
        {
            (): {1: -1.0, 2: -1.0},
            (1,): {2: -2.0},
            (2,): {1: -1.0},
            (1, 2): {3: -0.125},
            (2, 1): {3: -4.0},
        }
    )
    assert scored(corpus.retrieve(1, BeamSettings(hops=3))[0]) == [((2, 1, 3), -6.0)]


def test_the_offset_changes_the_order_checklist_21() -> None:
    """Inner products of two reformulated questions do not compare; their probabilities do."""
    inner: dict[Numbers, Scores] = {(): {1: 0.0, 2: 0.0}, (1,): {3: 2.0}, (2,): {4: 1.0}}
    offset: dict[Numbers, float] = {(): 0.0, (1,): -3.0, (2,): 2.0}
    log_probabilities = {
        chain: {number: float(log_sigmoid(x + offset[chain])) for number, x in found.items()}
        for chain, found in inner.items()
    }
    released = table(inner).retrieve(1, BeamSettings(ranking="released"))[0]
    assert numbers(released) == [(1, 3), (2, 4)]
    model = table(log_probabilities).retrieve(1, BeamSettings())[0]
    assert numbers(model) == [(2, 4), (1, 3)]


def test_the_released_ranking_is_the_last_hops_alone_with_repeats_checklist_21() -> None:
    corpus = table(
        {
            (): {1: 9.0, 2: 1.0, 3: 0.5},
            (1,): {1: 4.0, 2: 3.0, 3: -5.0},
            (2,): {1: 6.0, 2: 2.0, 3: 5.0},
            (3,): {1: 99.0},
        }
    )
    beam = BeamSettings(widths=(2,), keep=5, ranking="released")
    assert scored(corpus.retrieve(1, beam)[0]) == [
        ((2, 1), 6.0),  # the weaker first hop does not count
        ((2, 3), 5.0),
        ((1, 1), 4.0),  # a paragraph with itself takes a place
        ((1, 2), 3.0),  # and so does the other order of a pair
        ((2, 2), 2.0),
    ]


def test_equal_scores_are_ordered_by_paragraph_numbers() -> None:
    tied = Corpus(lambda _question, _chain: dict.fromkeys((3, 1, 2), -1.0))
    assert numbers(tied.retrieve(1, BeamSettings())[0]) == [(1, 2), (1, 3), (2, 3)]
    assert numbers(tied.retrieve(1, BeamSettings(hops=1, keep=2))[0]) == [(1,), (2,)]
    assert numbers(tied.retrieve(1, BeamSettings(widths=(1,)))[0]) == [(1, 2), (1, 3)]
    released = tied.retrieve(1, BeamSettings(ranking="released", keep=4))[0]
    assert numbers(released) == [(1, 1), (1, 2), (1, 3), (2, 1)]


@pytest.mark.parametrize("hops", [1, 2, 4, "auto"])
def test_an_empty_corpus_has_no_chains(hops: int | str) -> None:
    empty = table({})
    assert empty.retrieve(2, BeamSettings(hops)) == [[], []]
    assert len(empty.asked) == 1


def test_no_questions_need_no_model() -> None:
    corpus = table(BASEBALL)
    assert corpus.retrieve(0, BeamSettings()) == []
    assert corpus.asked == []


def test_a_chain_that_finds_nothing_further_is_dropped() -> None:
    corpus = table({(): {1: -0.125, 2: -3.0}, (2,): {3: -3.0}})
    assert numbers(corpus.retrieve(1, BeamSettings())[0]) == [(2, 3)]


@pytest.mark.parametrize("ranking", ["model", "released"])
def test_chains_that_all_find_nothing_further_are_better_than_none(ranking: str) -> None:
    corpus = table({(): {1: -2.0, 2: -1.0}})
    ranked = corpus.retrieve(1, BeamSettings(hops=3, ranking=ranking))[0]
    assert scored(ranked) == [((2,), -1.0), ((1,), -2.0)]


def test_log_probabilities_are_finite_and_never_wrong_at_the_ends() -> None:
    assert log_sigmoid([0.0, 1.0, -1.0]) == pytest.approx(
        [math.log(1 / (1 + math.exp(-logit))) for logit in (0.0, 1.0, -1.0)]
    )
    assert log_sigmoid([-1e4, 1e4]).tolist() == [-1e4, 0.0]


# Settings.


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hops": 0}, "retrieve.hops must be from 1 to 4, or auto, not 0"),
        ({"hops": 5}, "retrieve.hops must be from 1 to 4, or auto, not 5"),
        ({"hops": "many"}, "retrieve.hops must be from 1 to 4, or auto, not 'many'"),
        ({"most_hops": 0}, "retrieve.most_hops must be from 1 to 4, not 0"),
        ({"most_hops": 5}, "retrieve.most_hops must be from 1 to 4, not 5"),
        ({"widths": []}, "retrieve.widths needs one width or more"),
        ({"widths": [8, 0]}, r"each at least 1, not \[8, 0\]"),
        ({"margin": -1.0}, "retrieve.margin must be at least 0, not -1"),
        ({"margin": math.nan}, "retrieve.margin must be at least 0, not nan"),
        ({"keep": 0}, "retrieve.keep must be at least 1, not 0"),
        ({"ranking": "best"}, "retrieve.ranking must be model or released, not 'best'"),
        ({"hops": "auto", "ranking": "released"}, "Set the number of hops, or set the ranking"),
    ],
)
def test_bad_settings_are_refused_with_a_reason(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_table(BeamSettings, wrong)


def test_settings_come_from_a_table() -> None:
    table_of_settings = {"hops": "auto", "most_hops": 3, "widths": [8, 4], "keep": 10}
    assert from_table(BeamSettings, table_of_settings) == BeamSettings("auto", 3, (8, 4), 10)


def test_auto_without_a_stop_head_is_refused_with_a_reason() -> None:
    corpus = table(BASEBALL)
    with pytest.raises(ConfigError, match="needs a model with a stop head"):
        beam_search(1, BeamSettings("auto"), ask=corpus.ask, search=corpus.search)
