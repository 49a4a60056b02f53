"""Paragraphs → comparison questions made from them: who is older, which came first, are both …?

Benchmarks have a few hundred such questions, too few to learn to compare from. What two opening
sentences say of years, numbers, nationality and kind makes as many as one wants, each with its
answer, its two paragraphs and the sentences it rests on.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from muppet.domain import Paragraph

LONGEST = 120
"""Words of a paragraph; longer ones are left out."""
DISTRACTORS = 4

_NATIONS = re.split(
    " +",
    "Afghan African Albanian Algerian American Argentine Armenian Australian Austrian Bangladeshi "
    "Belgian Bolivian Brazilian British Bulgarian Cameroonian Canadian Chilean Chinese Colombian "
    "Croatian Cuban Cypriot Czech Danish Dutch Ecuadorian Egyptian English Estonian Ethiopian "
    "Finnish French Georgian German Ghanaian Greek Hungarian Icelandic Indian Indonesian Iranian "
    "Iraqi Irish Israeli Italian Jamaican Japanese Kenyan Korean Latvian Lebanese Lithuanian "
    "Malaysian Mexican Moroccan Nepalese Nigerian Norwegian Pakistani Peruvian Philippine Polish "
    "Portuguese Romanian Russian Scottish Senegalese Serbian Slovak Slovenian Spanish Swedish "
    "Swiss Syrian Thai Tunisian Turkish Ukrainian Uruguayan Venezuelan Vietnamese Welsh",
)
_WORKS = ("film", "album", "novel", "song", "single", "video game", "television series", "play")
_NUMBER = r"(\d{1,3}(?:,\d{3})+|\d{3,7})"
_YEAR = r"(1[0-9]\d\d|20[0-2]\d)"
_BORN = re.compile(rf"\((?:[^()]{{0,60}}?\b)?born [^()]{{0,25}}?{_YEAR}\b")
_LIVED = re.compile(rf"\([^()]{{0,60}}?\b{_YEAR}\s?[–—-]\s?[^()]{{0,25}}?{_YEAR}\b[^()]{{0,20}}\)")
_FOUNDED = re.compile(rf"\b(?:founded|established|formed|opened|created) in (?:\w+ )?{_YEAR}\b")
_PEOPLE = re.compile(rf"\bpopulation (?:was|of|is)(?: about| around)? {_NUMBER}\b")
_IS = re.compile(
    r"\b(?:is|was|are|were) an? (?:former |retired |professional |small |large |historic )*"
    rf"(?:(?P<year>{_YEAR[1:-1]}) )?(?P<nation>{'|'.join(_NATIONS)})? ?"
    r"(?P<kind>[a-z][a-z -]{2,60})"
)
_KIND_ENDS = re.compile(
    r" (?:and|from|who|that|which|in|of|by|based|located|for|directed|written|released|starring|"
    r"with|to|at|on|known|best|born|where|whose|played|playing|produced|recorded|as|used|found|"
    r"about|near)\b"
)


@dataclass(frozen=True, slots=True)
class Fact:
    """What a paragraph says of its subject, and in which sentence; `group` is what it may be
    compared with."""

    name: str
    group: str
    value: Any
    sentence: int


@dataclass(frozen=True, slots=True)
class Subject:
    """A paragraph with what it says of its subject."""

    paragraph: Paragraph
    facts: dict[str, Fact]

    @property
    def title(self) -> str:
        return _bare(self.paragraph.title)

    @property
    def is_person(self) -> bool:
        return "born" in self.facts


@dataclass(frozen=True, slots=True)
class _Order:
    """Questions whose answer is the one of two with the smaller or the larger value."""

    fact: str
    smaller: tuple[str, ...]
    larger: tuple[str, ...]


_ORDERS = (
    _Order(
        "born",
        ("Who was born first, {a} or {b}?", "Who was born earlier, {a} or {b}?",
         "Who is older, {a} or {b}?", "Which person is older, {a} or {b}?",
         "Between {a} and {b}, who was born first?", "Who is the oldest, {a} or {b}?"),
        ("Who was born later, {a} or {b}?", "Who is younger, {a} or {b}?",
         "Which person is younger, {a} or {b}?"),
    ),
    _Order(
        "died",
        ("Who died first, {a} or {b}?", "Who died earlier, {a} or {b}?"),
        ("Who died later, {a} or {b}?",),
    ),
    _Order(
        "year",
        ("Which {kind} came out first, {a} or {b}?", "Which {kind} was released first, {a} or {b}?",
         "Which {kind} was released earlier, {a} or {b}?", "Was {a} or {b} released first?",
         "Which {kind} is older, {a} or {b}?"),
        ("Which {kind} is newer, {a} or {b}?", "Which {kind} was released later, {a} or {b}?",
         "Which {kind} came out more recently, {a} or {b}?"),
    ),
    _Order(
        "founded",
        ("Which was founded first, {a} or {b}?", "Which was established earlier, {a} or {b}?",
         "Which is older, {a} or {b}?", "Was {a} or {b} founded first?"),
        ("Which was founded later, {a} or {b}?", "Which was established later, {a} or {b}?"),
    ),
    _Order(
        "people",
        ("Which has fewer inhabitants, {a} or {b}?",
         "Which has the smaller population, {a} or {b}?"),
        ("Which has more inhabitants, {a} or {b}?", "Which has the larger population, {a} or {b}?",
         "Which has more people, {a} or {b}?"),
    ),
)  # fmt: skip
_SAME_NATION = (
    "Are {a} and {b} of the same nationality?", "Were {a} and {b} of the same nationality?",
    "Do {a} and {b} have the same nationality?", "Are {a} and {b} from the same country?",
)  # fmt: skip
_BOTH_NATION = ("Are {a} and {b} both {value}?", "Are both {a} and {b} {value}?")
_BOTH_KIND = (
    "Are {a} and {b} both {values}?", "Are both {a} and {b} {values}?",
    "Were {a} and {b} both {values}?",
)  # fmt: skip
_SHARED_NATION = (
    "What nationality do {a} and {b} share?", "{a} and {b} are both of what nationality?",
    "What nationality were both {a} and {b}?",
)  # fmt: skip
_SHARED_WORK = (
    "What occupation do {a} and {b} share?", "What profession do {a} and {b} have in common?",
    "{a} and {b} share which occupation?",
)  # fmt: skip
_SHARED_KIND = ("What are both {a} and {b}?", "{a} and {b} are both what?")


def facts_of(paragraph: Paragraph) -> dict[str, Fact]:
    """What the first two sentences say, by name."""
    found: dict[str, Fact] = {}
    for number, sentence in enumerate(paragraph.sentences[:2]):
        for name, (group, value) in _facts_in(sentence, is_first=number == 0).items():
            found.setdefault(name, Fact(name, group, value, number))
    return found


def make_comparisons(
    paragraphs: Iterable[Paragraph], count: int, seed: int
) -> list[dict[str, Any]]:
    """So many questions in HotpotQA's schema, as like each other as chance makes them; fewer where
    the paragraphs say too little."""
    subjects = [
        Subject(one, facts)
        for one in paragraphs
        if len(one.text.split()) <= LONGEST and (facts := facts_of(one))
    ]
    groups: dict[tuple[str, str], list[Subject]] = defaultdict(list)
    for subject in subjects:
        for fact in subject.facts.values():
            groups[fact.name, fact.group].append(subject)
    maker = _Maker(groups, np.random.default_rng(seed))
    makers = [maker.ordered] * 5 + [maker.yes_or_no] * 4 + [maker.shared, maker.which]
    made: list[dict[str, Any]] = []
    for tried in range(20 * count):
        if len(made) == count:
            break
        question = makers[tried % len(makers)]()
        if question is not None:
            made.append({"_id": f"made-{seed}-{len(made)}", **question})
    return made


class _Maker:
    """Draws two subjects that can be compared, and asks; nothing where a draw does not fit."""

    def __init__(
        self, groups: dict[tuple[str, str], list[Subject]], rng: np.random.Generator
    ) -> None:
        self._groups = {key: some for key, some in groups.items() if len(some) > DISTRACTORS + 2}
        self._rng = rng

    def ordered(self) -> dict[str, Any] | None:
        order = _ORDERS[self._rng.integers(len(_ORDERS))]
        drawn = self._pair(order.fact)
        if drawn is None:
            return None
        values = [one.facts[order.fact].value for one in drawn[:2]]
        if values[0] == values[1]:
            return None
        wants_smaller = self._rng.random() < 0.5
        answer = drawn[int((values[0] < values[1]) != wants_smaller)]
        templates = order.smaller if wants_smaller else order.larger
        kind = drawn[0].facts[order.fact].group
        return self._asked(templates, order.fact, drawn, answer.title, kind=kind)

    def yes_or_no(self) -> dict[str, Any] | None:
        name = ("nation", "kind")[self._rng.integers(2)]
        drawn = self._pair(name, alike=bool(self._rng.random() < 0.5))
        if drawn is None:
            return None
        first, second = (one.facts[name].value for one in drawn[:2])
        if first != second and (first.endswith(second) or second.endswith(first)):
            return None  # a film director is a director
        answer = "yes" if first == second else "no"
        if name == "kind":
            return self._asked(_BOTH_KIND, name, drawn, answer, values=_plural(first))
        same = drawn[0].is_person and self._rng.random() < 0.6
        templates = _SAME_NATION if same else _BOTH_NATION
        return self._asked(templates, name, drawn, answer, value=first)

    def shared(self) -> dict[str, Any] | None:
        name = ("nation", "kind")[self._rng.integers(2)]
        drawn = self._pair(name, alike=True)
        if drawn is None or (name == "nation" and not drawn[0].is_person):
            return None
        templates: Sequence[str] = _SHARED_NATION
        if name == "kind":
            templates = _SHARED_WORK if drawn[0].is_person else _SHARED_KIND
        return self._asked(templates, name, drawn, drawn[0].facts[name].value)

    def which(self) -> dict[str, Any] | None:
        name = ("nation", "kind")[self._rng.integers(2)]
        drawn = self._pair(name)
        if drawn is None:
            return None
        first, second = (one.facts[name].value for one in drawn[:2])
        if first.endswith(second) or second.endswith(first):
            return None
        asked = "Who" if drawn[0].is_person else "Which one"
        article = "" if name == "nation" else "an " if first[0] in "aeiou" else "a "
        turned = [drawn[1], drawn[0], *drawn[2:]] if self._rng.random() < 0.5 else drawn
        template = f"{asked} is {article}{first}, {{a}} or {{b}}?"
        return self._asked((template,), name, turned, drawn[0].title)

    def _pair(self, name: str, *, alike: bool | None = None) -> list[Subject] | None:
        """Two subjects to compare, and behind them distractors; `alike` or not in what is
        compared, if that matters."""
        keys = [key for key in self._groups if key[0] == name]
        if not keys:
            return None
        sizes = np.sqrt([len(self._groups[key]) for key in keys])
        some = self._groups[keys[self._rng.choice(len(keys), p=sizes / sizes.sum())]]
        drawn = [some[place] for place in self._rng.permutation(len(some))[: DISTRACTORS + 2]]
        if alike is not None:
            value = drawn[0].facts[name].value
            fitting = [
                one
                for one in some
                if one is not drawn[0] and (one.facts[name].value == value) == alike
            ]
            if not fitting:
                return None
            other = fitting[self._rng.integers(len(fitting))]
            drawn = [drawn[0], other, *(one for one in drawn[1:] if one is not other)]
        titles = [one.title for one in drawn[:2]]
        return None if titles[0] in titles[1] or titles[1] in titles[0] else drawn

    def _asked(
        self,
        templates: Sequence[str],
        fact: str,
        drawn: Sequence[Subject],
        answer: str,
        **words: str,
    ) -> dict[str, Any]:
        """The question as a record of HotpotQA's, its paragraphs in random order."""
        template = templates[int(self._rng.integers(len(templates)))]
        gold = drawn[:2]
        order = self._rng.permutation(len(drawn)).tolist()
        return {
            "question": template.format(a=gold[0].title, b=gold[1].title, **words),
            "answer": answer,
            "type": "comparison",
            "supporting_facts": [
                [one.paragraph.title, one.facts[fact].sentence] for one in gold
            ],
            "context": [
                [drawn[place].paragraph.title, list(drawn[place].paragraph.sentences)]
                for place in order
            ],
        }  # fmt: skip


