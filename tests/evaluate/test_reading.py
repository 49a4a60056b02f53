"""The same reader over other chains, by several settings: real parts over the demo corpus."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

import pytest

from muppet.config import ReadConfig
from muppet.corpus.benchmarks import BenchmarkQuestion, Gold
from muppet.domain import Paragraph, Question
from muppet.evaluate.asking import evaluate_results
from muppet.evaluate.finding import by_model, by_words, every_own
from muppet.evaluate.reading import read_found
from muppet.evaluate.retrieval import lexical_pairs
from muppet.pipeline import Muppet, open_muppet
from muppet.read.answers import ChainRead
from muppet.read.reader import ChainReader
from muppet.read.rounds import Pair
from random_model import Demo

PLAIN = ReadConfig(chains=6, margin=inf, one_hop=1.0, sure=1.0, chain_weight=0.0, match_weight=0.0)
TEXTS = (
    "Which Norwegian sea captain founded the whaling station where Ernest Shackleton is buried?",
    "Who led the expedition of the ship Endurance?",
)


@pytest.fixture(scope="module")
def muppet(demo: Demo) -> Iterator[Muppet]:
    with open_muppet(demo.kb, model=demo.encoder, reader=demo.reader) as opened:
        yield opened


class Counting(ChainReader):
    """The same reader, which remembers what it was given."""

    def __init__(self, reader: ChainReader) -> None:
        self.__dict__.update(reader.__dict__)
        self.pairs: list[tuple[str, tuple[Paragraph, ...]]] = []

    def read(self, pairs: Sequence[Pair]) -> list[ChainRead]:
        self.pairs += [(question, tuple(chain)) for question, chain in pairs]
        return super().read(pairs)


@pytest.fixture(scope="module")
def questions(muppet: Muppet) -> list[BenchmarkQuestion]:
    gold = tuple(muppet.knowledge.store.paragraphs([1, 2]).values())
    return [
        BenchmarkQuestion(Question(f"q{n}", text), Gold(("it",), "", gold, frozenset()), gold)
        for n, text in enumerate(TEXTS)
    ]


def test_the_model_s_chains_by_its_own_settings_are_what_ask_says(
    muppet: Muppet, questions: list[BenchmarkQuestion]
) -> None:
    seen: list[tuple[str, int]] = []
    settings = {"own": muppet.config, "plain": PLAIN}
    results = read_found(
        by_model(muppet.retriever),
        muppet.reader,
        questions,
        settings,
        lambda stage, done, *_rest: seen.append((stage, done)),
    )
    told = muppet.ask_many(TEXTS)
    for asked, expected in zip(questions, told, strict=True):
        found = results["own"][asked.question.id]
        assert [one.text for one in found.answers] == [one.text for one in expected.answers]
        assert [one.support for one in found.answers] == [one.support for one in expected.answers]
        assert found.answers[0].probability == pytest.approx(expected.answers[0].probability)
        assert (found.chains, found.is_known) == (expected.chains, expected.is_known)
        plain = results["plain"][asked.question.id]
        assert [one.score for one in plain.answers] != [one.score for one in found.answers]
    assert seen == [("reading", 2)]


def test_settings_that_read_fewer_chains_answer_as_if_no_more_had_been_read(
    muppet: Muppet, questions: list[BenchmarkQuestion]
) -> None:
    find = by_model(muppet.retriever)
    few = replace(PLAIN, chains=2)
    read = Counting(muppet.reader)
    together = read_found(find, read, questions, {"many": PLAIN, "few": few})["few"]
    assert read.pairs
    assert len(read.pairs) == len(set(read.pairs)), "a chain was read twice"
    alone = read_found(find, muppet.reader, questions, {"few": few})["few"]
    for id_, result in together.items():
        assert [one.text for one in result.answers] == [one.text for one in alone[id_].answers]
        first = {
            tuple(result.paragraphs[number].id for number in chain.paragraphs)
            for chain in result.chains[:2]
        }
        assert {one.chain for one in result.answers} <= first


def test_the_order_of_words_counts_only_if_it_is_given_weight(
    muppet: Muppet, questions: list[BenchmarkQuestion]
) -> None:
    """Ten thousand times its own score, only the best chain can bear the answer."""
    find = by_words(muppet.knowledge, lexical_pairs(muppet.knowledge, "bm25"))
    ordered = replace(PLAIN, chain_weight=1e4)
    results = read_found(find, muppet.reader, questions, {"plain": PLAIN, "ordered": ordered})
    for result in results["ordered"].values():
        best = tuple(result.paragraphs[number].id for number in result.chains[0].paragraphs)
        assert result.answers[0].chain == best
    assert results["plain"]["q0"].answers[0].score != results["ordered"]["q0"].answers[0].score


def test_results_are_scored_like_those_of_the_whole_system(
    muppet: Muppet, questions: list[BenchmarkQuestion]
) -> None:
    results = read_found(by_model(muppet.retriever), muppet.reader, questions, {"": PLAIN})[""]
    report = evaluate_results(muppet.knowledge, questions, results)
    assert report.questions == 2
    assert report.retrieval is not None


def test_a_question_s_own_paragraphs_are_read_in_the_same_way(
    muppet: Muppet, questions: list[BenchmarkQuestion]
) -> None:
    result = read_found(every_own, muppet.reader, questions[:1], {"": PLAIN})[""]["q0"]
    own = tuple(one.id for one in questions[0].context)
    assert {answer.chain for answer in result.answers} == {own}
