"""Parity with HotpotQA's official scoring, by an oracle in plain loops (checklist 29)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muppet.corpus.benchmarks import BenchmarkQuestion, Gold
from muppet.domain import Question, SentenceRef
from muppet.evaluate.report import Predictions, Report, score_predictions

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def plain_words(text: str) -> list[str]:
    """What is left of a text: letter by letter, with a blank for every article."""
    kept = ""
    for letter in text.lower():
        if letter not in PUNCTUATION:
            kept += letter
    pieces: list[str] = []
    run = ""
    for letter in kept + " ":  # a run of letters and digits ends before anything else
        if letter.isalnum():
            run += letter
            continue
        pieces.append(" " if run in ("a", "an", "the") else run)
        pieces.append(letter)
        run = ""
    return "".join(pieces).split()


def plain_f1(precision: float, recall: float) -> float:
    if precision + recall == 0:
        return 0.0
    return 2.0 * precision * recall / (precision + recall)


def plain_answer(prediction: str, gold: str) -> tuple[float, float, float]:
    """Exact match, precision, recall: each predicted word crosses out one gold word."""
    predicted, wanted = plain_words(prediction), plain_words(gold)
    if predicted == wanted:
        return (1.0, 1.0, 1.0) if wanted else (1.0, 0.0, 0.0)
    for verdict in ("yes", "no", "noanswer"):
        if predicted == [verdict] or wanted == [verdict]:
            return 0.0, 0.0, 0.0
    left = list(wanted)
    crossed_out = 0
    for word in predicted:
        if word in left:
            left.remove(word)
            crossed_out += 1
    if crossed_out == 0:
        return 0.0, 0.0, 0.0
    return 0.0, crossed_out / len(predicted), crossed_out / len(wanted)


def plain_support(
    predicted: frozenset[SentenceRef], gold: frozenset[SentenceRef]
) -> tuple[float, float, float]:
    right = wrong = missed = 0
    for sentence in predicted:
        if sentence in gold:
            right += 1
        else:
            wrong += 1
    for sentence in gold:
        if sentence not in predicted:
            missed += 1
    return (
        1.0 if wrong + missed == 0 else 0.0,
        right / (right + wrong) if right + wrong else 0.0,
        right / (right + missed) if right + missed else 0.0,
    )


def plain_means(predictions: Predictions, gold: list[BenchmarkQuestion]) -> dict[str, list[float]]:
    """em, f1, precision and recall of each part, summed and divided by the gold questions."""
    sums = {part: [0.0] * 4 for part in ("answer", "support", "joint")}
    assert predictions.support is not None
    for each in gold:
        name = each.question.id
        found: dict[str, tuple[float, ...]] = {}
        if name in predictions.answers:
            found["answer"] = plain_answer(predictions.answers[name], each.gold.answers[0])
        if name in predictions.support:
            found["support"] = plain_support(predictions.support[name], each.gold.support)
        if len(found) == 2:
            pairs = list(zip(found["answer"], found["support"], strict=True))
            found["joint"] = tuple(left * right for left, right in pairs)
        for part, (match, precision, recall) in found.items():
            row = (match, plain_f1(precision, recall), precision, recall)
            for place in range(4):
                sums[part][place] += row[place]
    return {part: [total / len(gold) for total in row] for part, row in sums.items()}


TEXTS = st.one_of(
    st.text(max_size=12),
    st.lists(
        st.sampled_from(
            ["Yes", "no", "noanswer", "the", "An", "a", "fox", "Fox,", "red", "a–b", "T.H.E.", "?"]
        ),
        max_size=4,
    ).map(" ".join),
)
SENTENCES = st.frozensets(
    st.builds(SentenceRef, st.sampled_from(["A", "B"]), st.integers(min_value=0, max_value=2)),
    max_size=4,
)
IDS = st.sampled_from(["q1", "q2", "q3", "q4", "not asked"])
PREDICTIONS = st.builds(Predictions, st.dictionaries(IDS, TEXTS), st.dictionaries(IDS, SENTENCES))


@st.composite
def gold_questions(draw: st.DrawFn) -> list[BenchmarkQuestion]:
    asked = []
    for name in ("q1", "q2", "q3", "q4")[: draw(st.integers(min_value=1, max_value=4))]:
        support = draw(SENTENCES) | {SentenceRef("A", 0)}
        kind = draw(st.sampled_from(["bridge", "comparison"]))
        asked.append(
            BenchmarkQuestion(Question(name, ""), Gold((draw(TEXTS),), kind, (), support), ())
        )
    return asked


def rows(report: Report) -> dict[str, list[float]]:
    return {part: list(scores.values()) for part, scores in report.answer_parts().items()}


@settings(max_examples=500, deadline=None)
@given(PREDICTIONS, gold_questions())
def test_whole_files_score_as_the_official_rules_say_checklist_29(
    predictions: Predictions, gold: list[BenchmarkQuestion]
) -> None:
    report = score_predictions(predictions, gold)
    expected = plain_means(predictions, gold)
    for part, row in rows(report).items():
        assert row == pytest.approx(expected.pop(part))
    assert expected == {}
    for kind, slice_report in report.by_type.items():
        of_kind = [each for each in gold if each.gold.kind == kind]
        for part, row in plain_means(predictions, of_kind).items():
            assert rows(slice_report)[part] == pytest.approx(row)
