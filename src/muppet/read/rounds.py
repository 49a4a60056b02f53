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
    most = [_most(one.chains, config) for one in found]
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
            if past < most[place] and not _is_sure(answers[place], past / most[place], config)
        ]
        past *= 2
    return answers


def _pair(found: WithChains, ranked: Scored) -> Pair:
    return found.question, [found.paragraphs[number] for number in ranked.chain.paragraphs]


def _most(chains: Sequence[Scored], config: ReadConfig) -> int:
    """How many are read at most. One of one hop is half as long as one of two, so that more can be
    read in the same time."""
    hops = max((len(one.chain.hops) for one in chains), default=0)
    return min(len(chains), round((config.one_hop if hops == 1 else 1.0) * config.chains))


def _is_sure(answers: Sequence[Answer], part: float, config: ReadConfig) -> bool:
    """Whether the best answer's share is enough, where only this part of the chains was read."""
    return bool(answers) and answers[0].probability * part >= config.sure
