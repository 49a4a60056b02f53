"""Beam search against all chains, and against a slow and obvious beam (checklist 20, 21)."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from beam_world import (
    HOPS,
    NARROW,
    WIDE,
    WORLDS,
    Corpus,
    Numbers,
    Scores,
    World,
    all_chains,
    numbers,
    scored,
    sets_once,
)
from muppet.domain import Chain, Hop
from muppet.retrieve.beam import BeamSettings, log_sigmoid

# Brute force: every order of every set is looked at, nothing is cut.


def best_of_all(
    corpus: Corpus, question: int, paragraphs: int, hops: int
) -> list[tuple[Numbers, float]]:
    """All chains of as many hops as there can be, at most `hops`."""
    for length in range(hops, 0, -1):
        chains = list(all_chains(corpus, question, paragraphs, length))
        if chains:
            return sets_once({chain.paragraphs: chain.score for chain in chains})
    return []


@given(world=WORLDS, hops=HOPS, keep=st.integers(1, 50))
@settings(max_examples=60)
def test_a_wide_beam_finds_the_best_of_all_chains_where_only_the_set_counts(
    world: World, hops: int, keep: int
) -> None:
    corpus = Corpus(world.found_by_set)
    results = corpus.retrieve(world.questions, BeamSettings(hops, widths=(WIDE,), keep=keep))
    assert [scored(ranked) for ranked in results] == [
        best_of_all(corpus, question, world.paragraphs, hops)[:keep]
        for question in range(world.questions)
    ]


@given(world=WORLDS, hops=HOPS, keep=st.integers(1, 50))
@settings(max_examples=60)
def test_a_wide_beam_finds_the_best_of_all_chains_where_each_set_has_one_order(
    world: World, hops: int, keep: int
) -> None:
    corpus = Corpus(world.found_ahead)
    results = corpus.retrieve(world.questions, BeamSettings(hops, widths=(WIDE,), keep=keep))
    assert [scored(ranked) for ranked in results] == [
        best_of_all(corpus, question, world.paragraphs, hops)[:keep]
        for question in range(world.questions)
    ]


@given(world=WORLDS, hops=st.integers(1, 2))
@settings(max_examples=60)
def test_a_wide_beam_finds_the_best_of_all_pairs_whatever_the_scores(
    world: World, hops: int
) -> None:
    corpus = Corpus(world.found)
    results = corpus.retrieve(world.questions, BeamSettings(hops, widths=(WIDE,), keep=WIDE))
    assert [scored(ranked) for ranked in results] == [
        best_of_all(corpus, question, world.paragraphs, hops) for question in range(world.questions)
    ]


# The slow beam: one question, one hop, one chain at a time.


@dataclass
class Partial:
    chain: Chain
    going_on: float = 0.0
    score: float = 0.0


def slow_beam(corpus: Corpus, question: int, beam: BeamSettings) -> list[tuple[Numbers, float]]:
    """The same promise kept the obvious way."""
    longest = beam.most_hops if beam.hops == "auto" else int(beam.hops)
    partials = [Partial(Chain())]
    stopped: dict[Numbers, float] = {}
    for hop in range(longest):
        last = hop == longest - 1
        if beam.hops == "auto" and hop > 0:
            stop_each(corpus, question, partials, stopped)
        longer = slow_hop(
            corpus, question, partials, beam.ranking, mean=beam.hops == "auto" and last
        )
        if not longer:
            break
        longer.sort(key=lambda partial: (-partial.score, partial.chain.paragraphs))
        if beam.ranking == "model":
            drop_later_orders(longer)
        widths = beam.widths + beam.widths[-1:] * hop
        partials = longer[: beam.keep if last else widths[hop]]
    if partials[0].chain.hops and (beam.hops != "auto" or len(partials[0].chain.hops) == longest):
        stopped |= {partial.chain.paragraphs: partial.score for partial in partials}
    return sorted(stopped.items(), key=lambda item: (-item[1], item[0]))[: beam.keep]


def stop_each(
    corpus: Corpus, question: int, partials: list[Partial], stopped: dict[Numbers, float]
) -> None:
    for partial in partials:
        logit = corpus.logit(question, partial.chain.paragraphs)
        mean = partial.chain.score / len(partial.chain.hops)
        stopped[partial.chain.paragraphs] = mean + partial.going_on + float(log_sigmoid(logit))
        partial.going_on += float(log_sigmoid(-logit))


def slow_hop(
    corpus: Corpus, question: int, partials: list[Partial], ranking: str, *, mean: bool
) -> list[Partial]:
    longer = []
    for partial in partials:
        for paragraph, score in corpus.found(question, partial.chain.paragraphs).items():
            if ranking == "model" and paragraph in partial.chain.paragraphs:
                continue
            chain = partial.chain.then(Hop(paragraph, score))
            total = chain.score / len(chain.hops) if mean else chain.score
            total = score if ranking == "released" else total + partial.going_on
            longer.append(Partial(chain, partial.going_on, total))
    return longer


def drop_later_orders(partials: list[Partial]) -> None:
    seen: list[set[int]] = []
    for partial in list(partials):
        if set(partial.chain.paragraphs) in seen:
            partials.remove(partial)
        seen.append(set(partial.chain.paragraphs))


@given(
    world=WORLDS,
    hops=HOPS | st.just("auto"),
    most_hops=HOPS,
    widths=NARROW,
    keep=st.integers(1, 6),
    released=st.booleans(),
)
@settings(max_examples=300)
def test_a_narrow_beam_is_the_slow_beam(
    world: World,
    hops: int | str,
    most_hops: int,
    widths: Numbers,
    keep: int,
    released: bool,
) -> None:
    ranking = "released" if released and hops != "auto" else "model"
    beam = BeamSettings(hops, most_hops, widths, keep, ranking)
    corpus = Corpus(world.found, world.logit)
    results = corpus.retrieve(world.questions, beam)
    assert [scored(ranked) for ranked in results] == [
        slow_beam(corpus, question, beam) for question in range(world.questions)
    ]


@given(world=WORLDS, hops=HOPS | st.just("auto"), widths=NARROW, keep=st.integers(1, 6))
@settings(max_examples=100)
def test_enough_candidates_of_each_prefix_give_the_result_of_all(
    world: World, hops: int | str, widths: Numbers, keep: int
) -> None:
    beam = BeamSettings(hops, widths=widths, keep=keep)
    corpus = Corpus(world.found, world.logit)

    def found(question: int, chain: Numbers) -> Scores:
        scores = world.found(question, chain)
        best = sorted(scores, key=lambda number: (-scores[number], number))
        return {number: scores[number] for number in best[: beam.enough(len(chain))]}

    few = Corpus(found, world.logit)
    assert few.retrieve(world.questions, beam) == corpus.retrieve(world.questions, beam)


@given(world=WORLDS, hops=HOPS | st.just("auto"), widths=NARROW)
@settings(max_examples=100)
def test_no_chain_repeats_a_paragraph_and_no_set_comes_twice_checklist_21(
    world: World, hops: int | str, widths: Numbers
) -> None:
    corpus = Corpus(world.found, world.logit)
    for ranked in corpus.retrieve(world.questions, BeamSettings(hops, widths=widths)):
        sets = [frozenset(order) for order in numbers(ranked)]
        assert [len(each) for each in sets] == [len(order) for order in numbers(ranked)]
        assert len(sets) == len(set(sets))
    for prefixes in corpus.asked:
        seen = [(prefix.question, frozenset(prefix.chain.paragraphs)) for prefix in prefixes]
        assert len(seen) == len(set(seen))
