"""Beam search with a dictionary for a corpus, and against all chains (checklist 20, 21, 34)."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muppet.config import from_table
from muppet.domain import Chain, Hop
from muppet.errors import ConfigError
from muppet.retrieve.beam import BeamSettings, Prefix, Ranked, beam_search, log_sigmoid

Numbers = tuple[int, ...]  # the paragraphs of a chain
Scores = Mapping[int, float]  # the candidates of one prefix

WIDE = 10_000


@dataclass
class Corpus:
    """Candidates and completeness of every prefix, and a record of what the beam asked for."""

    found: Callable[[int, Numbers], Scores]
    logit: Callable[[int, Numbers], float] = lambda _question, _chain: 0.0
    asked: list[list[Prefix]] = field(default_factory=list)
    hops: list[int] = field(default_factory=list)
    completed: int = 0

    def ask(self, prefixes: Sequence[Prefix]) -> list[str]:
        self.asked.append(list(prefixes))
        return [self._reformulated(prefix) for prefix in prefixes]

    def search(self, asked: list[str], prefixes: Sequence[Prefix], hop: int) -> list[list[Hop]]:
        assert asked == [self._reformulated(prefix) for prefix in prefixes]
        assert {len(chain.hops) for _, chain in prefixes} == {hop}
        self.hops.append(hop)
        return [self._candidates(*prefix) for prefix in prefixes]

    def complete(self, asked: list[str], prefixes: Sequence[Prefix]) -> list[float]:
        assert asked == [self._reformulated(prefix) for prefix in prefixes]
        self.completed += 1
        return [self.logit(question, chain.paragraphs) for question, chain in prefixes]

    def retrieve(self, questions: int, beam: BeamSettings) -> list[list[Ranked]]:
        return beam_search(
            questions, beam, ask=self.ask, search=self.search, complete=self.complete
        )

    def _candidates(self, question: int, chain: Chain) -> list[Hop]:
        scores = self.found(question, chain.paragraphs)
        return [Hop(paragraph, scores[paragraph]) for paragraph in scores]

    @staticmethod
    def _reformulated(prefix: Prefix) -> str:
        return f"question {prefix.question} after {prefix.chain.paragraphs}"


@dataclass(frozen=True)
class World:
    """Random tables: scores are sixteenths, so that sums are exact and ties are frequent."""

    seed: int
    questions: int
    paragraphs: int
    present: float  # the share of paragraphs that a prefix finds

    def found(self, question: int, chain: Numbers) -> Scores:
        random = Random(f"{self.seed} {question} {chain}")
        drawn = {number: -random.randrange(1, 64) / 16 for number in range(self.paragraphs)}
        order = random.sample(range(self.paragraphs), self.paragraphs)
        return {number: drawn[number] for number in order if random.random() < self.present}

    def found_by_set(self, question: int, chain: Numbers) -> Scores:
        """The order of a chain changes nothing."""
        return self.found(question, tuple(sorted(chain)))

    def found_ahead(self, question: int, chain: Numbers) -> Scores:
        """Only ever larger numbers: each set has one order."""
        scores = self.found(question, chain)
        return {number: scores[number] for number in scores if number > max(chain, default=-1)}

    def logit(self, question: int, chain: Numbers) -> float:
        return Random(f"complete {self.seed} {question} {chain}").randrange(-32, 33) / 8

    def logit_by_hop(self, question: int, chain: Numbers) -> float:
        return self.logit(question, (len(chain),))


WORLDS = st.builds(
    World,
    seed=st.integers(0, 2**32),
    questions=st.integers(0, 3),
    paragraphs=st.integers(0, 5),
    present=st.sampled_from([0.3, 0.8, 1.0]),
)
HOPS = st.integers(1, 4)
NARROW = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


def numbers(ranked: Sequence[Ranked]) -> list[Numbers]:
    return [each.chain.paragraphs for each in ranked]


def scored(ranked: Sequence[Ranked]) -> list[tuple[Numbers, float]]:
    return [(each.chain.paragraphs, each.score) for each in ranked]


# Brute force: every order of every set is looked at, nothing is cut.


def all_chains(corpus: Corpus, question: int, paragraphs: int, hops: int) -> Iterator[Chain]:
    for order in permutations(range(paragraphs), hops):
        tables = [corpus.found(question, order[:hop]) for hop in range(hops)]
        if all(number in table for number, table in zip(order, tables, strict=True)):
            yield Chain(
                tuple(
                    Hop(number, table[number]) for number, table in zip(order, tables, strict=True)
                )
            )


def sets_once(chains: Mapping[Numbers, float]) -> list[tuple[Numbers, float]]:
    ranked = sorted(chains.items(), key=lambda item: (-item[1], item[0]))
    first = {frozenset(order): order for order, _ in reversed(ranked)}
    return [(order, score) for order, score in ranked if first[frozenset(order)] == order]


def best_of_all(
    corpus: Corpus, question: int, paragraphs: int, hops: int
) -> list[tuple[Numbers, float]]:
    """All chains of as many hops as there can be, at most `hops`."""
    for length in range(hops, 0, -1):
        chains = list(all_chains(corpus, question, paragraphs, length))
        if chains:
            return sets_once({chain.paragraphs: chain.score for chain in chains})
    return []


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


# By hand.


def table(tables: Mapping[Numbers, Scores]) -> Corpus:
    return Corpus(lambda _question, chain: tables.get(chain, {}))


PITCHER, CLUB, STADIUM, CITY = 1, 2, 3, 4
BASEBALL = {
    (): {PITCHER: -0.5, CLUB: -1.0, CITY: -4.0},
    (PITCHER,): {CLUB: -0.25, STADIUM: -1.0, PITCHER: -0.125},
    (CLUB,): {STADIUM: -0.125, PITCHER: -0.5},
    (CITY,): {STADIUM: -0.125},
}


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


# The model decides how many hops.


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


def test_log_probabilities_are_finite_and_never_wrong_at_the_ends() -> None:
    assert log_sigmoid([0.0, 1.0, -1.0]) == pytest.approx(
        [math.log(1 / (1 + math.exp(-logit))) for logit in (0.0, 1.0, -1.0)]
    )
    assert log_sigmoid([-1e4, 1e4]).tolist() == [-1e4, 0.0]


# Settings.


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hops": 0}, "retrieve.hops must be at least 1, or auto, not 0"),
        ({"hops": "many"}, "retrieve.hops must be at least 1, or auto, not 'many'"),
        ({"most_hops": 0}, "retrieve.most_hops must be from 1 to 4, not 0"),
        ({"most_hops": 5}, "retrieve.most_hops must be from 1 to 4, not 5"),
        ({"widths": []}, "retrieve.widths needs one width or more"),
        ({"widths": [8, 0]}, r"each at least 1, not \[8, 0\]"),
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
