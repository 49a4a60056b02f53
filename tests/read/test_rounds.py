"""Chains are read one after another, some at the same time, until an answer is sure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np
import pytest

from muppet.config import ReadConfig
from muppet.domain import Answer, Chain, Hop, Paragraph
from muppet.errors import ConfigError
from muppet.read.answers import ChainLogits, ChainRead, choose_answers, with_retrieval
from muppet.read.rounds import Pair, read_until_sure
from muppet.text.layout import reading_apart
from muppet.text.prepare import Preparer
from muppet.text.vocab import Alphabet, Lexicon

PREPARER = Preparer(Lexicon(Alphabet(""), lambda _: -1), None, max_tokens=50, with_title=True)
PARAGRAPHS = {
    n: Paragraph(f"p{n}", f"Title {n}", (f"Word{n} and some others of them.",)) for n in range(9)
}
CONFIG = ReadConfig(chains=8, margin=inf, one_hop=1.0, sure=0.1)


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


def answers_of(asked: Found, count: int) -> list[Answer]:
    """What is answered from so many chains."""
    pairs = [(asked.question, [PARAGRAPHS[n]]) for n in range(count)]
    read = [
        with_retrieval(chain, ranked.score, ranked.chain.sentences, CONFIG)
        for chain, ranked in zip(Reader()(pairs), asked.chains, strict=False)
    ]
    return choose_answers(read, CONFIG)


@pytest.mark.parametrize(("question", "count"), [("p0", 1), ("p1", 2), ("p2", 3), ("p7", 8)])
def test_chains_are_read_until_an_answer_is_sure(question: str, count: int) -> None:
    reader = Reader()
    ((best, *_),) = read_until_sure([found(question, 9)], reader, CONFIG)
    assert best.text == f"Word{question[1:]}"
    assert reader.read_of(question) == [1] * count


def test_never_more_than_there_are_or_than_are_asked_for() -> None:
    reader = Reader()
    asked = [found("p8", 9), found("nothing", 5), found("no chains", 0)]
    answers = read_until_sure(asked, reader, replace(CONFIG, chains=6), workers=5)
    assert reader.read_of("p8") == [3, 3]
    assert reader.read_of("nothing") == [3, 2]
    assert answers[2] == []
    assert read_until_sure([], reader, CONFIG) == []


def test_questions_share_their_rounds_and_answers_are_those_of_what_was_read() -> None:
    reader = Reader()
    asked = [found("p0", 9), found("p3", 9)]
    answers = read_until_sure(asked, reader, CONFIG)
    assert [len(one) for one in reader.rounds] == [2, 1, 1, 1]
    assert answers == [answers_of(asked[0], 1), answers_of(asked[1], 4)]


def test_where_questions_are_few_each_has_several_chains_read_at_once() -> None:
    reader = Reader()
    read_until_sure([found(f"p{n}", 9) for n in (0, 1, 6)], reader, CONFIG, workers=4)
    assert [len(one) for one in reader.rounds] == [6, 4, 2]


@pytest.mark.parametrize("sure", [0.0, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("margin", [0.25, inf])
def test_answers_are_the_same_one_by_one_or_together_by_few_or_many(
    sure: float, margin: float
) -> None:
    config = replace(CONFIG, sure=sure, margin=margin)
    names = [f"p{n}" for n in range(9)]
    asked = [found(name, count) for name in [*names, "nothing"] for count in (0, 3, 9)]
    expected = read_until_sure(asked, Reader(), config)
    for workers in (1, 2, 3, 50):
        assert read_until_sure(asked, Reader(), config, workers=workers) == expected
        alone = [read_until_sure([one], Reader(), config, workers=workers) for one in asked]
        assert [answers for (answers,) in alone] == expected


def test_what_was_read_beyond_a_sure_answer_is_thrown_away() -> None:
    reader, asked = Reader(), found("p1", 9)
    (answers,) = read_until_sure([asked], reader, CONFIG, workers=3)
    assert reader.read_of("p1") == [3]
    assert answers == answers_of(asked, 2) != answers_of(asked, 3)


def test_of_few_chains_a_smaller_number_is_enough() -> None:
    """One of eight chains cannot be enough for a fifth, and one of four can: it is not waited for
    what cannot be."""
    reader = Reader()
    strict = replace(CONFIG, sure=0.2)
    read_until_sure([found("p0", 8), found("p0", 4)], reader, strict)
    assert [len(one) for one in reader.rounds] == [2 + 1]


def test_chains_far_below_the_best_are_never_read() -> None:
    """Each scores 0.1 less than the one before."""
    for margin, count in ((0.0, 1), (0.25, 3), (inf, 8)):
        reader = Reader()
        read_until_sure([found("nothing", 9)], reader, replace(CONFIG, margin=margin))
        assert sum(reader.read_of("nothing")) == count


def test_chains_that_are_not_read_for_their_score_count_as_unread() -> None:
    """Of three chains one would be enough for 0.3, but of eight it is not."""
    reader = Reader()
    config = replace(CONFIG, margin=0.25, sure=0.3)
    (answers,) = read_until_sure([found("p0", 9)], reader, config)
    assert reader.read_of("p0") == [3]
    assert answers == answers_of(found("p0", 9), 3)


def test_of_shorter_chains_more_are_read() -> None:
    pair = Chain((Hop(0, 0.0), Hop(1, 0.0)))
    pairs = Found("pairs", [Ranked(pair, -0.1 * n) for n in range(9)])
    for config, short, long in (
        (replace(CONFIG, chains=3, one_hop=2.0), 6, 3),
        (replace(CONFIG, margin=0.25, one_hop=2.0), 6, 3),
    ):
        reader = Reader()
        read_until_sure([found("nothing", 9), pairs], reader, config)
        assert sum(reader.read_of("nothing")) == short
        assert sum(reader.read_of("pairs")) == long


def test_of_shorter_chains_an_answer_has_to_be_surer() -> None:
    """A quarter of the chains is enough for 0.2, and half of them for twice as much."""
    for one_hop, count in ((1.0, 1), (2.0, 2)):
        reader = Reader()
        config = replace(CONFIG, chains=round(4 / one_hop), one_hop=one_hop, sure=0.2)
        read_until_sure([found("p0", 9)], reader, config)
        assert reader.read_of("p0") == [count]


def test_the_paper_reads_all_at_once_checklist_7() -> None:
    reader = Reader()
    asked = found("p0", 9)
    (answers,) = read_until_sure([asked], reader, replace(CONFIG, chains=45, sure=1.0))
    assert reader.read_of("p0") == [9]
    assert answers == answers_of(asked, 9)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ConfigError, match=r"read\.sure must be from 0 to 1"):
        ReadConfig(sure=share)
