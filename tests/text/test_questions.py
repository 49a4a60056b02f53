"""What counts as a question."""

import pytest

from muppet.errors import QuestionError
from muppet.text.questions import LONGEST, question_from


def test_a_question_is_one_line() -> None:
    asked = question_from("  Who\n\tsank the  Endurance? ", "q1")
    assert (asked.id, asked.text) == ("q1", "Who sank the Endurance?")


@pytest.mark.parametrize("text", ["Endurance", "Who is Ō?", "1914?", "Where is 東京?", "naïve"])
def test_one_word_to_search_for_is_enough(text: str) -> None:
    assert question_from(text).text == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (" \n\t", "is empty"),
        ("?! … –", "'\\?! … –' holds no word"),
        ("What is it?", "'What is it\\?' has only words that stand everywhere"),
        ("Didn't they?", "has only words that stand everywhere"),
        ("half \ud83d a character", "half a surrogate pair"),
        ("x" * (LONGEST + 1), "has 5,001 characters; at most 5,000"),
    ],
)
def test_what_cannot_be_searched_for_is_refused(text: str, message: str) -> None:
    with pytest.raises(QuestionError, match=message):
        question_from(text)


def test_a_question_of_the_greatest_length_is_taken() -> None:
    assert len(question_from("x" * LONGEST).text) == LONGEST


def test_a_long_question_is_not_repeated_in_full() -> None:
    with pytest.raises(QuestionError) as refused:
        question_from("the " * 1_000)
    assert len(str(refused.value)) < 250
