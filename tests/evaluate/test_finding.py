"""Chains by the model, by words, among own paragraphs: real parts over the demo corpus."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from muppet.config import Bm25Config, RetrieveConfig
from muppet.corpus.benchmarks import BenchmarkQuestion, Gold
from muppet.domain import Chain, Hop, Paragraph, Question
from muppet.encode.encoder import TextEncoder
from muppet.errors import QuestionError
from muppet.evaluate.finding import (
    among_own,
    by_model,
    by_words,
    every_own,
    find_all,
    lexical_paragraphs,
    score_found,
)
from muppet.evaluate.retrieval import evaluate_systems, lexical_pairs, model_chains
from muppet.knowledge.open import KnowledgeBase
from muppet.lexical.bm25 import terms_of
from muppet.retrieve.coverage import by_coverage
from muppet.retrieve.retriever import open_retriever
from random_model import Demo

PLAIN = RetrieveConfig(
    temperature=1.0, title_weights=(0.0,), coverage_weight=0.0, judge_weights=(0.0,)
)
OWN = tuple(
    Paragraph(name, name, (f"The {name} is one.", f" It was {age} and {name}.", " So it is."))
    for name, age in (("Whale", "old"), ("Station", "new"), ("Captain", "grey"), ("Ship", "lost"))
)


def ask(text: str, gold: tuple[Paragraph, ...], name: str = "q") -> BenchmarkQuestion:
    return BenchmarkQuestion(Question(name, text), Gold(("it",), "", gold, frozenset()), OWN)


@pytest.fixture(scope="module")
def knowledge(demo: Demo) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(demo.kb) as opened:
        yield opened


@pytest.fixture(scope="module")
def questions(knowledge: KnowledgeBase) -> list[BenchmarkQuestion]:
    """Each asks for two paragraphs of the corpus by their titles."""
    some = list(knowledge.store.paragraphs([1, 2, 3, 4, 5, 6]).values())
    pairs = zip(some[::2], some[1::2], strict=True)
    return [
        ask(f"What have {a.title} and {b.title} in common?", (a, b), f"q{n}")
        for n, (a, b) in enumerate(pairs)
    ]


def test_chains_by_words_are_the_baseline_s_and_score_by_shares_of_the_best(
    knowledge: KnowledgeBase, questions: list[BenchmarkQuestion]
) -> None:
    system = lexical_pairs(knowledge, "bm25")
    (raw,) = system([questions[0].question.text])
    (found,) = by_words(knowledge, system)(questions[:1])
    assert [one.chain for one in found.chains] == raw
    scores = [one.score for one in found.chains]
    assert scores[0] == 0
    assert scores == sorted(scores, reverse=True)
    assert scores[1] == pytest.approx(raw[1].score / raw[0].score - 1)
    assert min(scores) >= -1
    assert all(set(one.chain.paragraphs) <= found.paragraphs.keys() for one in found.chains)


def test_with_one_hop_the_best_paragraphs_by_words_are_chains(knowledge: KnowledgeBase) -> None:
    text = "Who founded Grytviken?"
    (chains,) = lexical_paragraphs(knowledge, "bm25", keep=3)([text])
    assert chains == [Chain((hop,)) for hop in knowledge.narrow(text, 3)]
    assert len(chains) == 3
    assert [one.chains for one in by_words(knowledge, lambda _: [[]])([ask(text, OWN)])] == [[]]


def test_scores_by_question_have_the_means_of_the_evaluation(
    demo: Demo, knowledge: KnowledgeBase, questions: list[BenchmarkQuestion]
) -> None:
    retriever = open_retriever(knowledge, demo.encoder)
    words = lexical_pairs(knowledge, "bm25")
    seen: list[tuple[str, int]] = []
    for find, system in (
        (by_model(retriever), model_chains(retriever)),
        (by_words(knowledge, words), words),
    ):
        found = find_all(
            find, questions, "form", lambda stage, done, *_rest: seen.append((stage, done))
        )
        scores = score_found(knowledge, questions, found)
        report = evaluate_systems(knowledge, {"one": system}, questions, lambda *_: None)["one"]
        assert report.retrieval is not None
        for k, share in report.retrieval.perfect.items():
            assert np.mean([one.perfect[k] for one in scores]) == pytest.approx(share)
            assert np.mean([one.hits[k] for one in scores]) == pytest.approx(
                report.retrieval.hits[k]
            )
    assert seen == [("form", 3)] * 2
    assert report.retrieval.perfect[1] > 0


def test_own_paragraphs_are_ranked_as_retrieval_ranks_them(demo: Demo) -> None:
    encoder = TextEncoder(demo.encoder)
    asked = ask("Which ship of the captain was lost?", OWN[:2])
    (found,) = among_own(encoder, PLAIN)([asked])
    assert len({frozenset(one.chain.paragraphs) for one in found.chains}) == 6
    assert len(found.chains) == 6
    expected = {}
    for first, second in permutations(range(4), 2):
        hops = [
            _hop(encoder, asked.question.text, (), first),
            _hop(encoder, asked.question.text, (first,), second),
        ]
        score, best = sum(hop.score for hop in hops), frozenset((first, second))
        if best not in expected or expected[best][0] < score:
            expected[best] = score, tuple(hops)
    ranked = sorted(expected.values(), key=lambda one: -one[0])
    assert [one.score for one in found.chains] == pytest.approx([one[0] for one in ranked])
    assert [one.chain.paragraphs for one in found.chains] == [
        Chain(hops).paragraphs for _, hops in ranked
    ]
    assert [one.chain.sentences for one in found.chains] == [
        Chain(hops).sentences for _, hops in ranked
    ]
    assert found.paragraphs == dict(enumerate(OWN))
    (fewer,) = among_own(encoder, PLAIN, keep=2)([asked])
    assert fewer.chains == found.chains[:2]


def test_own_paragraphs_that_nothing_names_lose_what_the_settings_say(demo: Demo) -> None:
    encoder = TextEncoder(demo.encoder)
    asked = ask("Which captain was it?", OWN[:2])
    config = replace(PLAIN, title_weights=(0.25, 0.5))
    (found,) = among_own(encoder, config)([asked])
    for one in found.chains:
        first, second = one.chain.paragraphs
        hops = [
            _hop(encoder, asked.question.text, (), first),
            _hop(encoder, asked.question.text, (first,), second),
        ]
        loss = 0.25 * (OWN[first].title != "Captain") + 0.5 * (OWN[second].title != "Captain")
        assert one.score == pytest.approx(sum(hop.score for hop in hops) - loss)


def test_own_paragraphs_that_leave_the_question_uncovered_lose_what_the_settings_say(
    demo: Demo,
) -> None:
    asked = ask("Which ship of the grey captain was lost?", OWN[:2])
    encoder, terms = TextEncoder(demo.encoder), terms_of(Bm25Config())
    (plain,) = among_own(encoder, PLAIN)([asked])
    (found,) = among_own(encoder, replace(PLAIN, coverage_weight=2.0))([asked])
    assert found.chains == by_coverage(
        asked.question.text, plain.chains, plain.paragraphs, terms, 2.0
    )
    assert {*found.chains[0].chain.paragraphs} == {2, 3}  # captain and ship


def test_without_a_model_every_pair_is_read_and_of_one_gold_paragraph_that_alone(
    demo: Demo,
) -> None:
    pairs, alone = every_own([ask("Which?", OWN[:2]), ask("Which?", OWN[2:3])])
    assert len(pairs.chains) == 6
    assert {one.score for one in pairs.chains} == {0.0}
    assert {one.chain.sentences for one in pairs.chains} == {(None, None)}
    assert [one.chain.paragraphs for one in alone.chains] == [(0,)]
    assert alone.paragraphs[0] == OWN[2]
    assert among_own(TextEncoder(demo.encoder), PLAIN)([ask("Which?", OWN[2:3])]) == [alone]


def test_a_question_without_paragraphs_of_its_own_is_refused() -> None:
    with pytest.raises(QuestionError, match="q brings no paragraphs"):
        every_own([replace(ask("Which?", ()), context=())])


def _hop(encoder: TextEncoder, question: str, chain: tuple[int, ...], number: int) -> Hop:
    """The slow way: one question, one paragraph."""
    before = [OWN[one] for one in chain]
    asked = encoder.ask_after([question], [before]) if before else encoder.ask([question])
    (rows,) = encoder.sentences([OWN[number]])
    logits = [float(row @ asked.search[0]) + float(asked.offset[0]) for row in rows]
    best = int(np.argmax(logits))
    return Hop(number, -float(np.log1p(np.exp(-logits[best]))), best)
