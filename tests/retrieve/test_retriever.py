"""Narrowing, encoder, vectors and beam together, on real files (checklist 6, 7, 20, 21)."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from math import inf
from pathlib import Path

import numpy as np
import pytest

from muppet.config import RetrieveConfig
from muppet.encode.encoder import Asked
from muppet.errors import ArtifactError, ConfigError
from muppet.knowledge.open import KnowledgeBase
from muppet.retrieve.beam import log_sigmoid
from muppet.retrieve.retriever import Retriever, open_retriever
from random_model import write_model

QUESTIONS = [
    "Which Norwegian sea captain founded the whaling station where Ernest Shackleton is buried?",
    "Where is the museum?",
]
PAPER = RetrieveConfig(
    narrow=(32, 512),
    pools=("question",),
    temperature=1.0,
    lexical_weight=0.0,
    title_weights=(0.0,),
    coverage_weight=0.0,
    judge_weights=(0.0,),
    margin=inf,
)
WIDE = replace(PAPER, narrow=(62,), widths=(62,), keep=100)


@pytest.fixture
def knowledge(kb: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(kb) as opened:
        yield opened


def probabilities(retriever: Retriever, asked: Asked, numbers: list[int]) -> dict[int, float]:
    """Each paragraph's log probability for the one question asked, sentence by sentence."""
    found = {}
    for number in numbers:
        paragraph = retriever.knowledge.store.paragraphs([number])[number]
        (rows,) = retriever.encoder.sentences([paragraph])
        inner = max(float(row @ asked.search[0]) for row in rows)
        logit = (inner + asked.offset[0]) / retriever.config.temperature
        found[number] = float(log_sigmoid(logit))
    return found


@pytest.mark.parametrize("temperature", [1.0, 4.0])
def test_with_wide_beams_the_chains_are_the_best_of_all_pairs(
    knowledge: KnowledgeBase, temperature: float
) -> None:
    retriever = open_retriever(knowledge, config=replace(WIDE, temperature=temperature))
    for question in QUESTIONS:
        numbers = [hop.paragraph for hop in knowledge.narrow(question, 62)]
        first = probabilities(retriever, retriever.encoder.ask([question]), numbers)
        scores: dict[frozenset[int], float] = {}
        paragraphs = knowledge.store.paragraphs(numbers)
        second = {
            a: probabilities(
                retriever, retriever.encoder.ask_after([question], [[paragraphs[a]]]), numbers
            )
            for a in numbers
        }
        for a, b in permutations(numbers, 2):
            pair = frozenset((a, b))
            scores[pair] = max(scores.get(pair, -np.inf), first[a] + second[a][b])
        best = sorted(scores.values(), reverse=True)[:100]
        found = retriever.retrieve(question).chains
        np.testing.assert_allclose([one.score for one in found], best, atol=1e-4)
        for one in found[:20]:
            assert scores[frozenset(one.chain.paragraphs)] == pytest.approx(one.score, abs=1e-4)


def test_many_questions_at_once_are_the_same_as_one_by_one(knowledge: KnowledgeBase) -> None:
    retriever = open_retriever(knowledge)
    for question, found in zip(QUESTIONS, retriever.retrieve_many(QUESTIONS), strict=True):
        alone = retriever.retrieve(question)
        assert [one.chain.paragraphs for one in found.chains] == [
            one.chain.paragraphs for one in alone.chains
        ]
        named = {n for one in found.chains for n in one.chain.paragraphs}
        assert named <= found.paragraphs.keys()


def test_a_hop_names_the_sentence_that_matched_best(knowledge: KnowledgeBase) -> None:
    retriever = open_retriever(knowledge)
    found = retriever.retrieve(QUESTIONS[0])
    asked = retriever.encoder.ask([QUESTIONS[0]])
    for one in found.chains[:5]:
        hop = one.chain.hops[0]
        (rows,) = retriever.encoder.sentences([found.paragraphs[hop.paragraph]])
        assert hop.sentence == int((rows @ asked.search[0]).argmax())


