"""Questions of one hop become questions of two: a name gives way to what is said of it."""

from typing import Any

import pytest

from muppet.corpus.benchmarks import BenchmarkQuestion, Gold
from muppet.domain import Paragraph, Question
from muppet.train.bridges import described, find_mentions, make_bridges

LIGHT = Paragraph(
    "light",
    "Lighthouses of the Firth",
    ("Its lamp came from Marrow Works in 1871.", " Hilda Crane kept it.", " Seals live below."),
)
OTHER = Paragraph(
    "other", "Lighthouses of the Firth", ("Hilda Crane came from Marrow Works in winter.",)
)
WORKS = Paragraph(
    "works", "Marrow Works", ("Marrow Works (founded 1820) is a foundry in the port of Leith.",)
)
CRANE = Paragraph("crane", "Hilda Crane", ("Hilda Crane was a Scottish keeper of lights.",))


def asked(text: str, answer: str, paragraph: Paragraph = LIGHT) -> BenchmarkQuestion:
    gold = Gold((answer,), "single", (paragraph,), frozenset())
    return BenchmarkQuestion(Question(text, text), gold, (paragraph,))


def made(*questions: BenchmarkQuestion, count: int = 9) -> list[dict[str, Any]]:
    mentions = find_mentions(
        [*questions, asked("When was it sent to Hilda Crane?", "winter", OTHER)]
    )
    return [
        one for one in make_bridges(mentions, [WORKS, CRANE], count, 1) if one["answer"] != "winter"
    ]


def test_a_name_gives_way_to_what_its_own_paragraph_says_it_is() -> None:
    (one,) = made(asked("When did the lamp come from Marrow Works?", "1871"))
    assert one["question"] == "When did the lamp come from the foundry in the port of Leith?"
    assert (one["answer"], one["type"]) == ("1871", "composed")
    assert one["supporting_facts"] == [["Marrow Works", 0], ["Lighthouses of the Firth", 0]]
    assert one["context"][:2] == [
        ["Marrow Works", list(WORKS.sentences)],
        ["Lighthouses of the Firth", list(LIGHT.sentences)],
    ]
    assert ["Lighthouses of the Firth", list(OTHER.sentences)] in one["context"][2:]


def test_the_article_before_a_name_goes_with_it_and_the_first_letter_is_large() -> None:
    (one,) = made(asked("In what year did a lamp come from the Marrow Works?", "1871"))
    assert one["question"] == "In what year did a lamp come from the foundry in the port of Leith?"
    (one,) = made(asked("The Marrow Works did what in 1871?", "Its lamp came"))
    assert one["question"] == "The foundry in the port of Leith did what in 1871?"


@pytest.mark.parametrize(
    "question",
    [
        asked("Which lamps of Great Marrow Works came?", "1871"),  # part of another name
        asked("Which Marrow Works lamp came in 1871?", "lamp"),  # a kind of lamp
        asked("Which the old Marrow Works is it?", "1871"),  # not the bare name
        asked("When did a lamp come from Marrow Works?", "in the port of Leith"),  # not there
        asked("Who sent Marrow Works?", "Marrow Works"),  # asks for the name itself
        asked("When did it come from marrow works?", "1871"),  # no name
        asked("What of Tarn Works?", "1871"),  # named by no paragraph
        asked("When did Marrow Works send it?", "1871", OTHER),  # the answer is not in it
    ],
)
def test_what_is_unclear_is_left_out(question: BenchmarkQuestion) -> None:
    assert made(question) == []


def test_each_question_is_asked_once_and_never_more_than_wanted() -> None:
    both = asked("When did Hilda Crane write to Marrow Works?", "1871")
    assert len(made(both)) == 1
    many = [asked(f"When did lamp {n} come from Marrow Works?", "1871") for n in range(60)]
    mentions = find_mentions(many)
    assert len(make_bridges(mentions, [WORKS], 5, 1)) == 5
    assert len(make_bridges(mentions, [WORKS], 100, 1)) == 40, "of one name"
    assert make_bridges(mentions, [WORKS], 5, 1) == make_bridges(mentions, [WORKS], 5, 1)
    assert make_bridges(mentions, [WORKS], 5, 1) != make_bridges(mentions, [WORKS], 5, 2)


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        (
            "Ada Crane (born 1 May 1901) was a Scottish keeper of lights.",
            "Scottish keeper of lights",
        ),
        ("Ada Crane is a potter.", ""),  # says too little
        ("Ada Crane was the mother of Hilda Crane.", ""),  # names her
        ("It was once told that Ada Crane was a Scottish keeper of lights.", ""),
        ("In 1901 there was a storm over all of the islands.", ""),
        ("", ""),
        (
            "Ada Crane was a Scottish keeper of lights, best known for a book on seals of the far "
            "north that nobody has read.",
            "Scottish keeper of lights, best known for a book on seals of the far north",
        ),
        ("Ada Crane was a keeper" + " of old lights" * 8 + ".", ""),  # too long, no clause ends
    ],
)
def test_what_an_opening_says_its_subject_is(sentence: str, said: str) -> None:
    assert described(Paragraph("p", "Ada Crane", (sentence,) if sentence else ())) == said
