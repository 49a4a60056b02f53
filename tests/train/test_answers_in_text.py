"""Every exact match of a gold answer is gold (checklist 24)."""

import pytest

from muppet.text.tokens import tokenize
from muppet.train.answers_in_text import answer_places


def found(text: str, *answers: str) -> list[str]:
    tokens = tokenize(text)
    return [tokens.slice_text(*place) for place in answer_places(tokens.words(), answers)]


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        ("He was born in Oslo.", "Oslo", ["Oslo"]),
        ("He was born in OSLO.", "oslo", ["OSLO"]),
        ("The U.S. and the US.", "US", ["U.S.", "US"]),
        ("He sold 1,000 of them.", "1000", ["1,000"]),
        ('He wrote "Moby-Dick" here.', "Moby Dick", ["Moby-Dick"]),
        ("a well known author", "well-known", ["well known"]),
        ("It was the Battle of the Bulge.", "Battle of Bulge", ["Battle of the Bulge"]),
        ("It was the Battle of Bulge.", "The Battle of the Bulge", ["Battle of Bulge"]),
        ("The Who played.", "the Who", ["Who"]),
        ("Oslo, then Bergen, then Oslo", "Oslo", ["Oslo", "Oslo"]),
        ("New York, New York", "New York", ["New York", "New York"]),
        ("the New Yorker", "New York", []),
        ("York in the New world", "New York", []),
        ("He was born in Oslo.", "Bergen", []),
        ("He was born in Oslo.", "", []),
        ("wow !!!", "!!!", []),
        ("I liked The The most.", "The The", ["The The"]),
        ("Beyonce\u0301 sang.", "Beyonc\u00e9", ["Beyonce\u0301"]),
        ("in Łódź, Poland", "ŁÓDŹ", ["Łódź"]),
        ("“Señor” said he", "señor", ["Señor"]),
        ("it cost €5", "€5", ["€5"]),
        ("Ferguson's club", "Ferguson's", ["Ferguson's"]),
    ],
)
def test_answers_are_found_as_the_checklist_says_24(
    text: str, answer: str, expected: list[str]
) -> None:
    assert found(text, answer) == expected


def test_a_match_begins_and_ends_with_words_of_the_answer_checklist_24() -> None:
    assert found("by (the) Queen, the end", "the Queen") == ["Queen"]


def test_any_of_several_answers_counts_and_a_place_counts_once_checklist_24() -> None:
    text = "Norway, or the Kingdom of Norway"
    assert found(text, "Norway", "the Norway", "Kingdom of Norway") == [
        "Norway",
        "Kingdom of Norway",
        "Norway",
    ]


def test_matches_may_overlap_checklist_24() -> None:
    assert answer_places(["ha", "ha", "ha"], ["ha ha"]) == [(0, 1), (1, 2)]
