"""Distant supervision: what a question can be learned from, found by a model that knows nothing."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from muppet.corpus.benchmarks import read_questions
from muppet.domain import Paragraph, silent
from muppet.knowledge.open import KnowledgeBase
from muppet.retrieve.retriever import Retriever, open_retriever
from muppet.train.data import read_training_data
from muppet.train.own_gold import (
    NOT_FOUND,
    NOT_NAMED,
    VERDICT,
    Evidence,
    find_evidence,
    hotpot_record,
    read_left_out,
    write_own_questions,
)
from muppet.train.own_questions import OwnQuestion
from random_model import Demo

BURIED = OwnQuestion(
    1,
    "Which Norwegian sea captain founded the whaling station where Shackleton is buried?",
    ("somebody else", "Carl Anton Larsen"),
)
NOWHERE = OwnQuestion(2, "Which captain was buried by his parrot?", ("Captain Flint",))
WHETHER = OwnQuestion(3, "Are Titan and Triton moons of the same planet?", ("No",))
ALL = 10_000
"""More tokens than any paragraph has."""


@pytest.fixture(scope="module")
def retriever(demo: Demo) -> Iterator[Retriever]:
    with KnowledgeBase(demo.kb) as knowledge:
        yield open_retriever(knowledge)


def find(retriever: Retriever, asked: OwnQuestion, *titles: str, max_tokens: int = ALL) -> Evidence:
    given = tuple(
        one for title in titles for one in retriever.knowledge.store.by_title(title).values()
    )
    (found,) = find_evidence([asked], {asked.line: given}, retriever, max_tokens, silent)
    return found


def holds(paragraph: Paragraph, answer: str) -> bool:
    return answer in f"{paragraph.title}\n{paragraph.text}"


def test_gold_is_the_best_chain_that_holds_an_answer(retriever: Retriever) -> None:
    found = find(retriever, BURIED)
    retrieved = retriever.retrieve(BURIED.text)
    chains = [
        [retrieved.paragraphs[number] for number in one.chain.paragraphs]
        for one in retrieved.chains
    ]
    holding = [chain for chain in chains if any(holds(one, BURIED.answers[1]) for one in chain)]
    assert list(found.gold) == holding[0]
    assert found.answer == "Carl Anton Larsen"
    assert not found.why_not


def test_support_is_the_sentence_with_the_answer_and_one_of_every_paragraph(
    retriever: Retriever,
) -> None:
    found = find(retriever, BURIED)
    sentences = [found.gold[place].sentences[number] for place, number in found.support]
    assert any("Carl Anton Larsen" in sentence for sentence in sentences)
    assert {place for place, _ in found.support} == set(range(len(found.gold)))


def test_distractors_were_found_too_and_do_not_hold_the_answer(retriever: Retriever) -> None:
    found = find(retriever, BURIED)
    assert 0 < len(found.distractors) <= 8
    assert not {one.id for one in found.distractors} & {one.id for one in found.gold}
    assert not any(holds(one, BURIED.answers[1]) for one in found.distractors)


def test_named_paragraphs_are_gold_in_their_order(retriever: Retriever) -> None:
    found = find(retriever, BURIED, "Ernest Shackleton", "Grytviken")
    assert [one.title for one in found.gold] == ["Ernest Shackleton", "Grytviken"]
    answers = [found.gold[place].sentences[number] for place, number in found.support if place == 1]
    assert any("Carl Anton Larsen" in sentence for sentence in answers)


def test_a_question_without_evidence_says_why(retriever: Retriever) -> None:
    assert find(retriever, NOWHERE).why_not == NOT_FOUND
    assert find(retriever, BURIED, "Titan (moon)").why_not == NOT_NAMED
    assert find(retriever, WHETHER).why_not == VERDICT
    assert not find(retriever, WHETHER).gold


def test_an_answer_behind_what_the_network_reads_does_not_count(retriever: Retriever) -> None:
    late = replace(BURIED, answers=("heart attack",))
    assert find(retriever, late, "Ernest Shackleton").gold
    assert find(retriever, late, "Ernest Shackleton", max_tokens=40).why_not == NOT_NAMED


def test_yes_or_no_is_learned_from_the_paragraphs_named(retriever: Retriever) -> None:
    found = find(retriever, WHETHER, "Titan (moon)", "Triton (moon)")
    assert found.answer == "No"
    assert {place for place, _ in found.support} == {0, 1}


def test_the_files_are_hotpotqa_s_and_training_takes_all_of_them(
    retriever: Retriever, tmp_path: Path
) -> None:
    asked = [BURIED, NOWHERE, WHETHER, replace(BURIED, line=4, text="Who founded Grytviken?")]
    evidence = [
        find(retriever, asked[0]),
        find(retriever, asked[1]),
        find(retriever, asked[2], "Titan (moon)", "Triton (moon)"),
        find(retriever, asked[3], "Grytviken"),
    ]
    write_own_questions(tmp_path / "own", evidence, {2, 4}, {})
    loaded = read_training_data([tmp_path / "own" / "train.json"])
    assert loaded.left_out() == []
    assert [one.id for one in loaded.data.questions] == ["1", "3"]
    for one, wanted in zip(loaded.data.questions, (evidence[0], evidence[2]), strict=True):
        assert [loaded.data.paragraphs[row].text for row in one.gold] == [
            paragraph.text for paragraph in wanted.gold
        ]
        assert len(one.support) == len(wanted.support)
        assert len(one.distractors) == len(wanted.distractors)
    assert [one.question.id for one in read_questions(tmp_path / "own" / "dev.json")] == ["4"]
    held = read_questions(tmp_path / "own" / "held-out.jsonl")
    assert [one.gold.answers for one in held] == [NOWHERE.answers, BURIED.answers]
    fates = [
        json.loads(line) for line in (tmp_path / "own" / "questions.jsonl").read_text().splitlines()
    ]
    assert [one["part"] for one in fates] == ["train", "held out", "train", "held out"]
    assert read_left_out(tmp_path / "own") == {}
    write_own_questions(tmp_path / "own", evidence, {4}, {})
    assert read_left_out(tmp_path / "own") == {NOT_FOUND: 1}


def test_paragraphs_of_one_title_are_told_apart() -> None:
    parts = tuple(
        Paragraph(f"places#{n}", "Places", (f"Tor number {n}.", " It is high.")) for n in (1, 2, 3)
    )
    asked = OwnQuestion(1, "Which tor is high?", ("number 2",))
    record = hotpot_record(Evidence(asked, "number 2", parts[:2], ((0, 1), (1, 0)), (parts[2],)))
    assert record["supporting_facts"] == [("Places", 1), ("Places (2)", 0)]
    assert [title for title, _ in record["context"]] == [  # type: ignore[attr-defined]
        "Places",
        "Places (2)",
        "Places (3)",
    ]
