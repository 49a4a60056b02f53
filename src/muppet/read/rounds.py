"""Chains → answers: the best chain is read, then as many again, until an answer is sure.

Most questions are answered by their first chains, and some need many: so the time goes where it is
needed. An answer is sure if its share of what was read would still be `read.sure` if every chain
that was not read held as much, for other answers. The paper reads all at once (`read.sure` = 1).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from muppet.config import ReadConfig
from muppet.domain import Answer, Chain, Paragraph
from muppet.read.answers import ChainRead, choose_answers, with_retrieval

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
    found: Sequence[WithChains], read: Read, config: ReadConfig
) -> list[list[Answer]]:
    """The answers to each question, best first; a round of all questions is read together."""
    answers: list[list[Answer]] = [[] for _ in found]
    chains: list[list[ChainRead]] = [[] for _ in found]
    more = [_more(one.chains, config) for one in found]
    most = [
        min(len(one.chains), round(times * config.chains))
        for one, times in zip(found, more, strict=True)
    ]
    left = [place for place, count in enumerate(most) if count]
    past = max(most, default=0) if config.sure >= 1 else 1  # are read when a round is over
    while left:
        new = [
            (place, found[place].chains[number])
            for place in left
            for number in range(len(chains[place]), min(past, most[place]))
        ]
        pairs = [_pair(found[place], ranked) for place, ranked in new]
        for (place, ranked), one in zip(new, read(pairs), strict=True):
            own = with_retrieval(one, ranked.score, ranked.chain.sentences, config)
            chains[place].append(own)
        for place in left:
            answers[place] = choose_answers(chains[place], config)
        left = [
            place
            for place in left
            if past < most[place]
            and _share(answers[place]) * past / most[place] < more[place] * config.sure
        ]
        past *= 2
    return answers


def _pair(found: WithChains, ranked: Scored) -> Pair:
    return found.question, [found.paragraphs[number] for number in ranked.chain.paragraphs]


def _more(chains: Sequence[Scored], config: ReadConfig) -> float:
    """How many times as many chains are read, and how many times as sure an answer has to be, where
    they are of one hop: half as long as those of two."""
    return config.one_hop if all(len(one.chain.hops) == 1 for one in chains) else 1.0


def _share(answers: Sequence[Answer]) -> float:
    """Of the best answer, in what was read."""
    return answers[0].probability if answers else 0.0
