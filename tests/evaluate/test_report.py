"""Reports: means over gold questions, slices by type, the JSON contract, the table."""

import json
from pathlib import Path

import pytest

from muppet.corpus.benchmarks import BenchmarkQuestion, Gold
from muppet.domain import Paragraph, Question, SentenceRef
from muppet.errors import QuestionError
from muppet.evaluate.answers import Scores
from muppet.evaluate.chains import CUTOFFS, score_ranking
from muppet.evaluate.report import (
    Predictions,
    Report,
    format_table,
    read_predictions,
    score_predictions,
    score_questions,
    score_retrieval,
    unknown_ids,
    with_retrieval,
    write_predictions,
)

A0, B1 = SentenceRef("A", 0), SentenceRef("B", 1)
PERFECT = Scores(1.0, 1.0, 1.0, 1.0)


def asked(
    name: str,
    answers: tuple[str, ...] = ("fox",),
    *,
    kind: str = "",
    titles: str = "",
    support: frozenset[SentenceRef] = frozenset(),
) -> BenchmarkQuestion:
    paragraphs = tuple(Paragraph(title, title, ("One. ", "Two.")) for title in titles)
    return BenchmarkQuestion(
        Question(name, f"What is {name}?"), Gold(answers, kind, paragraphs, support), paragraphs
    )


HOTPOT = [
    asked("q1", ("red fox",), kind="bridge", titles="AB", support=frozenset({A0, B1})),
    asked("q2", ("yes",), kind="comparison", titles="AB", support=frozenset({A0, B1})),
    asked("q3", ("dog",), kind="bridge", titles="AB", support=frozenset({A0, B1})),
    asked("q4", ("cat",), kind="bridge", titles="AB", support=frozenset({A0, B1})),
]


def test_a_missing_prediction_counts_0_and_the_gold_count_divides_checklist_29() -> None:
    report = score_predictions(Predictions({"q1": "fox", "q2": "yes"}), HOTPOT)
    assert report.questions == 4
    # q1: precision 1, recall 1/2; q2: everything; q3, q4: missing
    assert report.answer == Scores(
        em=0.25, f1=pytest.approx((2 / 3 + 1) / 4), precision=0.5, recall=0.375
    )


def test_support_and_joint_are_means_over_all_gold_questions_checklist_29() -> None:
    support = {"q1": frozenset({A0}), "q2": frozenset({A0, B1}), "q3": frozenset({A0, B1})}
    report = score_predictions(
        Predictions({"q1": "fox", "q2": "yes", "q4": "cat"}, support), HOTPOT
    )
    # support: q1 precision 1, recall 1/2; q2, q3: everything; q4: missing
    assert report.support == Scores(
        em=0.5, f1=pytest.approx((2 / 3 + 2) / 4), precision=0.75, recall=0.625
    )
    # joint: q1 precision 1, recall 1/4, F1 2/5; q2: everything; q3, q4: half is missing
    assert report.joint == Scores(em=0.25, f1=pytest.approx(1.4 / 4), precision=0.5, recall=0.3125)


def test_a_missing_support_is_not_an_empty_one_checklist_29() -> None:
    gold = [asked("q1", support=frozenset({A0})), asked("q2"), asked("q3")]
    report = score_predictions(Predictions({}, {"q2": frozenset()}), gold)
    assert report.support == Scores(em=pytest.approx(1 / 3), f1=0.0, precision=0.0, recall=0.0)


def test_support_is_scored_only_when_it_was_predicted_checklist_29() -> None:
    report = score_predictions(Predictions({"q1": "red fox"}), HOTPOT)
    assert (report.support, report.joint) == (None, None)


def test_support_is_scored_only_when_the_gold_has_it_checklist_29() -> None:
    report = score_predictions(Predictions({"q1": "fox"}, {"q1": frozenset({A0})}), [asked("q1")])
    assert (report.answer, report.support, report.joint) == (PERFECT, None, None)


def test_gold_with_support_has_the_verdict_rule_and_gold_without_has_not_checklist_29() -> None:
    predictions = Predictions({"q": "yes"})
    hotpot = score_predictions(predictions, [asked("q", ("yes sir",), support=frozenset({A0}))])
    squad = score_predictions(predictions, [asked("q", ("yes sir",))])
    assert hotpot.answer is not None
    assert squad.answer is not None
    assert (hotpot.answer.f1, squad.answer.f1) == (0.0, pytest.approx(2 / 3))


def test_each_type_has_a_report_of_its_own_questions() -> None:
    report = score_predictions(Predictions({"q1": "red fox"}), HOTPOT)
    assert list(report.by_type) == ["bridge", "comparison"]
    bridge, comparison = report.by_type.values()
    assert (bridge.questions, comparison.questions) == (3, 1)
    assert bridge.answer is not None
    assert comparison.answer is not None
    assert (bridge.answer.em, comparison.answer.em) == (pytest.approx(1 / 3), 0.0)


def test_questions_without_a_type_make_no_slice() -> None:
    assert score_predictions(Predictions({}), [asked("q1")]).by_type == {}


def test_gold_without_any_answer_cannot_be_scored() -> None:
    for gold in ([], [asked("q1", ())]):
        with pytest.raises(QuestionError, match="None of the gold questions has an answer"):
            score_predictions(Predictions({"q1": "fox"}), gold)


def test_predictions_for_unknown_questions_are_ignored_but_can_be_named() -> None:
    predictions = Predictions({"q1": "fox", "q9": "fox"}, {"q8": frozenset({A0})})
    assert score_predictions(predictions, [asked("q1")]).answer == PERFECT
    assert unknown_ids(predictions, [asked("q1")]) == ["q8", "q9"]


