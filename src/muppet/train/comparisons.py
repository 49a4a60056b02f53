"""Paragraphs → comparison questions made from them: who is older, which came first, are both …?

Benchmarks have a few hundred such questions, too few to learn to compare from. What two openings
say (`facts`) makes as many as one wants, each with its answer, its two paragraphs and the sentences
it rests on.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muppet.domain import Paragraph
from muppet.train.facts import OPENING, RELATIONS, WHERE, Subject, facts_of, unit_of
from muppet.train.wording import (
    BOTH,
    BOTH_DONE,
    BOTH_OF,
    BRITISH,
    DID_BOTH,
    DOES,
    FAR,
    ORDERS,
    PERSONAL,
    SAME,
    SAME_MAKER,
    SAME_OF,
    SAME_PLACE,
    SHARED_KIND,
    SHARED_NATION,
    SHARED_PLACE,
    SHARED_WORK,
    SOMEWHERE,
    STILL,
    WHOLES,
    WIDER,
    WIDER_WORK,
    plural,
)

LONGEST = 120
"""Words of a paragraph; longer ones are left out."""
DISTRACTORS = 4
COMMON = frozenset(
    {"the", "of", "de", "du", "&", "University", "College", "School", "Church", "Cemetery", "Hall",
     "Museum", "Park", "County", "District", "Records", "Pictures", "Films", "Studios", "Company",
     "Entertainment", "Corporation", "Group", "River", "Saint", "St.", "Award", "Awards", "House"}
)  # fmt: skip
"""Words that different names share."""
DRAWS = 8
"""Of two that may share something which few do."""
TRIES = 50
"""Draws for each question wanted: most do not fit."""


def make_comparisons(
    paragraphs: Iterable[Paragraph], count: int, seed: int, *, brief: bool = False
) -> list[dict[str, Any]]:
    """So many questions in HotpotQA's schema, as like each other as chance makes them; fewer where
    the paragraphs say too little.

    In `brief`, they come with their two paragraphs and nothing else, about every second one with
    no more than their openings: less to read, more questions an hour.
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
    makers = [maker.ordered] * 4 + [maker.yes_or_no] * 4 + [maker.both_are] * 3
    makers += [maker.shared, maker.which, maker.in_britain] + [maker.done] * 6 + [maker.one_of] * 4
    made: list[dict[str, Any]] = []
    verdicts = {"yes": 0, "no": 0}
    asked: set[tuple[str, ...]] = set()
    for tried in range(TRIES * count):
        if len(made) == count:
            break
        question = makers[tried % len(makers)]()
        answer = question["answer"] if question else ""
        if question is None or verdicts.get(answer, 0) > min(verdicts.values()):
            continue  # two drawn by chance seldom share anything: as many yes as no
        key = (*sorted(title for title, _ in question["supporting_facts"]), answer)
        if key in asked:
            continue
        asked.add(key)
        if answer in verdicts:
            verdicts[answer] += 1
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
        kept = {key: some for key, some in groups.items() if len(some) > DISTRACTORS + 2}
        self._groups: dict[str, list[list[Subject]]] = defaultdict(list)
        self._families: dict[str, list[str]] = defaultdict(list)
        for (name, family), some in kept.items():
            self._groups[name].append(some)
            self._families[family].append(name)
        self._chances = {name: _by_size(own) for name, own in self._groups.items()}
        self._rng = rng
        self._brief = brief

    def ordered(self) -> dict[str, Any] | None:
        order = ORDERS[self._rng.integers(len(ORDERS))]
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
        name = self._one_of("nation", "kind", "both", "birthplace", "country", "state", *RELATIONS)
        drawn = self._pair(name, alike=bool(self._rng.random() < 0.5))
        if drawn is None:
            return None
        whole = [one.facts[name].value for one in drawn[:2]]
        first, second = (value.split(", ")[0] for value in whole)  # a county without its state
        answer = "yes" if whole[0] == whole[1] else "no"
        if answer == "no" and (first.endswith(second) or second.endswith(first)):
            return None  # a film director is a director
        told = int(self._rng.integers(2))  # whose value is asked for
        value = (first, second)[told]
        if answer == "no" and value in drawn[1 - told].paragraph.text:
            return None  # said further on
        can_be_same = name in SAME and (name != "nation" or drawn[0].is_person)
        if can_be_same and not BRITISH.issuperset(whole) and self._rng.random() < 0.6:
            return self._asked(SAME[name], name, drawn, answer, unit=first.split()[-1].lower())
        if name == "country" and answer == "yes":
            value = WIDER.get(value, value) if self._rng.random() < 0.5 else value
        return self._asked(BOTH[name], name, drawn, answer, value=value, values=plural(value))

    def done(self) -> dict[str, Any] | None:
        """Whether the same was done to both: in the same place, by the same people."""
        found = self._related("done")
        if found is None:
            return None
        name, drawn, value, answer = found
        done, how = name.split()
        be, is_ = ("are", "is") if done in STILL else ("were", "was")
        words = {"done": name, "be": be, "Be": be.title(), "Is": is_.title(), "value": value}
        words |= {"unit": unit_of(value), "does": DOES.get(name, "")}
        templates: Sequence[str] = BOTH_DONE
        wants_same = self._rng.random() < 0.5
        if how == "by":
            wants_same = wants_same and done not in PERSONAL
            asked_of = DID_BOTH if name in DOES and self._rng.random() < 0.5 else BOTH_DONE
            templates = SAME_MAKER if wants_same and self._rng.random() < 0.7 else asked_of
        elif how in WHERE and done in SOMEWHERE and wants_same and value not in BRITISH:
            templates = SAME_PLACE
        return self._asked(templates, name, drawn, answer, **words)

    def one_of(self) -> dict[str, Any] | None:
        """Whether both are moons, members, suburbs of the same."""
        found = self._related("of")
        if found is None:
            return None
        name, drawn, value, answer = found
        kind = name.removesuffix(" of")
        can_be_same = kind in WHOLES and (answer == "yes" or unit_of(value) == "place")
        templates = SAME_OF if can_be_same and self._rng.random() < 0.5 else BOTH_OF
        words = {"kinds": plural(kind), "whole": WHOLES.get(kind, ""), "value": value}
        return self._asked(templates, name, drawn, answer, **words)

    def _related(self, family: str) -> tuple[str, list[Subject], str, str] | None:
        """A relation of a family, two with it, the value to ask for, the verdict; no verdict is no
        where the one value may hold the other, or is said of both."""
        names = self._families.get(family)
        if not names:
            return None
        sizes = _by_size([self._groups[name][0] for name in names])
        name = names[self._rng.choice(len(names), p=sizes)]
        alike = bool(self._rng.random() < 0.5)
        draws = (self._pair(name, alike=alike) for _ in range(DRAWS))
        drawn = next((one for one in draws if one is not None), None)
        if drawn is None:
            return None
        first, second = (one.facts[name].value.split(", ")[0] for one in drawn[:2])
        if not unit_of(first) or not (alike or _are_apart(first, second, drawn)):
            return None  # of what is wide nothing is denied, so nothing is asked
        return name, drawn, self._one_of(first, second), "yes" if alike else "no"

    def in_britain(self) -> dict[str, Any] | None:
        """Whether both are in one country, the other being in one near it."""
        wanted = self._rng.permutation(sorted(BRITISH)).tolist()
        alike = bool(self._rng.random() < 0.5)
        drawn = self._pair("country", alike=alike, among=frozenset(wanted[: 1 if alike else 2]))
        if drawn is None:
            return None
        first, second = (one.facts["country"].value for one in drawn[:2])
        if first != second and (
            first in drawn[1].paragraph.text or second in drawn[0].paragraph.text
        ):
            return None
        answer = "yes" if first == second else "no"
        return self._asked(BOTH["country"], "country", drawn, answer, value=first)

    def both_are(self) -> dict[str, Any] | None:
        """Whether both are of some kind: what one of them is called, or a wider word for it."""
        alike = bool(self._rng.random() < 0.5)
        drawn = self._pair("called" if alike else "kind")
        if drawn is None or not all("called" in one.facts for one in drawn[:2]):
            return None
        told = int(self._rng.integers(2))
        names = [_also_called(drawn[place].facts["called"].value) for place in (told, 1 - told)]
        asked = self._one_of(*names[0])
        if asked not in names[1] and asked.split()[-1] in drawn[1 - told].paragraph.text:
            return None  # said in other words, or further on
        answer = "yes" if asked in names[1] else "no"
        if answer == "no" and asked in WIDER_WORK.values() and not FAR.intersection(names[1]):
            return None  # who knows what else is called so
        return self._asked(BOTH["called"], "called", drawn, answer, values=plural(asked))

    def shared(self) -> dict[str, Any] | None:
        name = self._one_of("nation", "kind", "country", "state")
        drawn = self._pair(name, alike=True)
        if drawn is None or (name == "nation" and not drawn[0].is_person):
            return None
        answer = drawn[0].facts[name].value.removeprefix("the ")
        if not all(answer in one.paragraph.text for one in drawn[:2]):
            return None
        templates: Sequence[str] = SHARED_NATION
        if name == "kind":
            templates = SHARED_WORK if drawn[0].is_person else SHARED_KIND
        elif name != "nation":
            templates = SHARED_PLACE
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

    def _pair(
        self, name: str, *, alike: bool | None = None, among: frozenset[str] = frozenset()
    ) -> list[Subject] | None:
        """Two subjects to compare, and behind them distractors; `alike` or not in what is
        compared, and their values `among` some, if that matters."""
        if name not in self._chances:
            return None
        chances = self._chances[name]
        some = self._groups[name][self._rng.choice(len(chances), p=chances)]
        if among:
            some = [one for one in some if one.facts[name].value in among]
        if len(some) < 2:
            return None
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
        if drawn[0].paragraph.text == drawn[1].paragraph.text:
            return None
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
        is_cut = self._brief and self._rng.random() < 0.5
        given, sentences = gold if self._brief else drawn, OPENING if is_cut else None
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


def _are_apart(first: str, second: str, drawn: Sequence[Subject]) -> bool:
    """Whether two values cannot both be right of either: of one size, as far as can be told, with
    no word in common, neither said in the other's paragraph."""
    units = {unit_of(first), unit_of(second)}
    words = [set(value.split()) - COMMON for value in (first, second)]
    bare = [value.removeprefix("the ") for value in (first, second)]
    is_said = bare[0] in drawn[1].paragraph.text or bare[1] in drawn[0].paragraph.text
    return len(units) == 1 and words[0].isdisjoint(words[1]) and not is_said


def _by_size(groups: Sequence[Sequence[Subject]]) -> NDArray[np.float64]:
    """How likely each group is drawn: large ones more, but not as many times as they are larger."""
    sizes = np.sqrt([len(some) for some in groups])
    return np.asarray(sizes / sizes.sum())


def _also_called(names: Sequence[str]) -> list[str]:
    """Those names, and wider words for them."""
    return list(dict.fromkeys([*names, *(WIDER_WORK[one] for one in names if one in WIDER_WORK)]))


def _escaped(text: str) -> str:
    """Text that stays as it is when formatted."""
    return text.replace("{", "{{").replace("}", "}}")
