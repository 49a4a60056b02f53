"""Openings that name one another → questions of two hops: when was the director of a film born?

One opening says who somebody or something belongs to, and the other what there is to know of that
one. Often the first could say the same of its own subject: "Edmund Crane (born 1911 in Leith) is
the son of Hilda Crane", and where was his mother born? A reader that has not seen enough of these
answers with the son's.

Patterns over encyclopedia prose, as in `facts`: what they miss is no loss.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from muppet.domain import Paragraph, Progress, silent
from muppet.train.bridges import KIND
from muppet.train.facts import MONTHS, Subject, facts_of

LONGEST = 150
"""Words of a paragraph; longer ones are left out."""
CHARACTERS = 1500
"""And its characters: some texts have few blanks."""
WORKS_SAY, PEOPLE_SAY = 2, 4
"""Sentences of a paragraph that may say whom it belongs to."""
MOSTLY = 0.8
"""How often a year of birth is not asked for where the whole date is known."""
OTHERS = 2
"""Pairs of the same relation whose paragraphs are the distractors."""
EACH = 3
"""Draws of a link: other questions about the same two."""
WORDS = 5
"""Of a name, at most."""
AT_ONCE = 10_000
"""Openings that are looked at before progress is told."""
OFTEN = 6
"""Questions that end at one paragraph, at most."""

_PARTICLES = "of|the|de|du|da|di|la|le|von|van|der|den|bin|ibn|al|and"
_NAME = re.compile(rf"(?:[A-ZÀ-ÖØ-ÞŠŽŁ][\w'’.-]*|(?:{_PARTICLES})(?= [A-Za-z]))(?: |(?=\W)|$)")
_NATION = r"(?:[A-Z][a-z]+(?:-[A-Z][a-z]+)? (?=[a-z]))?"
_TOLD = rf"(?:the |an? )?{_NATION}(?:(?!(?:and|or|who|which|that|in|by|of)\b)[a-z-]+,? ){{0,4}}"
"""What may stand before a name: the American singer and the like."""
_DATE = rf"(?:\d{{1,2}} {MONTHS} \d{{4}}|{MONTHS} \d{{1,2}}, \d{{4}})"
_WORD = r"(?:St\. )?[A-Z][\w'’-]+"
_PLACE = rf"{_WORD}(?: [A-Z][\w'’-]+){{0,2}}(?:, {_WORD}(?: [A-Z][\w'’-]+)?)?"
_OWN = (
    r"^(?:(?!\b(?:father|mother|parents|husband|wife|brothers?|sisters?|sons?|daughters?|friend|"
    r"married|widow)\b).)*?"
)
"""A sentence that has told of nobody else before."""


class Relation(NamedTuple):
    """How an opening says it, before the name; what to call the one who is named; and what their
    own opening has to say, so that it is not another of that name."""

    pattern: re.Pattern[str]
    called: tuple[str, ...]
    fits: re.Pattern[str]


_IS = r"^(?!.*\b(?:based|adapt|inspired)).*?\b(?:is|was) (?:an?|the) [^.;]*?"
_ANYBODY = re.compile("")
RELATIONS = {
    "director": Relation(
        re.compile(
            r"^(?!.*\b(?:remake|sequel|prequel|soundtrack|spin-off)\b).*?"
            rf"\bfilm\b[^.;]*?\bdirected (?:and \w+ )?by {_TOLD}"
        ),
        ("the director of {}", "the director of the film {}", "{}'s director"),
        re.compile(r"direct|film|actor|actress"),
    ),
    "composer": Relation(
        re.compile(
            r"\b(?:composed|(?:music|score|soundtrack|songs)(?: (?:is|was|are|were))?"
            rf"(?: composed)?) by {_TOLD}"
        ),
        ("the composer of {}", "{}'s composer"),
        re.compile(r"compos|music|sing|songwriter|pianist"),
    ),
    "performer": Relation(
        re.compile(
            rf"{_IS}\b(?:song|single|album|ballad)\b[^.;]*? (?:recorded |performed )?by {_TOLD}"
        ),
        ("the performer of {}", "the artist who recorded {}", "{}'s performer"),
        re.compile(r"sing|music|rapper|guitar|pian|vocal|drum|trumpet|saxo|DJ|produc|band"),
    ),
    "author": Relation(
        re.compile(
            rf"{_IS}\b(?:novel|book|play|memoir|poem|novella)\b[^.;]*? (?:written )?by {_TOLD}"
        ),
        ("the author of {}", "the writer of {}", "{}'s author"),
        re.compile(r"writ|novel|author|poet|playwright|journalis|historian|scien|philos|physic"),
    ),
    "founder": Relation(
        re.compile(
            r"\b(?:was|is|were|are|company|band|club|school|organi[sz]ation)\b[^.;,]{0,12}? "
            rf"(?:founded|established)\b[^.;,]{{0,30}}? by {_TOLD}"
        ),
        ("the founder of {}", "{}'s founder"),
        _ANYBODY,
    ),
    "parent": Relation(
        re.compile(rf"^(?!.*\bmarried\b).*?(?<![-\w])(?:son|daughter) of {_TOLD}"),
        ("{}'s {parent}", "the {parent} of {}"),
        _ANYBODY,
    ),
    "spouse": Relation(
        re.compile(rf"\b(?:married to|wife of|husband of|[Hh]e married|[Ss]he married) {_TOLD}"),
        ("{}'s {spouse}", "the {spouse} of {}"),
        _ANYBODY,
    ),
    "sibling": Relation(
        re.compile(rf"^(?!.*\bmarried\b).*?(?<![-\w])(?:brother|sister) of {_TOLD}"),
        ("{}'s {sibling}", "the {sibling} of {}"),
        _ANYBODY,
    ),
}
_HIS = {"parent": "father", "spouse": "husband", "sibling": "brother"}
_HER = {"parent": "mother", "spouse": "wife", "sibling": "sister"}
_OF_PEOPLE = frozenset(_HIS)


class Attribute(NamedTuple):
    """How an opening says it, the answer in group 1, how it is asked for, and in how many of its
    sentences it may be said."""

    pattern: re.Pattern[str]
    asked: tuple[str, ...]
    sentences: int = 1


ATTRIBUTES = {
    "date of birth": Attribute(
        re.compile(rf"^[^(]*\((?:[^()]*?\bborn )?(?:[^()\d]{{0,40}} )?({_DATE})"),
        ("When was {} born?", "What is the date of birth of {}?", "On what date was {} born?"),
    ),
    "year of birth": Attribute(
        re.compile(r"^[^(]*\((?:[^()]*?\bborn )?[^()\d]{0,40}(?:\d{1,2}\b[^()\d]{1,14})?(\d{4})\b"),
        ("In what year was {} born?",),
    ),
    "date of death": Attribute(
        re.compile(rf"^[^(]*\([^()]{{0,200}}\d{{4}}[^()]{{0,9}} ?[–—-] ?({_DATE})[^()]*\)"),
        ("When did {} die?", "What is the date of death of {}?"),
    ),
    "place of birth": Attribute(
        re.compile(rf"{_OWN}\b[Bb]orn(?: on)?(?: {_DATE},?| in \d{{4}},?)? in ({_PLACE})"),
        ("Where was {} born?", "What is the place of birth of {}?", "In which city was {} born?"),
        sentences=PEOPLE_SAY,
    ),
    "place of death": Attribute(
        re.compile(rf"{_OWN}\bdied (?:on {_DATE},? )?in ({_PLACE})"),
        ("Where did {} die?", "What is the place of death of {}?"),
        sentences=PEOPLE_SAY,
    ),
    "education": Attribute(
        re.compile(
            rf"{_OWN}\b(?:graduated from|educated at|studied at|attended) (?:the )?({_PLACE})"
        ),
        ("Where did {} study?", "Where did {} graduate from?"),
        sentences=PEOPLE_SAY,
    ),
}
NATIONALITY = ("What nationality is {}?", "Which country is {} from?")


@dataclass(frozen=True, slots=True)
class Link:
    """An opening that names another's subject, and in which sentence."""

    relation: str
    subject: Subject
    sentence: int
    named: Subject


