"""Answers and chains scored end to end, on results of which everything is known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muppet.corpus.benchmarks import BenchmarkQuestion, Gold
from muppet.domain import Answer, Chain, Document, Hop, Paragraph, Question, Result, SentenceRef
from muppet.errors import QuestionError
from muppet.evaluate.asking import (
    answered,
    ask_all,
    evaluate_results,
    predictions_of,
)
from muppet.evaluate.calibration import Judged, calibrate, judge, trust
from muppet.evaluate.mistakes import SecondHop, find_mistakes, second_hop
from muppet.evaluate.page import write_page
from muppet.knowledge.open import KnowledgeBase
from muppet.knowledge.write import index_documents
from muppet.read.calibrate import Calibration

NAMES = ("Whale", "Station", "Captain", "Ship")
PARAGRAPHS = {
    number: Paragraph(f"id-{name}", name, (f"The {name} is one.", " It was old."))
    for number, name in enumerate(NAMES, 1)
}


def question(number: int, gold: tuple[int, ...], answer: str) -> BenchmarkQuestion:
    paragraphs = tuple(PARAGRAPHS[one] for one in gold)
    support = frozenset(SentenceRef(one.title, 0) for one in paragraphs)
    context = tuple(PARAGRAPHS.values())
    gold_of = Gold((answer,), "bridge", paragraphs, support)
    return BenchmarkQuestion(Question(f"q{number}", f"Which {answer}?"), gold_of, context)


def result(asked: str, chain: tuple[int, ...], text: str, probability: float) -> Result:
    ids = tuple(PARAGRAPHS[number].id for number in chain)
    answer = Answer(text, "span", 1.0, probability, ids, tuple(SentenceRef(i, 0) for i in ids))
    chains = (Chain(tuple(Hop(number, -0.1) for number in chain)),)
    return Result(asked, (answer,), True, chains, PARAGRAPHS, {})


ASKED = [question(1, (1, 2), "whale"), question(2, (3, 4), "captain")]


@pytest.fixture
def knowledge(tmp_path: Path) -> KnowledgeBase:
    documents = [
        Document(one.title, "here", place, id=one.id, sentences=one.sentences)
        for place, one in PARAGRAPHS.items()
    ]
    index_documents(tmp_path / "kb", documents)
    return KnowledgeBase(tmp_path / "kb")


def test_the_best_answers_are_scored_and_so_are_their_chains(knowledge: KnowledgeBase) -> None:
    numbers = {one.title: n for n, one in knowledge.store.paragraphs([1, 2, 3, 4]).items()}
    assert [numbers[name] for name in NAMES] == [1, 2, 3, 4]

    def ask(questions: list[str]) -> list[Result]:
        return [
            result(one, (2, 1), "the Whale", 0.9)
            if "whale" in one
            else result(one, (3, 1), "ship", 0.2)
            for one in questions
        ]

    results = ask_all(ask, ASKED)  # type: ignore[arg-type]
    report = evaluate_results(knowledge, ASKED, results)
    assert report.answer is not None
    assert report.support is not None
    assert report.retrieval is not None
    assert (report.answer.em, report.support.em) == (0.5, 0.5)
    assert report.support.f1 == pytest.approx((1 + 0.5) / 2)
    assert report.retrieval.perfect[1] == 0.5
    assert report.retrieval.at_least_one[1] == 1.0
    predictions = predictions_of(answered(ASKED, results))
    assert predictions.support is not None
    assert predictions.support["q1"] == {SentenceRef("Whale", 0), SentenceRef("Station", 0)}


def test_a_question_without_an_answer_is_a_missing_prediction() -> None:
    nothing = replace(result("?", (1, 2), "", 0.0), answers=())
    predictions = predictions_of(answered(ASKED[:1], {"q1": nothing}))
    assert predictions.answers == {}


def test_judged_twice_once_with_the_gold_paragraphs_hidden(knowledge: KnowledgeBase) -> None:
    seen: list[dict[str, set[int]]] = []

    def ask(questions: list[str], hidden: dict[str, set[int]]) -> list[Result]:
        seen.append(hidden)
        chance = 0.1 if hidden else 0.8
        return [result(one, (1, 2), "whale", chance) for one in questions]

    judged = judge(ask, knowledge, ASKED)  # type: ignore[arg-type]
    assert seen == [{}, {"Which whale?": {1, 2}, "Which captain?": {3, 4}}]
    assert judged.right.tolist() == [True, False]
    assert judged.hidden_probabilities.tolist() == [0.1, 0.1]
    without = [replace(ASKED[0], gold=replace(ASKED[0].gold, paragraphs=()))]
    with pytest.raises(QuestionError, match="gold paragraphs"):
        judge(ask, knowledge, without)  # type: ignore[arg-type]


def test_the_threshold_tells_right_answers_from_others_and_probabilities_become_true() -> None:
    rng = np.random.default_rng(27)
    truth = Calibration(temperature=3.0, bias=-0.5)
    odds = rng.normal(scale=4.0, size=4000)
    right = rng.random(4000) < truth.probabilities(odds)
    low = rng.normal(loc=-8.0, size=4000)
    shares, hidden = (Calibration().probabilities(some) for some in (odds, low))
    judged = Judged(shares, right, hidden, np.zeros(4000, dtype=bool))
    found = calibrate(judged)
    assert found.temperature == pytest.approx(3.0, rel=0.15)
    after = Judged(truth.probabilities(odds), right, truth.probabilities(low), judged.hidden_right)
    facts = trust(after, found.threshold)
    assert facts.error < 0.03
    assert facts.told_right > 0.8
    assert facts.told_wrong < 0.6
    assert facts.told_hidden < 0.3


def test_the_surest_mistakes_come_first_and_say_what_failed() -> None:
    results = {
        "q1": result("Which whale?", (1, 2), "a ship", 0.3),
        "q2": result("Which captain?", (3, 1), "ship", 0.8),
    }
    first, second = find_mistakes(ASKED, results)
    assert (first.said, first.right, first.stage) == ("ship", ("captain",), "retrieval")
    assert (second.said, second.stage) == ("a ship", "reading")
    assert second.support == ("The Whale is one.", "The Station is one.")
    assert len(find_mistakes(ASKED, results, most=1)) == 1


def test_the_second_hop_helped_where_the_question_alone_does_not_find_it_all(
    tmp_path: Path,
) -> None:
    results = {
        "q1": result("Which whale?", (1, 2), "whale", 0.3),
        "q2": result("Which captain?", (3, 1), "ship", 0.8),
    }
    best = {"q1": ["Whale", "Ship", "Station"], "q2": ["Ship", "Captain"]}
    helped = second_hop(ASKED, results, best)
    assert helped == SecondHop(2, by_question=0.5, by_chain=0.5, only_by_chain=0.5)
    assert second_hop([question(3, (2,), "station")], {}, {}) is None
    mistakes = find_mistakes(ASKED, results)
    page = write_page(tmp_path, "T", {}, {}, mistakes, helped).read_text(encoding="utf-8")
    assert "50.0% are found by hops alone" in page
    assert page.count("<details>") == len(mistakes) == 1
