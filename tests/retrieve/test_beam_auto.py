"""The stop head decides how many hops a chain has (checklist 34)."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_world import (
    BASEBALL,
    HOPS,
    WIDE,
    WORLDS,
    Corpus,
    Numbers,
    World,
    all_chains,
    numbers,
    scored,
    sets_once,
    table,
)
from muppet.domain import Chain
from muppet.retrieve.beam import BeamSettings


def stop_score(corpus: Corpus, question: int, chain: Chain, most_hops: int) -> float:
    """The formula of auto, written out with probabilities."""
    lengths = range(1, len(chain.hops) + 1)
    logits = [corpus.logit(question, chain.paragraphs[:length]) for length in lengths]
    complete = [1 / (1 + math.exp(-logit)) for logit in logits]
    going_on = sum(math.log(1 - p) for p in complete[:-1])
    stopping = 0.0 if len(chain.hops) == most_hops else math.log(complete[-1])
    return chain.score / len(chain.hops) + going_on + stopping


def all_stopped(
    corpus: Corpus, question: int, paragraphs: int, most_hops: int
) -> dict[Numbers, float]:
    """Chains of all lengths."""
    return {
        chain.paragraphs: stop_score(corpus, question, chain, most_hops)
        for length in range(1, most_hops + 1)
        for chain in all_chains(corpus, question, paragraphs, length)
    }


@given(world=WORLDS, most_hops=HOPS, keep=st.integers(1, 50))
@settings(max_examples=60)
def test_auto_finds_the_best_of_all_chains_of_all_lengths_checklist_34(
    world: World, most_hops: int, keep: int
) -> None:
    corpus = Corpus(world.found_ahead, world.logit)
    beam = BeamSettings("auto", most_hops, widths=(WIDE,), keep=keep)
    for question, ranked in enumerate(corpus.retrieve(world.questions, beam)):
        expected = all_stopped(corpus, question, world.paragraphs, most_hops)
        best = sorted(expected.values(), reverse=True)[:keep]
        assert [each.score for each in ranked] == pytest.approx(best)
        assert [expected[order] for order in numbers(ranked)] == pytest.approx(best)
        assert len(set(numbers(ranked))) == len(ranked)


@given(world=WORLDS, most_hops=HOPS)
@settings(max_examples=60)
def test_auto_finds_the_best_order_of_every_set_where_only_the_set_counts(
    world: World, most_hops: int
) -> None:
    corpus = Corpus(world.found_by_set, world.logit_by_hop)
    beam = BeamSettings("auto", most_hops, widths=(WIDE,), keep=WIDE)
    for question, ranked in enumerate(corpus.retrieve(world.questions, beam)):
        every = all_stopped(corpus, question, world.paragraphs, most_hops)
        best = {frozenset(order): score for order, score in sets_once(every)}
        got = {frozenset(order): score for order, score in scored(ranked)}
        assert got == pytest.approx(best)


def with_logits(*logits: float) -> Corpus:
    """Every hop finds every paragraph, a little worse each; completeness by length."""
    return Corpus(
        lambda _question, _chain: {number: -number / 8 for number in range(1, 6)},
        lambda _question, chain: logits[len(chain) - 1],
    )


@pytest.mark.parametrize(
    ("logits", "hops"),
    [((9, 9, 9), 1), ((-9, 9, 9), 2), ((-9, -9, 9), 3), ((-9, -9, -9), 4)],
)
def test_auto_stops_where_the_evidence_is_complete_checklist_34(
    logits: tuple[float, ...], hops: int
) -> None:
    best = with_logits(*logits).retrieve(1, BeamSettings("auto"))[0][0]
    assert best.chain.paragraphs == (1, 2, 3, 4)[:hops]


def test_auto_may_stop_at_different_lengths_for_the_questions_of_one_batch() -> None:
    corpus = Corpus(
        lambda _question, _chain: {1: -0.5, 2: -0.5, 3: -0.5},
        lambda question, chain: 9.0 if len(chain) == question + 1 else -9.0,
    )
    results = corpus.retrieve(3, BeamSettings("auto", most_hops=3))
    assert [numbers(ranked)[0] for ranked in results] == [(1,), (1, 2), (1, 2, 3)]


def test_auto_favours_no_length_when_all_hops_and_all_lengths_are_as_likely() -> None:
    """Stopping after 1, 2 or 3 hops is made a third each; all hops are equally probable."""
    corpus = Corpus(
        lambda _question, chain: {len(chain) + 1: -0.75},
        lambda _question, chain: (math.log(1 / 2), 0.0)[len(chain) - 1],
    )
    ranked = corpus.retrieve(1, BeamSettings("auto", most_hops=3))[0]
    assert sorted(numbers(ranked)) == [(1,), (1, 2), (1, 2, 3)]
    assert [each.score for each in ranked] == pytest.approx([-0.75 + math.log(1 / 3)] * 3)


def test_auto_keeps_a_chain_that_finds_nothing_further_as_one_that_stopped() -> None:
    corpus = Corpus(
        lambda _question, chain: {(): {1: -0.25, 2: -1.0}, (2,): {3: -1.0}}.get(chain, {}),
        lambda _question, _chain: 0.0,
    )
    ranked = corpus.retrieve(1, BeamSettings("auto", most_hops=2))[0]
    half = math.log(1 / 2)
    assert [each.chain.paragraphs for each in ranked] == [(1,), (2,), (2, 3)]
    assert [each.score for each in ranked] == pytest.approx([-0.25 + half, -1 + half, -1 + half])


def test_auto_with_one_hop_at_most_is_one_hop() -> None:
    auto, fixed = table(BASEBALL), table(BASEBALL)
    assert auto.retrieve(1, BeamSettings("auto", most_hops=1)) == fixed.retrieve(1, BeamSettings(1))
