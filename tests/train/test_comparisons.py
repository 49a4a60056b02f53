"""Comparison questions made from paragraphs: their facts, their answers, their evidence."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from muppet.corpus.benchmarks import read_questions
from muppet.domain import Paragraph
from muppet.train.comparisons import make_comparisons
from muppet.train.facts import OPENING, facts_of

NATIONS = ("Norwegian", "Chilean", "Kenyan")
COUNTRIES = ("Norway", "Chile", "Kenya")
WORKS = ("potter", "film director", "engineer")


def told(title: str, *sentences: str) -> Paragraph:
    return Paragraph(title, title, sentences)


def person(number: int) -> Paragraph:
    nation, work = NATIONS[number % 3], WORKS[number // 3 % 3]
    lived = f"{1800 + number} – 4 May {1870 + 2 * number}"
    return told(f"Person {number}x", f"Person {number}x ({lived}) was a {nation} {work}.")


def film(number: int) -> Paragraph:
    return told(
        f"Kite {number}x (film)", f"Kite {number}x is a {1950 + number} Swedish drama film."
    )


def town(number: int) -> Paragraph:
    people = f" The population was {1_000 + 7 * number:,} in 2011."
    return told(
        f"Town {number}x", f"Town {number}x is a village in {COUNTRIES[number % 3]}.", people
    )


WORLD = [make(number) for make in (person, film, town) for number in range(40)]


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("Ada Holm (born 3 May 1901 in Bergen) is a Norwegian film director.",
         {"born": 1901, "birthplace": "Bergen", "nation": "Norwegian", "kind": "film director",
          "both": "Norwegian film director"}),
        ("Ada Holm (3 May 1901 – 1 June 1980) was a former Welsh potter and writer.",
         {"born": 1901, "died": 1980, "nation": "Welsh", "kind": "potter", "both": "Welsh potter"}),
        ("Kite is a 1994 American comedy film directed by Ada Holm.",
         {"year": 1994, "nation": "American", "kind": "comedy film",
          "both": "American comedy film", "director": "Ada Holm"}),
        ("Skerry College is a school, founded in March 1887.",
         {"founded": 1887, "kind": "school"}),
        ("Skerry is a village of Norway with a population of about 1,204 people.",
         {"people": 1204, "kind": "village", "village of": "Norway"}),
        ("Skerry is a peak with an elevation of 1,204 metres in Tromsø, Norway.",
         {"metres": 1204, "kind": "peak", "country": "Norway"}),
        ("Holm Mill is a mill near Dover, Ohio, built in 1840 in Dover, Ohio.",
         {"built": 1840, "kind": "mill", "state": "Ohio", "country": "the United States"}),
        ("Holmia is a genus of about 12 flowering species.", {"species": 12, "kind": "genus"}),
        ("The Holm line is a railway, 31.5 km long, which opened in May 1902.",
         {"kilometres": 31, "opened": 1902, "kind": "railway"}),
        ("Ada Holm (born 3 May 1901 in New Bergen, Norway) was a Norwegian painter.",
         {"born": 1901, "birthplace": "New Bergen", "nation": "Norwegian", "kind": "painter",
          "both": "Norwegian painter"}),
        ("Ada was born May 3, 1901, in Oslo.", {"birthplace": "Oslo"}),
        ("Holmia is a moon that was discovered on 9 September 1892 by a painter.",
         {"kind": "moon", "discovered": 1892}),
        ("Holm is a novel first published in May 1902.", {"kind": "novel", "published": 1902}),
        ("Holm is a ship launched in 1810.", {"kind": "ship", "launched": 1810}),
        ("Ada Holm (born 1901) is an American actress, stage director, and poet from Holm County.",
         {"born": 1901, "nation": "American", "kind": "actress", "both": "American actress"}),
        ("Holmia is a genus of moss in the family Holmiaceae.",
         {"kind": "genus", "family": "Holmiaceae"}),
        ("Kite is a play by the Welsh painter Ada Holm.", {"kind": "play", "author": "Ada Holm"}),
        ("Skerry is a hamlet in Upper Holm County, Westland.",
         {"kind": "hamlet", "county": "Upper Holm County, Westland"}),
        ("Kite is a film based on the novel by Ada Holm.", {"kind": "film"}),
        ("Kite is a game, developed by Holm Studios and published by Skerry.",
         {"kind": "game", "developer": "Holm Studios", "publisher": "Skerry"}),
        ("Holm Ltd is a company based in New Bergen, Ohio.",
         {"kind": "company", "city": "New Bergen, Ohio", "state": "Ohio",
          "country": "the United States", "based in": "New Bergen, Ohio"}),
        ("Skerry is a club in the Northern Premier League.",
         {"kind": "club", "league": "Northern Premier League"}),
        ("It rained.", {}),
    ],
)  # fmt: skip
def test_an_opening_tells_years_numbers_nationality_and_kind(
    sentence: str, facts: dict[str, Any]
) -> None:
    found = facts_of(told("T", sentence))
    assert {name: fact.value for name, fact in found.items() if name != "called"} == facts


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("Kite was a Welsh cheap garden travel magazine.", ("magazine", "travel magazine")),
        ("Holmia is a plant with green leaves, red flowers and berries.", ("plant",)),
        ("Ada Holm is a retired male potter who made pots, plates and cups.",
         ("potter", "male potter")),
        ("Ada Holm is an American-Welsh actress, stage director, and poet from Ohio.",
         ("actress", "director", "stage director", "poet")),
        ("Kite is a 2010 American documentary film directed by Ada Holm.",
         ("film", "documentary film")),
        ("Ada Holm was a potter and idle Democratic writer.", ("potter",)),
        ("Ada Holm was a former potter and writer.", ("potter", "writer")),
    ],
)  # fmt: skip
def test_an_opening_tells_all_that_something_is_called(
    sentence: str, names: tuple[str, ...]
) -> None:
    assert facts_of(told("T", sentence))["called"].value == names
    assert "called" not in facts_of(told("T", "It rained."))


def test_a_fact_knows_its_sentence_and_only_openings_say_what_a_thing_is() -> None:
    found = facts_of(town(3))
    assert (found["kind"].sentence, found["people"].sentence) == (0, 1)
    assert "kind" not in facts_of(told("T", "It rained.", " T is a village."))
    said = facts_of(told("T", "It rained.", " She won the regatta of Bergen twice."))["said"]
    assert (said.value, said.sentence) == ("won the regatta of Bergen twice", 1)


def test_questions_are_answered_by_what_their_two_paragraphs_say() -> None:
    made = make_comparisons(WORLD, 300, seed=4)
    assert len(made) == 300
    for one in made:
        gold = {title: number for title, number in one["supporting_facts"]}
        texts = {title: sentences for title, sentences in one["context"]}
        assert len(gold) == 2 and len(texts) > 3
        values = {title: facts_of(told(title, *texts[title])) for title in gold}
        assert all(title.removesuffix(" (film)") in one["question"] for title in gold)
        if "born before" in one["question"]:
            years = [
                values[title]["born"].value for title in sorted(gold, key=one["question"].find)
            ]
            assert (years[0] < years[1]) == (one["answer"] == "yes")
        elif " or " in one["question"] and re.search("born|older", one["question"]):
            name = "born" if "Person" in one["question"] else "year"
            first = min(gold, key=lambda title: values[title][name].value)
            last = max(gold, key=lambda title: values[title][name].value)
            right = last if "later" in one["question"] else first
            assert one["answer"] == right.removesuffix(" (film)")
        if "nationality?" in one["question"] and one["answer"] in {"yes", "no"}:
            nations = {values[title]["nation"].value for title in gold}
            assert (len(nations) == 1) == (one["answer"] == "yes")


def test_yes_and_no_are_about_as_many_and_the_same_seed_makes_the_same_questions() -> None:
    made = make_comparisons(WORLD, 300, seed=4)
    counts = Counter(one["answer"] for one in made if one["answer"] in {"yes", "no"})
    assert counts.total() > 60
    assert abs(counts["yes"] - counts["no"]) <= 1
    assert made == make_comparisons(WORLD, 300, seed=4)
    assert made != make_comparisons(WORLD, 300, seed=5)


def test_they_are_read_like_a_benchmark_and_too_few_paragraphs_make_fewer(tmp_path: Path) -> None:
    (tmp_path / "made.json").write_text(json.dumps(make_comparisons(WORLD, 20, seed=1)))
    questions = read_questions(tmp_path / "made.json")
    assert len(questions) == 20
    assert all(len(one.gold.paragraphs) == 2 and one.gold.support for one in questions)
    assert make_comparisons(WORLD[:3], 20, seed=1) == []
    assert make_comparisons([], 20, seed=1) == []


def test_in_brief_they_come_with_their_two_paragraphs_alone_or_with_the_openings_of_them() -> None:
    long = [told(one.title, *one.sentences, *[" It rained."] * 5) for one in WORLD]
    made = make_comparisons(long, 60, seed=2, brief=True)
    cut = [all(len(some) <= OPENING for _, some in one["context"]) for one in made]
    assert 15 < sum(cut) < 45
    for one, is_cut in zip(made, cut, strict=True):
        assert sorted(title for title, _ in one["context"]) == sorted(
            title for title, _ in one["supporting_facts"]
        )
        assert is_cut or all(len(sentences) > OPENING for _, sentences in one["context"])


def test_whether_both_are_of_some_kind_is_answered_by_all_that_each_is_called() -> None:
    """In fewer words, too, and by a wider word: a jazz drummer is a drummer and a musician."""
    kinds = ("jazz drummer", "guitarist and potter", "potter", "novelist", "poet and drummer")
    names = (
        {"drummer", "jazz drummer", "musician"}, {"guitarist", "potter", "musician"}, {"potter"},
        {"novelist", "writer"}, {"poet", "drummer", "writer", "musician"},
    )  # fmt: skip
    world = [
        told(f"Person {number}x", f"Person {number}x (born {1900 + number}) is a {kind}.")
        for number in range(60)
        for kind in [kinds[number % len(kinds)]]
    ]
    asked: Counter[str] = Counter()
    for one in make_comparisons(world, 300, seed=3):
        found = re.search(r"both (?:.*x )?([a-z ]+)s[?,]", one["question"])
        if one["answer"] not in {"yes", "no"} or not found or "same" in one["question"]:
            continue
        numbers = [int(title.split()[1].rstrip("x")) for title, _ in one["supporting_facts"]]
        are = [found[1] in names[number % len(names)] for number in numbers]
        assert all(are) == (one["answer"] == "yes"), one
        asked[found[1]] += 1
    assert asked["drummer"] and asked["jazz drummer"] and asked["musician"]
