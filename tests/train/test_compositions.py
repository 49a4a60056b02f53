"""Openings that name one another make questions of two hops."""

from typing import Any

import pytest

from muppet.domain import Paragraph
from muppet.train.compositions import make_compositions


def paragraph(title: str, *sentences: str) -> Paragraph:
    return Paragraph(title, title, sentences)


CRANE = paragraph(
    "Hilda Crane",
    "Hilda Crane (3 May 1881 - 9 June 1950) was a Scottish film director.",
    " She was born in Oban, Scotland and attended the Leith Academy.",
)
FILM = paragraph("Marrow (film)", "Marrow is a 1921 drama film directed by Hilda Crane.")
SON = paragraph(
    "Edmund Crane",
    "Edmund Crane (born 7 July 1911 in Leith) is a Scottish singer, the son of Hilda Crane.",
)
SONG = paragraph("Low Water", "Low Water is a song by the Scottish singer Edmund Crane.")


def made(*openings: Paragraph, count: int = 50, seed: int = 1) -> list[dict[str, Any]]:
    return make_compositions(openings, count, seed)


def pairs(*openings: Paragraph) -> set[tuple[str, str]]:
    """Question and answer, of several seeds."""
    return {(one["question"], one["answer"]) for n in range(40) for one in made(*openings, seed=n)}


def test_who_directed_a_film_and_when_that_one_was_born() -> None:
    asked = pairs(FILM, CRANE)
    assert ("When was the director of Marrow born?", "3 May 1881") in asked
    assert ("What is the date of death of Marrow's director?", "9 June 1950") in asked
    assert ("Where was the director of the film Marrow born?", "Oban, Scotland") in asked
    assert ("In what year was the director of Marrow born?", "1881") in asked
    assert ("What nationality is the director of Marrow?", "Scottish") in asked
    assert ("Where did Marrow's director study?", "Leith Academy") in asked


def test_a_film_has_years_and_was_not_born() -> None:
    film = paragraph("Marrow", "Marrow (also Mergur, 1921) is a film directed by Hilda Crane.")
    assert "3 May 1881" in {answer for _, answer in pairs(film, CRANE)}


def test_a_question_has_its_two_openings_and_the_sentences_it_rests_on() -> None:
    for one in made(FILM, CRANE):
        assert one["type"] == "composed"
        assert one["context"] == [[who.title, list(who.sentences)] for who in (FILM, CRANE)]
        (first, _), (second, sentence) = one["supporting_facts"]
        assert (first, second) == ("Marrow (film)", "Hilda Crane")
        assert one["answer"] in CRANE.sentences[sentence]


def test_a_son_s_mother_is_a_mother_and_what_could_be_asked_of_him_too_is_preferred() -> None:
    asked = pairs(SON, CRANE)
    assert ("When was Edmund Crane's mother born?", "3 May 1881") in asked
    assert ("Where was the mother of Edmund Crane born?", "Oban, Scotland") in asked
    assert not any("father" in question or "die" in question for question, _ in asked)


def test_the_longest_name_counts_and_a_name_that_ends_another_s_does_not() -> None:
    longer = paragraph("Hilda Crane Holm", "Hilda Crane Holm (born 1 May 1970) is a film actress.")
    film = paragraph("Marrow", "Marrow is a film directed by Hilda Crane Holm and others.")
    assert {answer for _, answer in pairs(film, CRANE, longer)} >= {"1 May 1970"}
    other = paragraph("Marrow", "Marrow is a film directed by Ada Hilda Crane.")
    assert made(other, CRANE) == []


@pytest.mark.parametrize(
    "opening",
    [
        "Marrow is a novel by Hilda Crane.",  # a director is no writer
        "Marrow is a play based on a novel by Hilda Crane.",
        "Marrow is a film directed by Ada Holm.",  # of whom there is no document
        "Marrow is a film directed by Crane.",
        "Marrow (born 1 May 1900) was in a film directed by Hilda Crane.",  # nobody is directed
    ],
)
def test_nothing_is_asked_where_the_opening_says_something_else(opening: str) -> None:
    assert made(paragraph("Marrow", opening), CRANE) == []


