"""Questions of one hop → questions of two: a name gives way to what is said of it elsewhere.

"When did Qing troops regain Nanjing?", and Nanjing's own paragraph begins "Nanjing is the capital
of Jiangsu": "When did Qing troops regain the capital of Jiangsu?" Benchmarks have some thousand
questions of two hops, and ten times as many of one.

Patterns over encyclopedia prose, as in `facts`: what they miss is no loss.
"""

import calendar
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.domain import Paragraph
from muppet.text.tokens import words
from muppet.train.excerpts import answering_sentence

KIND = "composed"
"""What such a question is called in its file."""
LONGEST = 180
"""Words of a paragraph; longer ones are left out."""
BRIEF = 8
"""Words of an answer, at most."""
NAME, SAID = 5, 16
"""Words of a name, and of what is said in its place, at most."""
LEAST = 3
"""Words of what is said, at least: fewer say too little."""
OFTEN = 40
"""Questions about one name, at most."""
NEAR = 2
"""Distractors of the same article."""

_WORD = re.compile(r"\w+(?:[-’'.]\w+)*|[^\w\s]")
_ASIDE = re.compile(r" ?\([^()]*\)")
_IS = re.compile(r"(?P<subject>.{1,90}?) (?:is|was|are|were) (?:an?|the) (?P<said>[^;:]+)")
_BEHIND = frozenset(
    {"?", ",", "in", "on", "is", "was", "were", "are", "did", "do", "does", "has", "have", "had",
     "to", "from", "by", "at", "for", "with", "and", "during", "after", "before", "as", "when",
     "would", "could", "can", "that", "who", "which", "or"}
)  # fmt: skip
"""What follows a name that stands for itself, and not for a kind of something."""
_CUTS = frozenset({"who", "which", "that", "where", "best"})
"""Before these words what is said may end, and behind a comma."""
_OPENERS = frozenset(
    {"A", "An", "The", "In", "On", "At", "By", "For", "From", "To", "With", "During", "After",
     "Before", "Under", "Did", "Do", "Does", "Was", "Were", "Is", "Are", "Has", "Have", "Had",
     "Can", "Could", "When", "Where", "Who", "What", "Which", "How", "Why"}
)  # fmt: skip
"""Words that begin a question and belong to no name."""
_ARTICLES = frozenset({"the", "a", "an"})
_MARKS = frozenset(".'’&/")
"""Before a name, they tie it to another."""
_DATES = frozenset([*calendar.month_name, *calendar.day_name])
_NO_THING = re.compile(r"\b(?:given name|surname|family name|name given?|letter of)\b")
"""What is said of a word, and not of what it names."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a question, and what stands before and behind it there."""

    question: BenchmarkQuestion
    before: str
    name: str
    behind: str

    def asked_by(self, said: str) -> str:
        """The question without the name."""
        text = f"{self.before}the {said}{self.behind}"
        return text[:1].upper() + text[1:]


def find_mentions(questions: Iterable[BenchmarkQuestion]) -> dict[str, list[Mention]]:
    """By name: where questions of one hop name something that their paragraph names, too."""
    found: dict[str, list[Mention]] = defaultdict(list)
    for question in questions:
        if len(question.gold.paragraphs) == 1 and question.gold.answers:
            for mention in _mentions(question):
                found[mention.name].append(mention)
    return dict(found)


def make_bridges(
    mentions: Mapping[str, Sequence[Mention]],
    openings: Iterable[Paragraph],
    count: int,
    seed: int,
) -> list[dict[str, Any]]:
    """So many questions in HotpotQA's schema, or fewer; each of another question.

    `openings` are first paragraphs of documents, each said to be what its title names.
    """
    named: dict[str, Paragraph] = {}
    for one in openings:
        named.setdefault(one.title, one)
    made = islice(_Maker(mentions, named, np.random.default_rng(seed)).questions(), count)
    return [{"_id": f"bridge-{seed}-{n}", **question} for n, question in enumerate(made)]


def described(opening: Paragraph) -> str:
    """What an opening says its subject is, without naming it; nothing where that is unclear."""
    first = opening.sentences[0] if opening.sentences else ""
    found = _IS.match(_ASIDE.sub("", _ASIDE.sub("", first)).strip().rstrip("."))
    own = opening.title.split()
    if not found or not own:
        return ""
    subject = found["subject"].removeprefix("The ").split()
    if not subject or subject[0].rstrip(",") != own[0] or len(subject) > len(own) + 3:
        return ""
    said = _cut(found["said"].split())
    is_named = any(word in said for word in own if len(word) > 3 and word[0].isupper())
    is_named |= opening.title in said or _NO_THING.search(said) is not None
    return "" if is_named or len(said.split()) < LEAST else said


def _cut(said: Sequence[str]) -> str:
    """As much as may be said, by whole clauses."""
    ends = [
        at
        for at in range(LEAST, min(len(said), SAID + 1))
        if said[at - 1].endswith(",") or said[at] in _CUTS
    ]
    end = len(said) if len(said) <= SAID else ends[-1] if ends else 0
    return " ".join(said[:end]).rstrip(",")