def test_narrowing_limits_each_hop(knowledge: KnowledgeBase) -> None:
    config = replace(PAPER, narrow=(3, 5), keep=100)
    found = open_retriever(knowledge, config=config).retrieve(QUESTIONS[0]).chains
    ranked = [hop.paragraph for hop in knowledge.narrow(QUESTIONS[0], 5)]
    assert {one.chain.paragraphs[0] for one in found} <= set(ranked[:3])
    assert {n for one in found for n in one.chain.paragraphs} == set(ranked)


def test_requery_narrows_by_question_and_chain(knowledge: KnowledgeBase) -> None:
    config = replace(PAPER, narrow=(1, 4), pools=("question", "requery"))
    found = open_retriever(knowledge, config=config).retrieve(QUESTIONS[0]).chains
    (first,) = {one.chain.paragraphs[0] for one in found}
    read = knowledge.store.paragraphs([first])[first]
    text = f"{QUESTIONS[0]}\n{read.title}. {read.text}"
    wanted = {hop.paragraph for hop in knowledge.narrow(text, 4)} - {first}
    assert {one.chain.paragraphs[1] for one in found} == wanted


def test_words_count_as_far_as_they_match_less_than_the_best_of_their_pool(
    knowledge: KnowledgeBase,
) -> None:
    plain = open_retriever(knowledge, config=replace(WIDE, hops=1))
    both = open_retriever(knowledge, config=replace(WIDE, hops=1, lexical_weight=3.0))
    hops = knowledge.narrow(QUESTIONS[0], 62)
    share = {hop.paragraph: hop.score / hops[0].score - 1 for hop in hops}
    before = {one.chain.paragraphs[0]: one.score for one in plain.retrieve(QUESTIONS[0]).chains}
    for one in both.retrieve(QUESTIONS[0]).chains:
        number = one.chain.paragraphs[0]
        assert one.score == pytest.approx(before[number] + 3.0 * share[number], abs=1e-4)


@pytest.mark.parametrize("pool", ["question", "all"])
def test_a_paragraph_that_neither_question_nor_chain_names_loses_its_hop_s_weight(
    knowledge: KnowledgeBase, pool: str
) -> None:
    everything = replace(WIDE, pools=(pool,), keep=10_000)
    plain = open_retriever(knowledge, config=everything)
    named = open_retriever(knowledge, config=replace(everything, title_weights=(0.25, 0.5)))
    before = {one.chain.paragraphs: one.chain.hops for one in plain.retrieve(QUESTIONS[0]).chains}
    found = named.retrieve(QUESTIONS[0])
    losses = set()
    for one in found.chains:
        first, second = (found.paragraphs[number] for number in one.chain.paragraphs)
        asked = QUESTIONS[0].lower()
        loses = [
            0.25 * (first.title.lower() not in asked),
            0.5 * (second.title.lower() not in f"{asked} {first.text.lower()}"),
        ]
        if one.chain.paragraphs in before and "(" not in first.title + second.title:
            scores = [hop.score for hop in before[one.chain.paragraphs]]
            expected = [score - loss for score, loss in zip(scores, loses, strict=True)]
            assert [hop.score for hop in one.chain.hops] == pytest.approx(expected, abs=1e-4)
            losses.add(tuple(loses))
    assert losses >= {(0.0, 0.0), (0.0, 0.5), (0.25, 0.0), (0.25, 0.5)}


def test_the_released_ranking_knows_no_names(knowledge: KnowledgeBase) -> None:
    released = replace(WIDE, ranking="released")
    named = replace(released, title_weights=(0.25, 0.5))
    one, other = (
        open_retriever(knowledge, config=config).retrieve(QUESTIONS[0]).chains
        for config in (released, named)
    )
    assert one == other


def test_the_whole_source_is_searched_without_words(knowledge: KnowledgeBase) -> None:
    everything = open_retriever(knowledge, config=replace(WIDE, pools=("all",)))
    narrowed = open_retriever(knowledge, config=replace(WIDE, narrow=(62,)))
    question = " ".join(sorted({w for p in knowledge.store.texts() for w in p[1].split()}))
    one, other = everything.retrieve(question).chains, narrowed.retrieve(question).chains
    assert [pair.chain.paragraphs for pair in one[:20]] == [
        pair.chain.paragraphs for pair in other[:20]
    ]


