"""Whole chains are read once more, and what the stop head says counts (checklist 34)."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from muppet.config import RetrieveConfig
from muppet.encode.encoder import TextEncoder
from muppet.knowledge.open import KnowledgeBase
from muppet.retrieve.beam import Ranked, log_sigmoid
from muppet.retrieve.judge import judge
from muppet.retrieve.retriever import Retrieved, open_retriever
from random_model import write_model

QUESTIONS = ["Who founded the station where Shackleton is buried?", "Where is the museum?"]
PLAIN = RetrieveConfig(judge_weights=(0.0,), coverage_weight=0.0, keep=20)
JUDGED = replace(PLAIN, judge_weights=(0.5, 2.0), judge_margins=(math.inf,), judged=6)


@pytest.fixture
def knowledge(kb: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(kb) as opened:
        yield opened


def retrieved(knowledge: KnowledgeBase, config: RetrieveConfig) -> list[Retrieved]:
    return open_retriever(knowledge, config=config).retrieve_many(QUESTIONS)


def by_chain(found: Retrieved) -> dict[tuple[int, ...], float]:
    return {one.chain.paragraphs: one.score for one in found.chains}


@pytest.mark.parametrize(("hops", "weight"), [(1, 0.5), (2, 2.0), (3, 2.0)])
def test_the_best_chains_count_by_how_complete_they_are(
    knowledge: KnowledgeBase, hops: int, weight: float
) -> None:
    encoder = open_retriever(knowledge, config=JUDGED).encoder
    before = retrieved(knowledge, replace(PLAIN, hops=hops))
    after = retrieved(knowledge, replace(JUDGED, hops=hops))
    for question, plain, judged in zip(QUESTIONS, before, after, strict=True):
        chains = [list(one.chain.paragraphs) for one in plain.chains]
        texts = [[plain.paragraphs[number] for number in chain] for chain in chains]
        logits = encoder.ask_after([question] * len(texts), texts).complete
        lost = (weight * log_sigmoid(logits / JUDGED.temperature)).tolist()
        lost[6:] = [min(lost[:6])] * len(lost[6:])
        expected = {
            tuple(chain): one.score + by
            for chain, one, by in zip(chains, plain.chains, lost, strict=True)
        }
        assert len(expected) > 6
        assert by_chain(judged) == pytest.approx(expected, abs=1e-4)
        scores = [one.score for one in judged.chains]
        assert scores == sorted(scores, reverse=True)
        assert {one.chain.paragraphs for one in judged.chains[:6]} == {*map(tuple, chains[:6])}


def test_only_chains_near_the_best_are_judged(knowledge: KnowledgeBase) -> None:
    plain = retrieved(knowledge, PLAIN)
    whole = retrieved(knowledge, JUDGED)
    gap = plain[0].chains[0].score - plain[0].chains[2].score
    near = retrieved(knowledge, replace(JUDGED, judge_margins=(math.inf, gap + 1e-6)))
    first, *others = (
        [one.chain.paragraphs for one in found[0].chains] for found in (plain, near, whole)
    )
    assert {*others[0][:3]} == {*first[:3]}
    assert others[0][3:] == first[3:]  # as they stood
    judged = {chain: by_chain(whole[0])[chain] for chain in first[:3]}
    assert {chain: by_chain(near[0])[chain] for chain in judged} == pytest.approx(judged, abs=1e-4)
    worst = min(judged[one] - by_chain(plain[0])[one] for one in judged)
    behind = {one: by_chain(plain[0])[one] + worst for one in first[3:]}
    assert {one: by_chain(near[0])[one] for one in behind} == pytest.approx(behind, abs=1e-4)


def test_where_the_best_has_none_near_it_the_encoder_is_not_asked(
    knowledge: KnowledgeBase,
) -> None:
    plain = retrieved(knowledge, PLAIN)
    alone = retrieved(knowledge, replace(JUDGED, judge_margins=(math.inf, 0.0)))
    assert [one.chains[0].score > one.chains[1].score for one in plain] == [True, True]
    assert [by_chain(one) for one in alone] == [by_chain(one) for one in plain]


def test_the_released_ranking_stays_as_it_is_and_hops_as_the_model_decides_are_not_judged(
    knowledge: KnowledgeBase,
) -> None:
    covered = replace(PLAIN, coverage_weight=1.0)
    for plain, other in (
        (replace(PLAIN, ranking="released"), replace(JUDGED, ranking="released")),
        (replace(PLAIN, ranking="released"), replace(covered, ranking="released")),
        (replace(PLAIN, hops="auto"), replace(JUDGED, hops="auto")),
    ):
        before, after = retrieved(knowledge, plain), retrieved(knowledge, other)
        assert [by_chain(one) for one in after] == [by_chain(one) for one in before]


@pytest.mark.parametrize(("hops", "judges"), [(1, True), (2, False)])
def test_an_encoder_whose_stop_head_has_not_learned_to_choose_is_not_asked(
    knowledge: KnowledgeBase, tmp_path: Path, hops: int, judges: bool
) -> None:
    plain = retrieved(knowledge, replace(PLAIN, hops=1))
    encoder = TextEncoder(write_model(tmp_path / "other", hops=hops, judges=judges))
    chains = [one.chains for one in plain]
    texts = {number: text for one in plain for number, text in one.paragraphs.items()}
    assert judge(encoder, QUESTIONS, chains, texts, replace(JUDGED, hops=1)) == chains


def test_a_question_without_chains_is_passed_over(knowledge: KnowledgeBase) -> None:
    retriever = open_retriever(knowledge, config=replace(JUDGED, hops=1))
    (found, _) = retriever.retrieve_many(QUESTIONS)
    chains: list[list[Ranked]] = [[], found.chains]
    none, some = judge(
        retriever.encoder, ["Who?", QUESTIONS[0]], chains, found.paragraphs, retriever.config
    )
    assert none == []
    assert len(some) == len(found.chains)