class Known(NamedTuple):
    """What an opening says of its subject, in which sentence, and how that is asked for."""

    answer: str
    sentence: int
    asked: tuple[str, ...]


def make_compositions(
    openings: Iterable[Paragraph], count: int, seed: int, progress: Progress = silent
) -> list[dict[str, Any]]:
    """So many questions in HotpotQA's schema, or fewer; as many of each relation as there are."""
    by_title: dict[str, Paragraph] = {}
    for one in openings:
        if one.sentences and len(one.text) <= CHARACTERS and len(one.text.split()) <= LONGEST:
            by_title.setdefault(one.title, one)
    links = list(find_links(by_title, progress))
    made = islice(_Maker(links, np.random.default_rng(seed)).questions(), count)
    return [{"_id": f"composition-{seed}-{n}", **question} for n, question in enumerate(made)]


def find_links(by_title: Mapping[str, Paragraph], progress: Progress = silent) -> Iterator[Link]:
    """Who is named as whose director, father, author, by their titles; of each relation the first
    that an opening tells of."""
    for done, paragraph in enumerate(by_title.values(), 1):
        if done % AT_ONCE == 0 or done == len(by_title):
            progress("looking", done, len(by_title))
        yield from {link.relation: link for link in _links_of(paragraph, by_title)}.values()


def _links_of(paragraph: Paragraph, by_title: Mapping[str, Paragraph]) -> Iterator[Link]:
    """What an opening says, the last first."""
    for number, sentence in reversed([*enumerate(paragraph.sentences[:PEOPLE_SAY])]):
        for name, relation in RELATIONS.items():
            of_people = name in _OF_PEOPLE
            told = relation.pattern.search(sentence) if of_people or number < WORKS_SAY else None
            named = _named(sentence[told.end() :], by_title) if told else None
            if named is None or not relation.fits.search(" ".join(named.sentences[:2])):
                continue
            subject = Subject(paragraph, facts_of(paragraph))
            other = Subject(named, facts_of(named))
            if subject.is_person == of_people and other.is_person and other.title != subject.title:
                yield Link(name, subject, number, other)