def test_questions_without_gold_paragraphs_are_left_out_of_retrieval_checklist_22() -> None:
    gold = [asked("q1", titles="AB"), asked("q2"), asked("q3", titles="AB")]
    found = score_ranking({"A", "B"}, ["A", "B"], cutoffs=(1, 2))
    report = score_retrieval({"q1": found, "q2": found}, gold)  # q3 has no ranking: 0
    assert report.questions == 3
    assert report.retrieval is not None
    assert report.retrieval.perfect == {1: 0.0, 2: 0.5}
    assert report.retrieval.hits == {1: 0.25, 2: 0.5}


def test_without_gold_paragraphs_there_is_no_retrieval_to_report_checklist_22() -> None:
    assert score_retrieval({}, [asked("q1")]) == Report(questions=1)


def test_without_any_ranking_retrieval_is_0_at_the_usual_cutoffs_checklist_22() -> None:
    report = score_retrieval({}, [asked("q1", titles="A")])
    assert report.retrieval is not None
    assert report.retrieval.hits == dict.fromkeys(CUTOFFS, 0.0)


def test_the_json_of_a_report_has_exactly_the_parts_that_were_computed() -> None:
    gold = [asked("q1", kind="bridge", titles="AB", support=frozenset({A0, B1}))]
    predictions = Predictions({"q1": "fox"}, {"q1": frozenset({A0, B1})})
    ranking = score_ranking({"A", "B"}, ["A", "x", "B"], cutoffs=(1, 3))
    report = with_retrieval(
        score_predictions(predictions, gold), score_retrieval({"q1": ranking}, gold)
    )
    ones = {"em": 1.0, "f1": 1.0, "precision": 1.0, "recall": 1.0}
    part = {
        "questions": 1,
        "answer": ones,
        "support": ones,
        "joint": ones,
        "retrieval": {
            "perfect": {"1": 0.0, "3": 1.0},
            "at_least_one": {"1": 1.0, "3": 1.0},
            "hits": {"1": 0.5, "3": 1.0},
        },
    }
    assert report.to_json() == {**part, "by_type": {"bridge": part}}
    assert json.loads(json.dumps(report.to_json())) == report.to_json()


def test_the_json_of_squad_has_answers_only() -> None:
    report = score_predictions(Predictions({}), [asked("q1")])
    assert report.to_json() == {
        "questions": 1,
        "answer": {"em": 0.0, "f1": 0.0, "precision": 0.0, "recall": 0.0},
    }


def test_predictions_survive_a_file_and_score_the_same(tmp_path: Path) -> None:
    predictions = Predictions({"q1": "fox"}, {"q1": frozenset({A0})})
    write_predictions(tmp_path / "predictions.json.xz", predictions)
    again = read_predictions(tmp_path / "predictions.json.xz")
    assert score_predictions(again, HOTPOT) == score_predictions(predictions, HOTPOT)


def test_single_questions_keep_the_order_of_the_gold() -> None:
    scores = score_questions(Predictions({"q3": "dog"}), HOTPOT)
    assert [(each.id, each.kind) for each in scores][1:3] == [
        ("q2", "comparison"),
        ("q3", "bridge"),
    ]
    assert scores[2].answer == PERFECT


def test_the_table_shows_each_section_with_a_row_for_each_system() -> None:
    good = score_predictions(Predictions({"q1": "red fox", "q2": "yes"}), HOTPOT)
    ranking = score_ranking({"A", "B"}, ["A"], cutoffs=(2, 10))
    gold_ids = [each.question.id for each in HOTPOT]
    found = score_retrieval(dict.fromkeys(gold_ids, ranking), HOTPOT)
    other = score_ranking({"A", "B"}, ["A", "B"], cutoffs=(2, 4))
    table = format_table(
        {
            "Muppet": with_retrieval(good, found),
            "TF": score_retrieval(dict.fromkeys(gold_ids, other), HOTPOT),
        }
    )
    sections = table.split("\n\n")
    assert sections[0] == (
        "overall, 4 questions: answers\n"
        "                  EM    F1  precision  recall\n"
        "answer  Muppet  50.0  50.0       50.0    50.0"
    )
    assert sections[1] == (
        "overall, 4 questions: retrieval at k\n"
        "                          2      4     10\n"
        "perfect       Muppet    0.0      -    0.0\n"
        "perfect       TF      100.0  100.0      -\n"
        "at least one  Muppet  100.0      -  100.0\n"
        "at least one  TF      100.0  100.0      -\n"
        "hits          Muppet   50.0      -   50.0\n"
        "hits          TF      100.0  100.0      -"
    )
    assert [section.partition("\n")[0] for section in sections[2:]] == [
        "bridge, 3 questions: answers",
        "bridge, 3 questions: retrieval at k",
        "comparison, 1 questions: answers",
        "comparison, 1 questions: retrieval at k",
    ]


def test_the_only_type_has_no_table_of_its_own() -> None:
    bridges = [each for each in HOTPOT if each.gold.kind == "bridge"]
    table = format_table({"Muppet": score_predictions(Predictions({}), bridges)})
    assert table.startswith("overall, 3 questions: answers\n")
    assert "bridge" not in table


def test_the_table_says_when_systems_answered_different_numbers_of_questions() -> None:
    reports = {
        "all": score_predictions(Predictions({}), HOTPOT),
        "some": score_predictions(Predictions({}), HOTPOT[:2]),
    }
    assert format_table(reports).startswith("overall, 2 or 4 questions: answers\n")
