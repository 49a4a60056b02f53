"""Chains are read in rounds, each as many again, until an answer is sure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from muppet.config import ReadConfig
from muppet.domain import Chain, Hop, Paragraph
from muppet.errors import ConfigError
from muppet.read.answers import ChainLogits, ChainRead, choose_answers, with_retrieval
from muppet.read.rounds import Pair, read_until_sure
from muppet.text.layout import reading_apart
from muppet.text.prepare import Preparer
from muppet.text.vocab import Alphabet, Lexicon

PREPARER = Preparer(Lexicon(Alphabet(""), lambda _: -1), None, max_tokens=50, with_title=True)
PARAGRAPHS = {n: Paragraph(f"p{n}", f"Title {n}", (f"Word{n} and others.",)) for n in range(9)}
CONFIG = ReadConfig(chains=8, one_hop=1.0, sure=0.1)


@dataclass(frozen=True)
class Ranked:
    chain: Chain
    score: float


@dataclass(frozen=True)
class Found:
    question: str
    chains: Sequence[Ranked]
    paragraphs: dict[int, Paragraph] = field(default_factory=lambda: PARAGRAPHS)


def found(question: str, count: int) -> Found:
    chains = [Ranked(Chain((Hop(n, -0.1 * n),)), -0.1 * n) for n in range(count)]
    return Found(question, chains)


class Reader:
    """Sure of the first word of the paragraph that a question names, and of nothing else."""

    def __init__(self) -> None:
        self.rounds: list[list[tuple[str, str]]] = []

    def __call__(self, pairs: Sequence[Pair]) -> list[ChainRead]:
        self.rounds.append([(question, chain[0].id) for question, chain in pairs])
        return [self._read(question, tuple(chain)) for question, chain in pairs]

    def read_of(self, question: str) -> list[int]:
        """How many chains of a question were read in each round."""
        counts = [sum(asked == question for asked, _ in one) for one in self.rounds]
        return [count for count in counts if count]

    def _read(self, question: str, chain: tuple[Paragraph, ...]) -> ChainRead:
        texts = [PREPARER.paragraph(one) for one in chain]
        reading = reading_apart(PREPARER.question(question), texts)
        words = [word for text in texts for word in text.tokens.words()]
        likes = np.array([9.0 if word == f"Word{chain[0].id[1:]}" else 0.0 for word in words])
        likes *= question == chain[0].id
        sentences = np.zeros(len(reading.layout.present))
        return ChainRead(
            chain,
            reading,
            ChainLogits(likes, likes, np.array([5.0, 0.0]), np.zeros(2), sentences),
        )


@pytest.mark.parametrize(
    ("question", "counts"),
    [("p0", [1]), ("p1", [1, 1]), ("p2", [1, 1, 2]), ("p3", [1, 1, 2]), ("p7", [1, 1, 2, 4])],
)
def test_as_many_again_are_read_until_an_answer_is_sure(question: str, counts: list[int]) -> None:
    reader = Reader()
    ((best, *_),) = read_until_sure([found(question, 9)], reader, CONFIG)
    assert best.text == f"Word{question[1:]}"
    assert reader.read_of(question) == counts


def test_never_more_than_there_are_or_than_are_asked_for() -> None:
    reader = Reader()
    asked = [found("p8", 9), found("nothing", 5), found("no chains", 0)]
    answers = read_until_sure(asked, reader, replace(CONFIG, chains=6))
    assert reader.read_of("p8") == [1, 1, 2, 2]
    assert reader.read_of("nothing") == [1, 1, 2, 1]
    assert answers[2] == []
    assert read_until_sure([], reader, CONFIG) == []


def test_questions_share_their_rounds_and_answers_are_those_of_what_was_read() -> None:
    reader = Reader()
    asked = [found("p0", 9), found("p3", 9)]
    answers = read_until_sure(asked, reader, CONFIG)
    assert [len(one) for one in reader.rounds] == [2, 1, 2]
    for one, own, count in zip(asked, answers, (1, 4), strict=True):
        pairs = [(one.question, [PARAGRAPHS[n]]) for n in range(count)]
        read = [
            with_retrieval(chain, ranked.score, ranked.chain.sentences, CONFIG)
            for chain, ranked in zip(Reader()(pairs), one.chains, strict=False)
        ]
        assert own == choose_answers(read, CONFIG)


def test_of_few_chains_a_greater_share_is_asked_for() -> None:
    """One of eight chains cannot be enough for a fifth, and one of four can."""
    reader = Reader()
    strict = replace(CONFIG, sure=0.2)
    read_until_sure([found("p0", 8), found("p0", 4)], reader, strict)
    assert [len(one) for one in reader.rounds] == [2, 1]


def test_of_shorter_chains_more_are_read() -> None:
    reader = Reader()
    more = replace(CONFIG, chains=3, one_hop=2.0)
    read_until_sure([found("nothing", 9)], reader, more)
    assert sum(reader.read_of("nothing")) == 6
    pair = Chain((Hop(0, 0.0), Hop(1, 0.0)))
    read_until_sure([Found("pairs", [Ranked(pair, 0.0)] * 9)], reader, more)
    assert sum(reader.read_of("pairs")) == 3


def test_of_shorter_chains_an_answer_has_to_be_surer() -> None:
    """A quarter of the chains is enough for 0.2, and half of them for twice as much."""
    for one_hop, counts in ((1.0, [1]), (2.0, [1, 1])):
        reader = Reader()
        config = replace(CONFIG, chains=round(4 / one_hop), one_hop=one_hop, sure=0.2)
        read_until_sure([found("p0", 9)], reader, config)
        assert reader.read_of("p0") == counts


def test_the_paper_reads_all_at_once_checklist_7() -> None:
    reader = Reader()
    read_until_sure([found("p0", 9)], reader, replace(CONFIG, chains=45, sure=1.0))
    assert reader.read_of("p0") == [9]


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ConfigError, match=r"read\.sure must be from 0 to 1"):
        ReadConfig(sure=share)
