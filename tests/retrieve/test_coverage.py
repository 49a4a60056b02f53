"""A chain is the better, the more of its question its sentences take up together."""

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from muppet.config import Bm25Config, RetrieveConfig
from muppet.domain import Chain, Hop, Paragraph
from muppet.knowledge.open import KnowledgeBase
from muppet.lexical.bm25 import terms_of
from muppet.retrieve import coverage
from muppet.retrieve.beam import Ranked
from muppet.retrieve.coverage import by_coverage, coverages
from muppet.retrieve.judge import judge
from muppet.retrieve.retriever import open_retriever

SHIP = Paragraph("1", "Fram", ("It sailed to the Arctic.", " Colin Archer designed the ship."))
MAN = Paragraph("2", "Colin Archer", ("He was born in Larvik.", " His parents were Scots."))
ISLE = Paragraph("3", "Svalbard", ("The ship of the Arctic lies there.", " It is cold."))
EMPTY = Paragraph("4", "", ())
PARAGRAPHS = dict(enumerate((SHIP, MAN, ISLE, EMPTY), 1))
QUESTION = "Where was the designer of the ship Fram born?"  # design, ship, fram, born
TERMS = terms_of(Bm25Config())


def rarity(holding: int, of: int) -> float:
    return math.log(1 + of / (holding + 0.5))


def test_of_each_paragraph_one_sentence_counts_with_its_title_and_rare_words_count_more() -> None:
    together, apart, other = coverages(QUESTION, [(1, 2), (1,), (3,)], PARAGRAPHS, TERMS)
    ship, rest = rarity(2, 3), rarity(1, 3)  # ship stands in two of the three paragraphs
    every = ship + 3 * rest
    assert TERMS(QUESTION) == ["design", "ship", "fram", "born"]
    assert together == pytest.approx(1.0)
    assert apart == pytest.approx((ship + 2 * rest) / every)
    assert other == pytest.approx(ship / every)


def test_words_of_two_sentences_of_one_paragraph_are_not_together() -> None:
    (found,) = coverages("Did a designed ship sail?", [(1,)], PARAGRAPHS, TERMS)
    assert found == pytest.approx(2 / 3)


def test_the_order_of_a_chain_does_not_matter_and_more_paragraphs_never_cover_less() -> None:
    one, forwards, backwards, three = coverages(
        QUESTION, [(1,), (1, 3), (3, 1), (1, 3, 2)], PARAGRAPHS, TERMS
    )
    assert one <= forwards == backwards <= three == pytest.approx(1.0)


@pytest.mark.parametrize("question", ["", "Who was it?", "Xyzzy?"])
def test_a_question_that_says_nothing_and_a_paragraph_without_text_cover_nothing(
    question: str,
) -> None:
    assert coverages(question, [(1, 2), (4,)], PARAGRAPHS, TERMS) == [0.0, 0.0]
    assert coverages(question, [], PARAGRAPHS, TERMS) == []


def test_a_chain_loses_by_what_it_leaves_uncovered() -> None:
    chains = [
        Ranked(Chain((Hop(3, 0.0), Hop(2, 0.0))), -0.1),
        Ranked(Chain((Hop(1, 0.0), Hop(2, 0.0))), -0.2),
    ]
    covered = coverages(QUESTION, [(3, 2), (1, 2)], PARAGRAPHS, TERMS)
    right, wrong = by_coverage(QUESTION, chains, PARAGRAPHS, TERMS, 0.5)
    assert right.chain.paragraphs == (1, 2)
    assert right.score == pytest.approx(-0.2)
    assert wrong.score == pytest.approx(-0.1 - 0.5 * (1 - covered[0]))


@pytest.mark.parametrize("hops", [1, 2, "auto"])
def test_retrieval_counts_it_by_its_weight(kb: Path, hops: int | str) -> None:
    plain = RetrieveConfig(hops=hops, judge_weights=(0.0,), coverage_weight=0.0, keep=20)
    asked = "Who founded the station where Shackleton is buried?"
    with KnowledgeBase(kb) as knowledge:
        before, after = (
            open_retriever(knowledge, config=config).retrieve(asked)
            for config in (plain, RetrieveConfig(hops=hops, judge_weights=(0.0,), keep=20))
        )
        expected = by_coverage(asked, before.chains, before.paragraphs, knowledge.terms, 0.5)
    assert [one.chain.paragraphs for one in after.chains] == [
        one.chain.paragraphs for one in expected
    ]
    assert [one.score for one in after.chains] == pytest.approx([one.score for one in expected])
    assert [one.chain for one in after.chains] != [one.chain for one in before.chains]


def test_chains_are_judged_by_the_scores_that_coverage_has_left(kb: Path) -> None:
    config = RetrieveConfig(judge_weights=(3.0,), judge_margins=(0.05,), keep=20)
    plain = replace(config, judge_weights=(0.0,), coverage_weight=0.0)
    asked = "Who founded the station where Shackleton is buried?"
    with KnowledgeBase(kb) as knowledge:
        before, after = (
            open_retriever(knowledge, config=one).retrieve(asked) for one in (plain, config)
        )
        encoder = open_retriever(knowledge, config=config).encoder
        covered = by_coverage(asked, before.chains, before.paragraphs, knowledge.terms, 0.5)
        (expected,) = judge(encoder, [asked], [covered], before.paragraphs, config)
        (judged_first,) = judge(encoder, [asked], [before.chains], before.paragraphs, config)
    scores = {one.chain.paragraphs: one.score for one in after.chains}
    wanted = {one.chain.paragraphs: one.score for one in expected}
    assert scores == pytest.approx(wanted, abs=1e-4)
    other = by_coverage(asked, judged_first, before.paragraphs, knowledge.terms, 0.5)
    assert {one.chain.paragraphs: one.score for one in other} != pytest.approx(wanted, abs=1e-4)


def test_of_long_chains_only_the_choices_of_sentences_that_hold_most_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = [f"word{number}" for number in range(400)]
    rng = random.Random(5)
    long = {
        number: Paragraph(str(number), "", tuple(" ".join(rng.sample(words, 8)) for _ in range(40)))
        for number in range(8)
    }
    chains = [tuple(rng.sample(range(8), 4)) for _ in range(45)]
    counted = 0

    def terms(text: str) -> list[str]:
        nonlocal counted
        counted += 1
        return text.split()

    found = coverages(" ".join(words), chains, long, terms)
    assert counted == 1 + 8 * 41  # every text once, whatever the chains
    assert all(0 < one < 1 for one in found)
    monkeypatch.setattr(coverage, "MOST_CHOICES", 1)
    one_goes_on = coverages(" ".join(words), chains, long, terms)
    assert all(few <= many for few, many in zip(one_goes_on, found, strict=True))
    assert one_goes_on != found