def _facts_in(sentence: str, *, is_first: bool) -> dict[str, tuple[str, Any]]:
    """name -> group, value"""
    found: dict[str, tuple[str, Any]] = {}
    if lived := _LIVED.search(sentence) if is_first else None:
        found |= {"born": ("person", int(lived[1])), "died": ("person", int(lived[2]))}
    elif born := _BORN.search(sentence) if is_first else None:
        found["born"] = ("person", int(born[1]))
    if founded := _FOUNDED.search(sentence):
        found["founded"] = ("founded", int(founded[1]))
    if people := _PEOPLE.search(sentence):
        found["people"] = ("place", int(people[1].replace(",", "")))
    if told := _IS.search(sentence) if is_first else None:
        found |= _what_it_is(told, is_person="born" in found)
    return found


def _what_it_is(told: re.Match[str], *, is_person: bool) -> dict[str, tuple[str, Any]]:
    kind = _KIND_ENDS.split(told["kind"], maxsplit=1)[0].strip(" -")
    work = next((name for name in _WORKS if kind == name or kind.endswith(f" {name}")), "")
    group = "person" if is_person else work or "thing"
    found: dict[str, tuple[str, Any]] = {}
    if told["nation"]:
        found["nation"] = (group, told["nation"])
    if len(kind) >= 3 and len(kind.split()) <= 3 and not kind.startswith("track"):
        found["kind"] = ("person" if is_person else "thing", kind)
    if told["year"] and work:
        found["year"] = (work, int(told["year"]))
    return found


def _plural(kind: str) -> str:
    if kind.endswith(("s", "x", "ch", "sh")):
        return kind if kind.endswith("series") else f"{kind}es"
    if kind.endswith("y") and kind[-2] not in "aeiou":
        return f"{kind[:-1]}ies"
    return f"{kind[:-3]}men" if kind.endswith("man") else f"{kind}s"


def _bare(title: str) -> str:
    """Without what only tells it from others, as in The Kite (film)."""
    return re.sub(r"\s*\([^()]*\)$", "", title)
