"""Paragraphs → comparison questions made from them: who is older, which came first, are both …?

Benchmarks have a few hundred such questions, too few to learn to compare from. What two openings
say (`facts`) makes as many as one wants, each with its answer, its two paragraphs and the sentences
it rests on.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from muppet.domain import Paragraph
from muppet.train.facts import OPENING, Subject, facts_of

LONGEST = 120
"""Words of a paragraph; longer ones are left out."""
DISTRACTORS = 4


@dataclass(frozen=True, slots=True)
class _Order:
    """Questions whose answer is the one of two with the smaller or the larger value, and those
    that ask whether the first has the smaller or the larger."""

    fact: str
    smaller: tuple[str, ...]
    larger: tuple[str, ...]
    is_smaller: tuple[str, ...] = ()
    is_larger: tuple[str, ...] = ()


_ORDERS = (
    _Order(
        "born",
        ("Who was born first, {a} or {b}?", "Who was born earlier, {a} or {b}?",
         "Who is older, {a} or {b}?", "Which person is older, {a} or {b}?",
         "Between {a} and {b}, who was born first?", "Who is the oldest, {a} or {b}?"),
        ("Who was born later, {a} or {b}?", "Who is younger, {a} or {b}?",
         "Which person is younger, {a} or {b}?"),
        ("Was {a} born before {b}?", "Is {a} older than {b}?"),
        ("Was {a} born after {b}?", "Is {a} younger than {b}?"),
    ),
    _Order(
        "died",
        ("Who died first, {a} or {b}?", "Who died earlier, {a} or {b}?"),
        ("Who died later, {a} or {b}?", "Who died last, {a} or {b}?"),
        ("Did {a} die before {b}?",),
        ("Did {a} die after {b}?",),
    ),
    _Order(
        "year",
        ("Which {kind} came out first, {a} or {b}?", "Which {kind} was released first, {a} or {b}?",
         "Which {kind} was released earlier, {a} or {b}?", "Was {a} or {b} released first?",
         "Which {kind} is older, {a} or {b}?"),
        ("Which {kind} is newer, {a} or {b}?", "Which {kind} was released later, {a} or {b}?",
         "Which {kind} came out more recently, {a} or {b}?"),
        ("Was the {kind} {a} released before the {kind} {b}?", "Did {a} come out before {b}?"),
        ("Was the {kind} {a} released after {b}?",),
    ),
    _Order(
        "founded",
        ("Which was founded first, {a} or {b}?", "Which was established earlier, {a} or {b}?",
         "Which is older, {a} or {b}?", "Was {a} or {b} founded first?",
         "Which was formed first, {a} or {b}?"),
        ("Which was founded later, {a} or {b}?", "Which was established later, {a} or {b}?"),
        ("Was {a} founded before {b}?",),
        ("Was {a} founded after {b}?",),
    ),
    _Order(
        "opened",
        ("Which opened first, {a} or {b}?", "Which opened earlier, {a} or {b}?",
         "Which was opened first, {a} or {b}?"),
        ("Which opened later, {a} or {b}?", "Which was opened more recently, {a} or {b}?"),
        ("Did {a} open before {b}?",),
        ("Did {a} open after {b}?",),
    ),
    _Order(
        "built",
        ("Which was built first, {a} or {b}?", "Which is older, {a} or {b}?",
         "Which was completed earlier, {a} or {b}?"),
        ("Which was built later, {a} or {b}?", "Which is newer, {a} or {b}?"),
        ("Was {a} built before {b}?", "Is {a} older than {b}?"),
        ("Was {a} built after {b}?",),
    ),
    _Order(
        "discovered",
        ("Which was discovered first, {a} or {b}?", "Which was discovered earlier, {a} or {b}?"),
        ("Which was discovered later, {a} or {b}?",),
        ("Was {a} discovered before {b}?",),
        ("Was {a} discovered after {b}?",),
    ),
    _Order(
        "published",
        ("Which was published first, {a} or {b}?", "Which was first published, {a} or {b}?"),
        ("Which was published later, {a} or {b}?",),
        ("Was {a} published before {b}?",),
        ("Was {a} published after {b}?",),
    ),
    _Order(
        "launched",
        ("Which was launched first, {a} or {b}?", "Which was launched earlier, {a} or {b}?"),
        ("Which was launched later, {a} or {b}?",),
        ("Was {a} launched before {b}?",),
        ("Was {a} launched after {b}?",),
    ),
    _Order(
        "people",
        ("Which has fewer inhabitants, {a} or {b}?",
         "Which has the smaller population, {a} or {b}?"),
        ("Which has more inhabitants, {a} or {b}?", "Which has the larger population, {a} or {b}?",
         "Which has more people, {a} or {b}?"),
        ("Does {a} have fewer inhabitants than {b}?",),
        ("Does {a} have more inhabitants than {b}?",),
    ),
    _Order(
        "species",
        ("Which genus has fewer species, {a} or {b}?",),
        ("Which genus has more species, {a} or {b}?",
         "Which genus contains more species, {a} or {b}?"),
    ),
    _Order(
        "metres",
        ("Which is lower, {a} or {b}?",),
        ("Which is higher, {a} or {b}?", "Which is taller, {a} or {b}?"),
        (),
        ("Is {a} higher than {b}?",),
    ),
    _Order(
        "kilometres",
        ("Which is shorter, {a} or {b}?",),
        ("Which is longer, {a} or {b}?",),
        (),
        ("Is {a} longer than {b}?",),
    ),
)  # fmt: skip
_SAME = {
    "nation": (
        "Are {a} and {b} of the same nationality?", "Were {a} and {b} of the same nationality?",
        "Do {a} and {b} have the same nationality?", "Are {a} and {b} from the same country?",
        "Were both {a} and {b} from the same country?",
    ),
    "birthplace": (
        "Were {a} and {b} born in the same city?", "Were {a} and {b} born in the same place?",
        "Were both {a} and {b} born in the same town?",
    ),
    "country": (
        "Are {a} and {b} in the same country?", "Are {a} and {b} located in the same country?",
        "Are both {a} and {b} in the same country?",
    ),
    "state": (
        "Are {a} and {b} in the same state?", "Are {a} and {b} located in the same state?",
        "Are both {a} and {b} located in the same U.S. state?",
    ),
}  # fmt: skip
_BOTH = {
    "nation": ("Are {a} and {b} both {value}?", "Are both {a} and {b} {value}?"),
    "kind": (
        "Are {a} and {b} both {values}?", "Are both {a} and {b} {values}?",
        "Were {a} and {b} both {values}?",
    ),
    "both": (
        "Are {a} and {b} both {values}?", "Are both {a} and {b} {values}?",
        "Were both {a} and {b} {values}?",
    ),
    "birthplace": (
        "Were {a} and {b} both born in {value}?", "Were both {a} and {b} born in {value}?",
    ),
    "country": (
        "Are {a} and {b} both in {value}?", "Are both {a} and {b} located in {value}?",
        "Are {a} and {b} both located in {value}?",
    ),
}  # fmt: skip
_BOTH["state"] = _BOTH["country"]
_SHARED_NATION = (
    "What nationality do {a} and {b} share?", "{a} and {b} are both of what nationality?",
    "What nationality were both {a} and {b}?",
)  # fmt: skip
_SHARED_WORK = (
    "What occupation do {a} and {b} share?", "What profession do {a} and {b} have in common?",
    "{a} and {b} share which occupation?",
)  # fmt: skip
_SHARED_KIND = ("What are both {a} and {b}?", "{a} and {b} are both what?")
_SHARED_PLACE = ("In which {name} are both {a} and {b}?", "{a} and {b} are both in which {name}?")


def make_comparisons(
    paragraphs: Iterable[Paragraph], count: int, seed: int, *, brief: bool = False
) -> list[dict[str, Any]]:
    """So many questions in HotpotQA's schema, as like each other as chance makes them; fewer where
    the paragraphs say too little.

    In `brief`, they come with the openings of their two paragraphs and nothing else: less to read,
    more questions an hour.
    """
    subjects = [
        Subject(one, facts)
        for one in paragraphs
        if len(one.text.split()) <= LONGEST and (facts := facts_of(one))
    ]
    groups: dict[tuple[str, str], list[Subject]] = defaultdict(list)
    for subject in subjects:
        for fact in subject.facts.values():
            groups[fact.name, fact.group].append(subject)
    maker = _Maker(groups, np.random.default_rng(seed), brief)
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
        self,
        groups: dict[tuple[str, str], list[Subject]],
        rng: np.random.Generator,
        brief: bool,
    ) -> None:
        self._groups = {key: some for key, some in groups.items() if len(some) > DISTRACTORS + 2}
        self._rng = rng
        self._brief = brief

    def ordered(self) -> dict[str, Any] | None:
        order = _ORDERS[self._rng.integers(len(_ORDERS))]
        drawn = self._pair(order.fact)
        if drawn is None:
            return None
        values = [one.facts[order.fact].value for one in drawn[:2]]
        if values[0] == values[1]:
            return None
        wants_smaller = self._rng.random() < 0.5
        is_first = (values[0] < values[1]) == wants_smaller
        kind = drawn[0].facts[order.fact].group
        verdicts = order.is_smaller if wants_smaller else order.is_larger
        if verdicts and self._rng.random() < 0.25:
            answer = "yes" if is_first else "no"
            return self._asked(verdicts, order.fact, drawn, answer, kind=kind)
        templates = order.smaller if wants_smaller else order.larger
        answer = drawn[0 if is_first else 1].title
        return self._asked(templates, order.fact, drawn, answer, kind=kind)

    def yes_or_no(self) -> dict[str, Any] | None:
        name = self._one_of("nation", "kind", "both", "birthplace", "country", "state")
        drawn = self._pair(name, alike=bool(self._rng.random() < 0.5))
        if drawn is None:
            return None
        first, second = (one.facts[name].value for one in drawn[:2])
        if first != second and (first.endswith(second) or second.endswith(first)):
            return None  # a film director is a director
        answer = "yes" if first == second else "no"
        can_be_same = name in _SAME and (name != "nation" or drawn[0].is_person)
        same = can_be_same and self._rng.random() < 0.6
        templates = _SAME[name] if same else _BOTH[name]
        return self._asked(templates, name, drawn, answer, value=first, values=_plural(first))

    def shared(self) -> dict[str, Any] | None:
        name = self._one_of("nation", "kind", "country", "state")
        drawn = self._pair(name, alike=True)
        if drawn is None or (name == "nation" and not drawn[0].is_person):
            return None
        answer = drawn[0].facts[name].value.removeprefix("the ")
        if not all(answer in one.paragraph.text for one in drawn[:2]):
            return None
        templates: Sequence[str] = _SHARED_NATION
        if name == "kind":
            templates = _SHARED_WORK if drawn[0].is_person else _SHARED_KIND
        elif name != "nation":
            templates = _SHARED_PLACE
        return self._asked(templates, name, drawn, answer, name=name)

    def which(self) -> dict[str, Any] | None:
        name = self._one_of("nation", "kind", "said", "said")
        drawn = self._pair(name)
        if drawn is None:
            return None
        first, second = (one.facts[name].value for one in drawn[:2])
        if first.endswith(second) or second.endswith(first):
            return None
        people = sum(one.is_person for one in drawn[:2])
        if people == 1:
            return None
        asked = "Who" if people else "Which one"
        does = first if name == "said" else f"is {first}"
        if name == "kind":
            does = f"is {'an' if first[0] in 'aeiou' else 'a'} {first}"
        turned = [drawn[1], drawn[0], *drawn[2:]] if self._rng.random() < 0.5 else drawn
        template = f"{asked} {_escaped(does)}, {{a}} or {{b}}?"
        return self._asked((template,), name, turned, drawn[0].title)

    def _one_of(self, *names: str) -> str:
        return names[int(self._rng.integers(len(names)))]

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
        given, sentences = (gold, OPENING) if self._brief else (drawn, None)
        return {
            "question": template.format(a=gold[0].title, b=gold[1].title, **words),
            "answer": answer,
            "type": "comparison",
            "supporting_facts": [
                [one.paragraph.title, one.facts[fact].sentence] for one in gold
            ],
            "context": [
                [given[place].paragraph.title, list(given[place].paragraph.sentences[:sentences])]
                for place in self._rng.permutation(len(given)).tolist()
            ],
        }  # fmt: skip


def _plural(kind: str) -> str:
    if kind.endswith(("s", "x", "ch", "sh")):
        return kind if kind.endswith("series") else f"{kind}es"
    if kind.endswith("y") and kind[-2] not in "aeiou":
        return f"{kind[:-1]}ies"
    return f"{kind[:-3]}men" if kind.endswith("man") else f"{kind}s"


def _escaped(text: str) -> str:
    """Text that stays as it is when formatted."""
    return text.replace("{", "{{").replace("}", "}}")
