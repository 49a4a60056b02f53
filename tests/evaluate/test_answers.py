"""The official rules of answers, support, joint and files, one by one (checklist 29)."""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from muppet.domain import SentenceRef
from muppet.errors import QuestionError
from muppet.evaluate.answers import (
    NOTHING,
    Predictions,
    Scores,
    hotpot_scores,
    joint_scores,
    mean_scores,
    normalise,
    read_predictions,
    squad_scores,
    support_scores,
    write_predictions,
)

WORDS = st.lists(st.sampled_from(["red", "Red", "fox", "yes", "no", "the", "x.", "-", "noanswer"]))
TEXTS = st.one_of(st.text(), WORDS.map(" ".join))
SENTENCES = st.frozensets(
    st.builds(SentenceRef, st.sampled_from("AB"), st.integers(min_value=0, max_value=3))
)

A0, A1, B0, B1 = (SentenceRef(title, index) for title in "AB" for index in (0, 1))


def test_normalising_lowers_the_case_checklist_29() -> None:
    assert normalise("Kurt COBAIN") == "kurt cobain"


def test_normalising_removes_ascii_punctuation_only_checklist_29() -> None:
    assert normalise("“rock'n'roll!” (1999–2001)") == "“rocknroll” 1999–2001"


def test_normalising_removes_articles_that_are_whole_words_checklist_29() -> None:
    assert normalise("the theory of an apple a day") == "theory of apple day"


def test_normalising_collapses_all_spaces_checklist_29() -> None:
    assert normalise("  new\t york \n city ") == "new york city"


def test_case_is_lowered_before_articles_are_removed_checklist_29() -> None:
    assert normalise("The Beatles") == "beatles"


def test_punctuation_is_removed_before_articles_checklist_29() -> None:
    assert normalise("A.N. Other") == "other"
    assert normalise("a-ha") == "aha"


def test_spaces_are_collapsed_after_articles_are_removed_checklist_29() -> None:
    assert normalise("king of the hill") == "king of hill"


def test_an_article_beside_other_than_ascii_punctuation_is_removed_checklist_29() -> None:
    assert normalise("the–end") == "–end"


def test_a_removed_article_leaves_a_space_checklist_29() -> None:
    assert normalise("bed–the–hill") == "bed– –hill"


def test_exact_match_compares_normalised_texts_checklist_29() -> None:
    assert hotpot_scores("The Beatles!", ["beatles"]) == Scores(1.0, 1.0, 1.0, 1.0)


def test_f1_counts_shared_words_checklist_29() -> None:
    # shared: new, york; predicted 3 words, gold 2
    assert hotpot_scores("new york city", ["New York"]) == Scores(
        em=0.0, f1=pytest.approx(0.8), precision=pytest.approx(2 / 3), recall=1.0
    )


def test_a_repeated_word_counts_as_often_as_both_sides_have_it_checklist_29() -> None:
    # shared: boom twice, pow once; predicted 4 words, gold 5
    scores = hotpot_scores("boom boom boom pow", ["boom boom pow pow wow"])
    assert scores.precision == pytest.approx(3 / 4)
    assert scores.recall == pytest.approx(3 / 5)
    assert scores.f1 == pytest.approx(2 / 3)


def test_nothing_shared_scores_nothing_checklist_29() -> None:
    assert hotpot_scores("london", ["paris"]) == NOTHING


@pytest.mark.parametrize("verdict", ["yes", "no", "noanswer", "Yes."])
def test_a_predicted_verdict_has_no_partial_credit_checklist_29(verdict: str) -> None:
    assert hotpot_scores(verdict, [f"{verdict} minister"]) == NOTHING


@pytest.mark.parametrize("verdict", ["yes", "no", "noanswer", "The No!"])
def test_a_gold_verdict_gives_no_partial_credit_checklist_29(verdict: str) -> None:
    assert hotpot_scores(f"{verdict} minister", [verdict]) == NOTHING


@pytest.mark.parametrize("verdict", ["yes", "no", "noanswer"])
def test_the_right_verdict_has_full_credit_checklist_29(verdict: str) -> None:
    assert hotpot_scores(verdict.upper() + "!", [verdict]) == Scores(1.0, 1.0, 1.0, 1.0)


def test_yes_inside_a_longer_answer_is_a_word_like_any_other_checklist_29() -> None:
    assert hotpot_scores("yes minister", ["yes sir"]).f1 == pytest.approx(0.5)