def test_an_answer_stands_in_the_second_opening_alone() -> None:
    film = paragraph("Marrow", "Marrow is a Scottish film directed by Hilda Crane.")
    assert "Scottish" not in {answer for _, answer in pairs(film, CRANE)}
    told = paragraph("Hilda Crane", *CRANE.sentences, " Her best film is Marrow.")
    assert made(film, told) == []  # the second would do without the first


def test_others_of_the_same_relation_are_what_to_tell_them_from() -> None:
    others = [
        one
        for n in range(9)
        for one in (
            paragraph(f"Reel {n}", f"Reel {n} is a film directed by Jo Holm{n}."),
            paragraph(f"Jo Holm{n}", f"Jo Holm{n} (born {n + 1} May 1960) is a film director."),
        )
    ]
    contexts = [one["context"] for one in made(FILM, CRANE, *others)]
    assert all(3 <= len(context) <= 6 for context in contexts)
    assert all(len({title for title, _ in context}) == len(context) for context in contexts)


def test_a_question_is_asked_once_and_the_same_seed_asks_the_same() -> None:
    openings = (FILM, CRANE, SON, SONG)
    first = made(*openings)
    keys = [(one["question"], one["answer"]) for one in first]
    assert len(set(keys)) == len(keys) > 3
    assert {one["_id"] for one in first} == {f"composition-1-{n}" for n in range(len(first))}
    assert made(*openings) == first != made(*openings, seed=2)
    assert made(*openings, count=2) == first[:2]


ACTOR = "Jo Holm (born 2 May 1960) is a film director."


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        (
            " Her husband, Bob Holm (5 June 1880 - 1 May 1950), wrote.",
            ("5 June 1880", "1 May 1950"),
        ),
        (" Her father died in Paris.", ("Paris",)),
        (" On 4 May 1981 in London she sang.", ("London",)),
        (" Her brother studied at Oxford.", ("Oxford",)),
        (" Her best film is Reel (1970).", ("1970",)),
    ],
)
def test_what_is_said_of_others_is_not_said_of_the_one_who_is_named(
    said: str, wrong: tuple[str, ...]
) -> None:
    film = paragraph("Low", "Low is a film directed by Jo Holm.")
    answers = {answer for _, answer in pairs(film, paragraph("Jo Holm", ACTOR, said))}
    assert "2 May 1960" in answers
    assert not answers & set(wrong)


def test_a_place_at_the_end_of_a_sentence_has_no_full_stop() -> None:
    film = paragraph("Low", "Low is a film directed by Jo Holm.")
    asked = pairs(
        film, paragraph("Jo Holm", ACTOR, " She was born in Rome.", " She died in St. Ives.")
    )
    assert {"Rome", "St. Ives"} <= {answer for _, answer in asked}


@pytest.mark.parametrize(
    "opening",
    [
        "Low is a remake of the film Marrow directed by Hilda Crane.",
        "Low is the soundtrack of the film Marrow directed by Hilda Crane.",
        "Low (born 1 May 1990) is the step-son of Hilda Crane.",
        "Low (born 1 May 1990) is married to Al Bo, the son of Hilda Crane.",
    ],
)
def test_what_is_said_of_another_s_work_or_kin_is_not_asked(opening: str) -> None:
    assert made(paragraph("Low", opening), CRANE) == []


def test_two_films_of_one_name_are_not_asked_for() -> None:
    other = paragraph("Marrow", "Marrow is a 1960 film directed by Jo Holm.")
    assert made(FILM, CRANE, other, paragraph("Jo Holm", ACTOR)) == []


def test_texts_with_few_blanks_are_left_out() -> None:
    blob = paragraph("Hilda Crane", CRANE.sentences[0], " " + "1" * 2000)
    assert made(FILM, blob) == []


def test_too_long_openings_and_empty_ones_are_left_out() -> None:
    long = paragraph("Marrow", FILM.sentences[0], " It rained." * 80)
    assert made(long, CRANE) == made(Paragraph("x", "x", ()), CRANE) == []
