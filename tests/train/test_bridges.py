"""Questions of one hop become questions of two: a name gives way to what is said of it."""

from dataclasses import replace
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


FITS = "When did the lamp come from Marrow Works?"


@pytest.mark.parametrize(
    "text",
    [
        FITS,
        "When was Marrow Works, the foundry, asked?",
        "Was it Marrow Works that sent it, and when?",
        "In the Marrow Works, what was made?",
    ],
)
def test_names_that_stand_alone_give_way(text: str) -> None:
    assert len(made(asked(text, "1871"))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "When did lamps come from Great Marrow Works?",  # the end of a longer name
        "When did the lamp come from House of Marrow Works?",
        "When was To Kill the Marrow Works in print?",
        "When did the lamp come from The Marrow Works?",
        "When did it come from A&Marrow Works?",
        "When did it come from the founders' Marrow Works?",
        "When did the lamp come from Marrow Works, Fife?",  # the beginning of one
        "When did it come as a Marrow Works lamp?",  # a kind of lamp
        "When did the lamp come from the old Marrow Works?",  # with an adjective
        "When did Marrow Works come from Marrow Works?",  # the name would stay
        "When did the lamp come from marrow works?",  # no name
    ],
)
def test_names_that_do_not_stand_alone_are_left(text: str) -> None:
    assert made(asked(text, "1871")) == []


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("187", "part of a word"),
        ("Leith", "told by the opening"),
        ("from Marrow Works", "the name itself"),
        ("one two three four five six seven eight nine", "too long"),
    ],
)
def test_answers_that_do_not_fit_are_left(answer: str, text: str) -> None:
    sentences = (*LIGHT.sentences, " It lies in Leith.", " " + "one two three four five six seven "
                 "eight nine.")  # fmt: skip
    whole = Paragraph("light", LIGHT.title, sentences)
    assert len(made(asked(FITS, "lies in", whole))) == 1
    assert made(asked(FITS, answer, whole)) == [], text


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"title": "FC Marrow Works"}, "the name may mean something else there"),
        ({"title": "Marrow Works"}, "the two would be one"),
        ({"sentences": ("Its lamp came in 1871.",)}, "the name is not in it"),
        ({"sentences": (*LIGHT.sentences, " word" * 180)}, "too long"),
    ],
)
def test_paragraphs_that_do_not_fit_are_left(change: dict[str, Any], text: str) -> None:
    assert made(asked(FITS, "1871", replace(LIGHT, **change))) == [], text


def test_questions_without_an_answer_and_of_several_paragraphs_are_left() -> None:
    without = asked(FITS, "1871")
    two = asked(FITS, "1871")
    assert find_mentions([replace(without, gold=replace(without.gold, answers=()))]) == {}
    both = replace(two, gold=replace(two.gold, paragraphs=(LIGHT, OTHER)))
    assert find_mentions([both]) == {}


def test_months_are_no_names() -> None:
    paragraph = Paragraph("light", "Lights", ("Lit in May.", " Moved in June."))
    assert find_mentions([asked("What was lit in May?", "Lit", paragraph)]) == {}


def test_support_is_the_sentence_with_the_answer_that_is_most_like_the_question() -> None:
    sentences = ("In 1871 it rained.", " Its lamp came from Marrow Works in 1871.")
    (one,) = made(asked(FITS, "1871", replace(LIGHT, sentences=sentences)))
    assert one["supporting_facts"][1] == [LIGHT.title, 1]


def test_distractors_are_near_the_question_and_do_not_hold_the_answer() -> None:
    near, far, answering, also = (
        replace(LIGHT, id=text, sentences=(text,))
        for text in (
            "When did the lamp of Marrow Works come to Hilda Crane?",
            "Seals sleep, says Hilda Crane.",
            "The lamp did come from Marrow Works in 1871, says Hilda Crane.",
            "The lamp did come in spring to Hilda Crane.",
        )
    )
    questions = [asked(FITS, "1871")]
    questions += [asked("Who wrote to Hilda Crane?", "Seals", one) for one in (far, answering)]
    questions += [asked("Who wrote to Hilda Crane?", "Seals", one) for one in (near, also)]
    made_of = make_bridges(find_mentions(questions), [WORKS], 9, 1)
    (one,) = (question for question in made_of if question["answer"] == "1871")
    assert one["context"][2:] == [[LIGHT.title, [near.text]], [LIGHT.title, [also.text]]]


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
        ("In Ada Crane there was a great fire of lights.", ""),
        ("Ada Crane is a given name of the far north.", ""),
        (
            "The Ada Crane (once (in old books) the very oldest of all) was a ship of the far "
            "north.",
            "ship of the far north",
        ),
        (
            "Ada Crane was a Scottish keeper of lights, best known for a book on seals of the far "
            "north and of the near south.",
            "Scottish keeper of lights",
        ),
        ("Ada Crane was a keeper" + " of old lights" * 8 + ".", ""),  # too long, no clause ends
    ],
)
def test_what_an_opening_says_its_subject_is(sentence: str, said: str) -> None:
    assert described(Paragraph("p", "Ada Crane", (sentence,) if sentence else ())) == said
    assert described(Paragraph("p", "", ("It was a Scottish keeper of lights.",))) == ""
