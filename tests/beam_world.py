"""A dictionary for a corpus: what beam search is tested with, and all chains of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from random import Random

from hypothesis import strategies as st

from muppet.domain import Chain, Hop
from muppet.retrieve.beam import BeamSettings, Prefix, Ranked, beam_search

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


def table(tables: Mapping[Numbers, Scores]) -> Corpus:
    return Corpus(lambda _question, chain: tables.get(chain, {}))


PITCHER, CLUB, STADIUM, CITY = 1, 2, 3, 4
BASEBALL = {
    (): {PITCHER: -0.5, CLUB: -1.0, CITY: -4.0},
    (PITCHER,): {CLUB: -0.25, STADIUM: -1.0, PITCHER: -0.125},
    (CLUB,): {STADIUM: -0.125, PITCHER: -0.5},
    (CITY,): {STADIUM: -0.125},
}


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