def test_the_rank_for_the_plain_question_is_the_first_hop_s(knowledge: KnowledgeBase) -> None:
    retriever = open_retriever(knowledge, config=replace(PAPER, hops=1, narrow=(62,), keep=10))
    found = retriever.retrieve(QUESTIONS[0])
    assert [found.ranks[one.chain.paragraphs[0]] for one in found.chains] == list(range(1, 11))


def test_ranks_are_of_all_that_any_hop_narrows_to_and_each_question_s_own(
    knowledge: KnowledgeBase,
) -> None:
    retriever = open_retriever(knowledge, config=replace(PAPER, narrow=(3, 40)))
    for question, found in zip(QUESTIONS, retriever.retrieve_many(QUESTIONS), strict=True):
        numbers = [hop.paragraph for hop in knowledge.narrow(question, 40)]
        scores = probabilities(retriever, retriever.encoder.ask([question]), numbers)
        best = sorted(numbers, key=lambda number: -scores[number])
        assert sorted(found.ranks, key=lambda number: found.ranks[number]) == best
        assert sorted(found.ranks.values()) == list(range(1, len(best) + 1))


def test_auto_gives_chains_of_several_lengths_by_the_stop_head(knowledge: KnowledgeBase) -> None:
    found = open_retriever(knowledge, config=replace(PAPER, hops="auto", most_hops=3)).retrieve(
        QUESTIONS[0]
    )
    assert {len(one.chain.hops) for one in found.chains} == {1, 2, 3}


def test_the_released_ranking_is_by_raw_inner_products_checklist_21(
    knowledge: KnowledgeBase,
) -> None:
    config = replace(PAPER, ranking="released", narrow=(32, 62))
    found = open_retriever(knowledge, config=config).retrieve(QUESTIONS[0]).chains
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert [one.chain.hops[-1].score for one in found] == scores
    assert any(len(set(one.chain.paragraphs)) == 1 for one in found)  # (p, p) takes a place


def test_bad_combinations_are_refused_with_a_reason(
    knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="cannot begin with requery"):
        RetrieveConfig(pools=("requery",))
    with pytest.raises(ConfigError, match="must be of question, requery, all"):
        RetrieveConfig(pools=("question", "none"))
    with pytest.raises(ConfigError, match="auto compares probabilities"):
        open_retriever(knowledge, config=RetrieveConfig(hops="auto", ranking="released"))
    other = write_model(tmp_path / "other", hops=1)
    with pytest.raises(ArtifactError, match="has no vectors of this model yet"):
        open_retriever(knowledge, other)


def test_a_model_of_one_hop_is_not_asked_for_two(kb: Path, tmp_path: Path) -> None:
    from muppet.encode.encoder import TextEncoder
    from muppet.knowledge.encode import open_encoded

    encoder = TextEncoder(write_model(tmp_path / "one", hops=1))
    vectors = open_encoded(kb).vectors
    with KnowledgeBase(kb) as knowledge:
        with pytest.raises(ConfigError, match="trained for one hop"):
            Retriever(knowledge, encoder, vectors)
        Retriever(knowledge, encoder, vectors, RetrieveConfig(hops=1))


def test_a_question_without_a_known_word_finds_nothing(knowledge: KnowledgeBase) -> None:
    assert open_retriever(knowledge).retrieve("qqqq zzzz").chains == []


@pytest.mark.parametrize("pools", [("question", "requery"), ("all",)])
def test_hidden_paragraphs_are_as_good_as_gone(
    knowledge: KnowledgeBase, pools: tuple[str, ...]
) -> None:
    retriever = open_retriever(knowledge, config=replace(RetrieveConfig(), pools=pools))
    seen = retriever.retrieve(QUESTIONS[0])
    hidden = set(seen.chains[0].chain.paragraphs)
    first, second = retriever.retrieve_many(QUESTIONS, {QUESTIONS[0]: hidden})
    assert first.chains
    assert not hidden & {n for one in first.chains for n in one.chain.paragraphs}
    assert [one.chain.paragraphs for one in second.chains] == [
        one.chain.paragraphs for one in retriever.retrieve(QUESTIONS[1]).chains
    ]
