"""Chains → answers: chains are read one after another, the best first, until an answer is sure.

Most questions are answered by their first chains, and some need many: so the time goes where it is
needed. An answer is sure if its share of what was read would still be `read.sure` if every chain
that was not read held as much, for other answers. Chains that retrieval thinks much less of than of
the best one (`read.margin`) are never read. The paper reads all at once (`read.sure` = 1 and
`read.margin` = inf).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from muppet.config import ReadConfig
from muppet.domain import Answer, Chain, Paragraph
from muppet.read.answers import (
    Candidates,
    ChainRead,
    candidates_of,
    merge_answers,
    with_retrieval,
)

Pair = tuple[str, Sequence[Paragraph]]
"""A question and the paragraphs of one chain."""
Read = Callable[[Sequence[Pair]], Sequence[ChainRead]]


class Scored(Protocol):
    """A chain, and what retrieval thinks of it."""

    @property
    def chain(self) -> Chain: ...
    @property
    def score(self) -> float: ...


class WithChains(Protocol):
    """A question's chains, best first, with the paragraphs they name."""

    @property
    def question(self) -> str: ...
    @property
    def chains(self) -> Sequence[Scored]: ...
    @property
    def paragraphs(self) -> Mapping[int, Paragraph]: ...


def read_until_sure(
    found: Sequence[WithChains], read: Read, config: ReadConfig, *, workers: int = 1
) -> list[list[Answer]]:
    """The answers to each question, best first.

    In a round the next chain of every question that has no sure answer is read, or more of each
    where there are fewer questions than `workers`, so many as read at the same time.
    """
    asked = [_Asked(one, config) for one in found]
    while left := [one for one in asked if one.is_open]:
        each = -(-workers // len(left))
        new = [(one, ranked) for one in left for ranked in one.next_chains(each)]
        said = read([_pair(one.found, ranked) for one, ranked in new])
        for (one, ranked), chain in zip(new, said, strict=True):
            one.take(ranked, chain)
    return [one.answers for one in asked]


class _Asked:
    """A question, and what has been read for it; open while that is not enough."""

    def __init__(self, found: WithChains, config: ReadConfig) -> None:
        more = _more(found.chains, config)
        self.found = found
        self.answers: list[Answer] = []
        self._config = config
        self._sure = more * config.sure
        self._most = min(len(found.chains), round(more * config.chains))
        self._chains = _near_the_best(found.chains[: self._most], more * config.margin)
        self._read: list[Candidates] = []
        self.is_open = bool(self._chains)

    def next_chains(self, count: int) -> Sequence[Scored]:
        """So many chains to read, or all without which no answer can be sure."""
        past, least = len(self._read), math.ceil(self._sure * self._most)
        return self._chains[past : max(past + count, least)]

    def take(self, ranked: Scored, chain: ChainRead) -> None:
        """The next chain as it was read; nothing once it is decided, so that answers are the same
        however many chains are read at once."""
        if not self.is_open:
            return
        own = with_retrieval(chain, ranked.score, ranked.chain.sentences, self._config)
        self._read.append(candidates_of(own, self._config))
        count = len(self._read)
        self.is_open = count < len(self._chains)
        if not self.is_open or count / self._most >= self._sure:  # else no share would be enough
            self.answers = merge_answers(self._read, self._config)
            self.is_open &= _share(self.answers) * count / self._most < self._sure


def _near_the_best(chains: Sequence[Scored], margin: float) -> Sequence[Scored]:
    least = max((one.score for one in chains), default=0.0) - margin
    return [one for one in chains if one.score >= least]


def _pair(found: WithChains, ranked: Scored) -> Pair:
    return found.question, [found.paragraphs[number] for number in ranked.chain.paragraphs]


def _more(chains: Sequence[Scored], config: ReadConfig) -> float:
    """How many times as many chains are read, from how many times as far below the best, and how
    many times as sure an answer has to be, where they are of one hop: half as long as those of
    two."""
    return config.one_hop if all(len(one.chain.hops) == 1 for one in chains) else 1.0


def _share(answers: Sequence[Answer]) -> float:
    """Of the best answer, in what was read."""
    return answers[0].probability if answers else 0.0