def known_of(subject: Subject) -> dict[str, Known]:
    """What can be asked of somebody, by name."""
    found: dict[str, Known] = {}
    for name, attribute in ATTRIBUTES.items():
        for number, sentence in enumerate(subject.paragraph.sentences[: attribute.sentences]):
            told = attribute.pattern.search(sentence)
            if told and name not in found:
                found[name] = Known(told[1], number, attribute.asked)
    year = found.get("year of birth")
    if year and int(year.answer) != subject.facts["born"].value:
        del found["year of birth"]
    if nation := subject.facts.get("nation"):
        found["nationality"] = Known(str(nation.value), nation.sentence, NATIONALITY)
    return found


def _named(behind: str, by_title: Mapping[str, Paragraph]) -> Paragraph | None:
    """The opening whose title the text begins with: the longest such title, of two words at
    least."""
    ends = [0]
    while (word := _NAME.match(behind, ends[-1])) and len(ends) <= WORDS:
        ends.append(word.end())
    names = (behind[:end].strip(" .,") for end in reversed(ends))
    return next((by_title[name] for name in names if " " in name and name in by_title), None)


class _Maker:
    """Draws a link, and something to ask of the one who is named; nothing where it does not fit."""

    def __init__(self, links: list[Link], rng: np.random.Generator) -> None:
        self._links: dict[str, list[Link]] = defaultdict(list)
        for link in links:
            self._links[link.relation].append(link)
        self._titles = Counter(
            title
            for title, _ in {(one.subject.title, one.subject.paragraph.title) for one in links}
        )
        self._rng = rng

    def questions(self) -> Iterator[dict[str, Any]]:
        """In turn of all relations, until each has none left; of each link several."""
        waiting = {
            name: iter([place for _ in range(EACH) for place in self._order(own)])
            for name, own in self._links.items()
        }
        asked: set[tuple[str, str]] = set()
        times: dict[str, int] = defaultdict(int)
        while waiting:
            for name, places in list(waiting.items()):
                place = next(places, None)
                if place is None:
                    del waiting[name]
                    continue
                link = self._links[name][place]
                title = link.named.paragraph.title
                question = self._asked(link) if times[title] < OFTEN else None
                key = (link.subject.paragraph.title, question["answer"] if question else "")
                if question and key not in asked:
                    asked.add(key)
                    times[title] += 1
                    yield question

    def _order(self, links: list[Link]) -> list[int]:
        return [int(place) for place in self._rng.permutation(len(links))]

    def _asked(self, link: Link) -> dict[str, Any] | None:
        first, second = link.subject.paragraph, link.named.paragraph
        fitting = {
            name: one for name, one in known_of(link.named).items() if one.answer not in first.text
        }
        called = self._called(link)
        is_one = self._titles[link.subject.title] == 1  # not two films of one name
        if not fitting or not called or not is_one or link.subject.title in second.text:
            return None
        own = known_of(link.subject) if link.subject.is_person else {}
        confusable = [name for name in fitting if name in own] or list(fitting)
        if "date of birth" in confusable and self._rng.random() < MOSTLY:
            confusable = [name for name in confusable if name != "year of birth"]
        known = fitting[confusable[self._rng.integers(len(confusable))]]
        asked = known.asked[self._rng.integers(len(known.asked))]
        return {
            "question": asked.format(called),
            "answer": known.answer,
            "type": KIND,
            "supporting_facts": [[first.title, link.sentence], [second.title, known.sentence]],
            "context": [
                [one.title, list(one.sentences)]
                for one in [first, second, *self._distractors(link, known.answer)]
            ],
        }

    def _called(self, link: Link) -> str:
        """The one who is named, by whose they are; nothing where that depends on a sex not told."""
        wording = RELATIONS[link.relation].called
        text = wording[self._rng.integers(len(wording))]
        if link.relation not in _OF_PEOPLE:
            return text.format(link.subject.title)
        theirs = f" {link.named.paragraph.text.lower()} "
        his = len(re.findall(r"\b(?:he|his|him)\b", theirs))
        her = len(re.findall(r"\b(?:she|her|hers)\b", theirs))
        if (not his and not her) or his == her:
            return ""
        return text.format(link.subject.title, **(_HIS if his > her else _HER))

    def _distractors(self, link: Link, answer: str) -> list[Paragraph]:
        """Both paragraphs of others that are related in the same way."""
        gold = {link.subject.paragraph.title, link.named.paragraph.title}
        family = self._links[link.relation]
        found: dict[str, Paragraph] = {}
        for place in self._rng.integers(len(family), size=OTHERS).tolist():
            other = family[place]
            for one in (other.subject.paragraph, other.named.paragraph):
                if one.title not in gold and answer not in one.text:
                    found[one.title] = one
        return list(found.values())