def _mentions(question: BenchmarkQuestion) -> Iterator[Mention]:
    text = question.question.text
    found = list(_WORD.finditer(text))
    (paragraph,) = question.gold.paragraphs
    for at in range(len(found)):
        for last in range(min(at + NAME, len(found)) - 1, at - 1, -1):
            name = text[found[at].start() : found[last].end()]
            if not name[0].isupper() or len(name) == 1 or name in _DATES:
                continue
            if name in paragraph.text and _stands_alone(text, found, at, last):
                before = re.sub(r"\b(?:the|an?) $", "", text[: found[at].start()], flags=re.I)
                yield Mention(question, before, name, text[found[last].end() :])


def _stands_alone(text: str, found: Sequence[re.Match[str]], at: int, last: int) -> bool:
    """Whether nothing else belongs to the name: no word behind it that it tells the kind of, no
    place that it lies in, no capital before it, alone or with "of" or an article, no adjective
    between it and its article."""
    far, near = ([""] * 2 + [one.group() for one in found[:at]])[-2:]
    behind, next_ = ([one.group() for one in found[last + 1 : last + 3]] + ["?"] * 2)[:2]
    start = found[at].start()
    is_glued = (start > 0 and not text[start - 1].isspace()) or near in _MARKS
    is_part = near[:1].isupper() and near not in _OPENERS
    is_part |= (near == "of" or near in _ARTICLES) and far[:1].isupper() and far not in _OPENERS
    is_part |= near == "The" and at > 1
    is_told = far.lower() in _ARTICLES
    is_in = behind == "," and next_[:1].isupper()
    return behind.lower() in _BEHIND and not (is_glued or is_part or is_told or is_in)


class _Maker:
    """Draws a name in a question, and asks without it; nothing where a draw does not fit."""

    def __init__(
        self,
        mentions: Mapping[str, Sequence[Mention]],
        openings: Mapping[str, Paragraph],
        rng: np.random.Generator,
    ) -> None:
        self._mentions = [one for name, own in mentions.items() if name in openings for one in own]
        self._openings = openings
        self._others = list(openings.values())
        self._articles: dict[str, dict[str, Paragraph]] = defaultdict(dict)
        for own in mentions.values():
            for mention in own:
                (paragraph,) = mention.question.gold.paragraphs
                self._articles[paragraph.title][paragraph.text] = paragraph
        self._rng = rng

    def questions(self) -> Iterator[dict[str, Any]]:
        times: Counter[str] = Counter()
        asked: set[str] = set()
        for place in self._rng.permutation(len(self._mentions)).tolist():
            mention = self._mentions[place]
            text = mention.question.question.text
            if text in asked or times[mention.name] == OFTEN:
                continue
            if question := self._asked(mention):
                asked.add(text)
                times[mention.name] += 1
                yield question

    def _asked(self, mention: Mention) -> dict[str, Any] | None:
        opening = self._openings[mention.name]
        (paragraph,) = mention.question.gold.paragraphs
        answer = mention.question.gold.answers[0]
        said = described(opening)
        split = [words(sentence) for sentence in paragraph.sentences]
        best = answering_sentence(mention.question.question.text, (answer,), split)
        is_short = _is_short(opening) and _is_short(paragraph) and len(answer.split()) <= BRIEF
        is_told = answer.lower() in opening.text.lower() or mention.name.lower() in answer.lower()
        is_told |= mention.name in mention.before + mention.behind
        may_be_other = mention.name in paragraph.title  # as Barcelona is in FC Barcelona
        if not said or best is None or not is_short or is_told or may_be_other:
            return None
        context = [opening, paragraph, *self._distractors(mention, opening, paragraph, answer)]
        return {
            "question": mention.asked_by(said),
            "answer": answer,
            "type": KIND,
            "supporting_facts": [[opening.title, 0], [paragraph.title, best]],
            "context": [[one.title, list(one.sentences)] for one in context],
        }

    def _distractors(
        self, mention: Mention, opening: Paragraph, paragraph: Paragraph, answer: str
    ) -> list[Paragraph]:
        """Others of the article that are most like the question, and what is said of another name.

        In HotpotQA's schema a title means the first paragraph that has it: so gold comes first.
        """
        near = [
            one
            for one in self._articles[paragraph.title].values()
            if one.text != paragraph.text and answer not in one.text and _is_short(one)
        ]
        near.sort(key=lambda one: -_in_common(mention, one.text))
        other = self._others[int(self._rng.integers(len(self._others)))]
        is_other = _is_short(other) and other.title not in (opening.title, paragraph.title)
        is_other &= answer not in other.text
        return near[:NEAR] + ([other] if is_other else [])


def _is_short(paragraph: Paragraph) -> bool:
    return len(paragraph.text.split()) <= LONGEST


def _in_common(mention: Mention, text: str) -> int:
    asked = {word.lower() for word in mention.question.question.text.split()}
    return len(asked & {word.lower() for word in text.split()})