def test_squad_gives_partial_credit_for_yes_checklist_29() -> None:
    assert squad_scores("yes", ["yes minister"]).f1 == pytest.approx(2 / 3)


def test_two_texts_that_normalise_to_nothing_match_without_f1_checklist_29() -> None:
    expected = Scores(em=1.0, f1=0.0, precision=0.0, recall=0.0)
    assert hotpot_scores("the", ["..."]) == expected
    assert squad_scores("the", ["..."]) == expected


def test_several_gold_answers_give_the_maximum_of_f1_and_of_em_checklist_29() -> None:
    assert squad_scores("red fox", ["fox den", "a red fox", "dog"]) == Scores(1.0, 1.0, 1.0, 1.0)
    assert squad_scores("the", ["fox", "a"]) == Scores(1.0, 0.0, 0.0, 0.0)
    best = squad_scores("red fox", ["fox", "the fox ran far off"])  # F1 2/3 and 1/3
    assert (best.f1, best.precision, best.recall) == (pytest.approx(2 / 3), 0.5, 1.0)


def test_a_question_without_gold_answers_scores_nothing() -> None:
    assert hotpot_scores("fox", []) == NOTHING


def test_support_is_scored_as_a_set_of_sentences_checklist_29() -> None:
    # right: A0; wrong: A1; missed: B0, B1
    assert support_scores({A0, A1}, {A0, B0, B1}) == Scores(
        em=0.0, f1=pytest.approx(0.4), precision=0.5, recall=pytest.approx(1 / 3)
    )


def test_support_matches_only_as_a_whole_checklist_29() -> None:
    assert support_scores({A0, B1}, {B1, A0}) == Scores(1.0, 1.0, 1.0, 1.0)
    assert support_scores({A0}, {A0, B1}).em == 0.0
    assert support_scores({A0, B1, B0}, {A0, B1}).em == 0.0


def test_empty_support_scores_nothing_and_matches_only_empty_gold_checklist_29() -> None:
    assert support_scores(frozenset(), {A0}) == NOTHING
    assert support_scores({A0}, frozenset()) == NOTHING
    assert support_scores(frozenset(), frozenset()) == Scores(1.0, 0.0, 0.0, 0.0)


def test_joint_scores_are_products_and_the_f1_of_these_checklist_29() -> None:
    answer = Scores(em=1.0, f1=0.9, precision=0.8, recall=0.5)
    support = Scores(em=1.0, f1=0.9, precision=0.5, recall=0.4)
    # precision .4, recall .2, F1 = .16 / .6
    assert joint_scores(answer, support) == Scores(
        em=1.0, f1=pytest.approx(4 / 15), precision=pytest.approx(0.4), recall=pytest.approx(0.2)
    )


def test_joint_needs_both_to_be_right_checklist_29() -> None:
    perfect = Scores(1.0, 1.0, 1.0, 1.0)
    assert joint_scores(perfect, NOTHING) == joint_scores(NOTHING, perfect) == NOTHING


def test_each_score_is_averaged_by_itself() -> None:
    assert mean_scores([Scores(1.0, 1.0, 1.0, 1.0), Scores(0.0, 0.4, 0.25, 1.0)]) == Scores(
        em=0.5, f1=0.7, precision=0.625, recall=1.0
    )


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_f1_is_symmetric_and_precision_is_the_recall_of_the_other_side(
    left: str, right: str
) -> None:
    for score in (hotpot_scores, squad_scores):
        there, back = score(left, [right]), score(right, [left])
        assert (there.em, there.f1) == (back.em, pytest.approx(back.f1))
        assert (there.precision, there.recall) == (back.recall, back.precision)


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_an_exact_match_has_f1_1_unless_nothing_is_left_of_it(left: str, right: str) -> None:
    for prediction, gold in ((left, right), (left, left.upper().lower()), (left, f" the {left}")):
        scores = hotpot_scores(prediction, [gold])
        if scores.em:
            assert scores.f1 == float(normalise(gold) != "")


@settings(deadline=None)
@given(TEXTS, st.lists(TEXTS), SENTENCES, SENTENCES)
def test_all_scores_stand_between_0_and_1(
    prediction: str, answers: list[str], found: frozenset[SentenceRef], gold: frozenset[SentenceRef]
) -> None:
    answer, support = hotpot_scores(prediction, answers), support_scores(found, gold)
    for scores in (answer, support, joint_scores(answer, support)):
        for value in (scores.em, scores.f1, scores.precision, scores.recall):
            assert 0.0 <= value <= 1.0


