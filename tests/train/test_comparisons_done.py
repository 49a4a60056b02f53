"""Comparison questions about what was done to two things, where, by whom, and what they are of."""

import re

import pytest

from muppet.domain import Paragraph
from muppet.train.comparisons import make_comparisons
from muppet.train.facts import facts_of, unit_of


def told(title: str, *sentences: str) -> Paragraph:
    return Paragraph(title, title, sentences)


def told_of(*sentences: str) -> dict[str, str]:
    found = facts_of(told("T", *sentences))
    return {fact.name: fact.value for fact in found.values() if fact.group in {"done", "of"}}


@pytest.mark.parametrize(
    ("sentences", "facts"),
    [
        (["Kite is a ship built in Skerry and owned by Holm Lines."],
         {"built in": "Skerry", "owned by": "Holm Lines"}),
        (["Kite is a disused mill.", " It was designed and built by the Welsh architect Ada Holm."],
         {"designed by": "Ada Holm", "built by": "Ada Holm"}),
        (["Kite is a film.", " The film was recorded in 1990 at Holm Hall in Skerry."],
         {"recorded at": "Holm Hall, Skerry"}),
        (["Kite was built in 1907 for the Duke of Holm."], {"built for": "the Duke of Holm"}),
        (["Kite is a left tributary of the Skerry in Norway."],
         {"tributary of": "the Skerry, Norway"}),
        (["Kite is a small moon of Holmia."], {"moon of": "Holmia"}),
        (["Kite is a mill near a church built in Skerry."], {}),
        (["Kite is a mill.", " The village is situated in Skerry."], {}),
        (["Kite is a house built in Tudor style."], {}),
        (["Kite was built in May."], {}),
        (["Kite is a film produced by Ada Holm and Bo Berg."], {}),
        (["Kite is a film produced by Ada Holm, Bo Berg and others."], {}),
        (["Ada was the minister president of Skerry."], {}),
        (["Ada is the leader of the Union for the Sea."], {}),
    ],
)  # fmt: skip
def test_an_opening_tells_what_was_done_to_its_subject_and_what_it_is_of(
    sentences: list[str], facts: dict[str, str]
) -> None:
    assert told_of(*sentences) == facts


@pytest.mark.parametrize(
    ("place", "unit"),
    [
        ("Scotland", "country"), ("the Netherlands", "country"), ("the United States", "country"),
        ("Ohio", "state"), ("Norfolk", "county"), ("Holm County", "county"),
        ("Ontario", "province"), ("Holm District", "district"), ("Dundee", "place"),
        ("South Wales", ""), ("the United Kingdom", ""), ("Africa", ""),
    ],
)  # fmt: skip
def test_a_place_is_a_country_a_state_or_whatever_its_name_tells(place: str, unit: str) -> None:
    assert unit_of(place) == unit


def asked_of(*values: str, says: str) -> list[tuple[str, str, set[str]]]:
    """Question, answer and the two values, of paragraphs that say one of the values each."""
    world = [
        told(f"Kite {number}x", f"Kite {number}x {says} {values[number % len(values)]}.")
        for number in range(30)
    ]
    made = make_comparisons(world, 60, seed=3)
    pattern = re.compile(rf"(?:{'|'.join(values)})\.$")
    found = []
    for one in made:
        texts = {title: "".join(sentences) for title, sentences in one["context"]}
        ends = [pattern.search(texts[title]) for title, _ in one["supporting_facts"]]
        if one["answer"] in {"yes", "no"}:
            found.append((one["question"], one["answer"], {end[0][:-1] for end in ends if end}))
    return found


@pytest.mark.parametrize(
    ("says", "values", "wording"),
    [
        ("was built in", ("Dundee", "Skerry"), "built in the same place"),
        ("was built in", ("Norway", "Chile"), "built in the same country"),
        ("was designed by", ("Ada Holm", "Bo Berg"), "Did Ada Holm design"),
        ("is owned by", ("Holm Lines", "Skerry Foods"), "owned by the same people or company"),
        ("was named after", ("Ada Holm", "Bo Berg"), "both named after Bo Berg"),
        ("is a moon of", ("Saturn", "Jupiter"), "moons of the same planet"),
        ("is a tributary of", ("the Danube", "the Rhine"), "both tributaries of the Danube"),
    ],
)  # fmt: skip
def test_both_share_it_or_not(says: str, values: tuple[str, ...], wording: str) -> None:
    relation = re.compile(rf"\b{says.split()[-1]}\b|^Did")
    asked = [one for one in asked_of(*values, says=says) if relation.search(one[0])]
    assert {answer for _, answer, _ in asked} == {"yes", "no"}
    assert any(wording in question for question, _, _ in asked)
    assert all((len(said) == 1) == (answer == "yes") for _, answer, said in asked)


@pytest.mark.parametrize(
    "values", [("Scotland", "Dundee"), ("Ohio", "Dover"), ("Africa", "Kenya"), ("Holm", "Holm Bay")]
)
def test_nothing_is_denied_where_one_place_may_hold_the_other(values: tuple[str, str]) -> None:
    asked = [one for one in asked_of(*values, says="was buried in") if "buried" in one[0]]
    assert {answer for _, answer, _ in asked} <= {"yes"}


def test_whether_britain_is_one_country_is_not_asked() -> None:
    asked = [question for question, _, _ in asked_of("England", "Scotland", says="was built in")]
    assert any("built in England" in question for question in asked)
    assert not any("same country" in question for question in asked)


def test_nothing_is_denied_that_the_other_paragraph_says_further_on() -> None:
    world = [
        told(f"Kite {n}x", f"Kite {n}x was built in {a}.", f" Later it was moved to {b}.")
        for n in range(30)
        for a, b in [(("Dundee", "Skerry"), ("Skerry", "Dundee"))[n % 2]]
    ]
    made = [one for one in make_comparisons(world, 60, seed=3) if "built" in one["question"]]
    assert {one["answer"] for one in made} <= {"yes"}


def test_in_england_is_not_in_wales_and_nothing_is_asked_of_two_paragraphs_twice() -> None:
    countries = ("England", "Wales", "Northern Ireland")
    world = [
        told(f"Kite {n}x", f"Kite {n}x is a village in Holm, {countries[n % 3]}, near the sea.")
        for n in range(30)
    ]
    made = make_comparisons(world, 200, seed=3)
    keys = [(*sorted(t for t, _ in one["supporting_facts"]), one["answer"]) for one in made]
    assert len(set(keys)) == len(keys)
    found = set()
    for one in made:
        if asked := re.search(r"in (England|Wales|Northern Ireland)\?$", one["question"]):
            numbers = [int(title.split()[1][:-1]) for title, _ in one["supporting_facts"]]
            are = all(countries[number % 3] == asked[1] for number in numbers)
            assert are == (one["answer"] == "yes")
            found.add((asked[1], one["answer"]))
        assert "same country" not in one["question"]
    assert found >= {(country, answer) for country in countries for answer in ("yes", "no")}


def test_new_south_wales_is_no_part_of_wales() -> None:
    assert "country" not in facts_of(told("T", "T is a town in New South Wales."))
    assert "country" not in facts_of(told("T", "T is any moor in England or Wales."))
    assert (
        facts_of(told("T", "T is a town in Holm, Wales, with a pier."))["country"].value == "Wales"
    )
