"""Chains → answers: the best chain is read, then as many again, until an answer is sure.

Most questions are answered by the first chain, and some need many: so the time goes where it is
needed. The paper reads all of them at once (`read.sure` = 1).
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


class Found(Protocol):
    """A question's chains, best first, with the paragraphs they name."""

    @property
    def question(self) -> str: ...
    @property
    def chains(self) -> Sequence[Scored]: ...
    @property
    def paragraphs(self) -> Mapping[int, Paragraph]: ...


def read_until_sure(found: Sequence[Found], read: Read, config: ReadConfig) -> list[list[Answer]]:
    """The answers to each question, best first; a round of all questions is read together."""
    answers: list[list[Answer]] = [[] for _ in found]
    chains: list[list[ChainRead]] = [[] for _ in found]
    most = [min(len(one.chains), config.chains) for one in found]
    left = [place for place, count in enumerate(most) if count]
    past = config.chains if config.sure >= 1 else 1  # so many are read when a round is over
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
            place for place in left if past < most[place] and not _is_sure(answers[place], config)
        ]
        past *= 2
    return answers


def _pair(found: Found, ranked: Scored) -> Pair:
    return found.question, [found.paragraphs[number] for number in ranked.chain.paragraphs]


def _is_sure(answers: Sequence[Answer], config: ReadConfig) -> bool:
    return bool(answers) and answers[0].probability >= config.sure