HOTPOT_FILE = {"answer": {"q1": "fox", "q2": "yes"}, "sp": {"q1": [["A", 0], ["B", 1], ["A", 0]]}}
HOTPOT = Predictions({"q1": "fox", "q2": "yes"}, {"q1": frozenset({A0, B1})})


def test_the_official_file_of_predictions_is_read_checklist_29(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(HOTPOT_FILE), encoding="utf-8")
    assert read_predictions(path) == HOTPOT


def test_a_file_of_squad_predictions_is_read_checklist_29(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text('{"answer": "fox", "q2": "Zürich"}', encoding="utf-8")
    assert read_predictions(path) == Predictions({"answer": "fox", "q2": "Zürich"}, None)


def test_the_official_file_may_lack_support_checklist_29(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text('{"answer": {"q1": "fox"}}', encoding="utf-8")
    assert read_predictions(path) == Predictions({"q1": "fox"}, None)


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        (".xz", lzma.compress),
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".zst", zstandard.compress),
    ],
)
def test_a_compressed_file_of_predictions_is_read_and_written_checklist_29(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / f"predictions.json{suffix}"
    path.write_bytes(compress(json.dumps(HOTPOT_FILE).encode()))
    assert read_predictions(path) == HOTPOT
    again = tmp_path / f"again.json{suffix}"
    write_predictions(again, HOTPOT)
    assert again.read_bytes()[:3] == path.read_bytes()[:3] != b'{"a'
    assert read_predictions(again) == HOTPOT


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "Expecting property name"),
        ("[1]", "the file is not an object"),
        ('{"q1": 7}', "the answer to q1 is not text"),
        ('{"answer": {"q1": null}}', "the answer to q1 is not text"),
        ('{"answer": {}, "sp": []}', '"sp" is not an object'),
        ('{"answer": {}, "sp": {"q1": {}}}', "the support of q1 is not a list"),
        ('{"answer": {}, "sp": {"q1": [["A"]]}}', r"the support of q1 has \['A'\] for a \[title"),
        ('{"answer": {}, "sp": {"q1": [["A", "0"]]}}', "the support of q1 has"),
    ],
)
def test_a_file_that_holds_no_predictions_is_refused_with_the_reason(
    tmp_path: Path, content: str, reason: str
) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(QuestionError, match=f"predictions.json does not hold .*{reason}.*must be"):
        read_predictions(path)


def test_a_file_that_is_not_there_or_damaged_is_refused_by_name(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.json.xz"
    damaged.write_bytes(lzma.compress(b'{"q1": "fox"}')[:-9])
    latin = tmp_path / "latin.json"
    latin.write_bytes('{"q1": "Zürich"}'.encode("latin-1"))
    for path in (tmp_path / "missing.json", damaged, latin):
        with pytest.raises(QuestionError, match=path.name):
            read_predictions(path)


def test_written_predictions_have_the_official_format_checklist_29(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    write_predictions(path, HOTPOT)
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "answer": {"q1": "fox", "q2": "yes"},
        "sp": {"q1": [["A", 0], ["B", 1]]},
    }
    write_predictions(path, Predictions({"q1": "fox"}))
    assert path.read_text(encoding="utf-8") == '{"q1": "fox"}'


def test_any_text_survives_being_written(tmp_path: Path) -> None:
    odd = Predictions({"q1": 'Zürich\n"\0', "q2": "\ud800"})  # the last is half a character
    write_predictions(tmp_path / "predictions.json", odd)
    assert read_predictions(tmp_path / "predictions.json") == odd


def test_a_failed_write_leaves_the_old_predictions_alone(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    write_predictions(path, HOTPOT)
    (tmp_path / "predictions.json.muppet-new").mkdir()  # nothing can be written aside
    with pytest.raises(QuestionError, match=r"Cannot write .*predictions\.json"):
        write_predictions(path, Predictions({}))
    assert read_predictions(path) == HOTPOT


def test_no_partial_file_is_left_beside_the_predictions(tmp_path: Path) -> None:
    write_predictions(tmp_path / "predictions.json", HOTPOT)
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.json"]
