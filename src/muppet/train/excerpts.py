"""One-hop questions → the sentences around their answers: less to read, more questions an hour.

Not in the paper, which has the time to read whole paragraphs.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from muppet.domain import Paragraph
from muppet.text.tokens import words
from muppet.train.answers_in_text import answer_places
from muppet.train.examples import TrainingData, TrainingQuestion
from muppet.train.retrieved import Retrieved, Rows


@dataclass(frozen=True, slots=True)
class Length:
    """How many words an excerpt has at most: the `longest` for all, or with a `shortest` a number
    of its own for each, so that a reader learns nothing from length."""

    longest: int
    shortest: int = 0

    def draw(self, rng: np.random.Generator) -> int:
        """As often between 40 and 80, say, as between 80 and 160."""
        if not self.shortest:
            return self.longest
        return round(math.exp(rng.uniform(math.log(self.shortest), math.log(self.longest))))


def with_excerpts(
    data: TrainingData, length: Length, seed: int, wanted: Collection[int]
) -> TrainingData:
    """The same questions; the wanted ones of one hop, if they ask for words of the text, have an
    excerpt of such a length for their gold."""
    rng = np.random.default_rng(seed)
    paragraphs = list(data.paragraphs)
    split: dict[int, list[list[str]]] = {}
    questions = []
    for number, question in enumerate(data.questions):
        if number in wanted and _is_of_one_hop(question) and question.dataset != "boolq":
            (row,) = question.gold
            if row not in split:  # many questions share one
                split[row] = [words(one) for one in data.paragraphs[row].sentences]
            first, past = _around_answer(question, split[row], length.draw(rng), rng)
            paragraphs.append(_part(data.paragraphs[row], first, past))
            question = replace(question, gold=(len(paragraphs) - 1,))
        questions.append(question)
    return TrainingData(tuple(questions), tuple(paragraphs))


def wrong_excerpts(
    data: TrainingData, retrieved: Retrieved, length: Length, seed: int
) -> tuple[TrainingData, Retrieved]:
    """What was retrieved for questions of one hop, as excerpts of such lengths around the sentence
    most like the question; those that hold the answer, or are gold, are left out."""
    rng = np.random.default_rng(seed)
    paragraphs = list(data.paragraphs)
    found = dict(retrieved)
    for number, chains in retrieved.items():
        question = data.questions[number]
        if not _is_of_one_hop(question):
            continue
        wrong: list[Rows] = []
        for (row,) in (chain for chain in chains if len(chain) == 1 and chain != question.gold):
            split = [words(sentence) for sentence in data.paragraphs[row].sentences]
            best = _most_alike(question.text, split, range(len(split)))
            first, past = _with_neighbours(split, best, length.draw(rng), rng)
            if not any(answer_places(own, question.answers) for own in split[first:past]):
                wrong.append((len(paragraphs),))
                paragraphs.append(_part(data.paragraphs[row], first, past))
        found[number] = tuple(wrong)
    return TrainingData(data.questions, tuple(paragraphs)), found


def short_negatives(
    data: TrainingData, negatives: Mapping[int, Rows], length: Length, seed: int
) -> tuple[TrainingData, dict[int, Rows]]:
    """The paragraphs that are negatives of questions of one hop, cut as retrieved ones are."""
    chains = {number: tuple((row,) for row in rows) for number, rows in negatives.items()}
    data, cut = wrong_excerpts(data, chains, length, seed)
    return data, {number: tuple(row for (row,) in own) for number, own in cut.items()}


def answering_sentence(
    question: str, answers: Sequence[str], sentences: Sequence[list[str]]
) -> int | None:
    """The sentence, as words, that holds an answer; of several the one most like the question."""
    holding = [at for at, own in enumerate(sentences) if answer_places(own, answers)]
    return _most_alike(question, sentences, holding) if holding else None


def _is_of_one_hop(question: TrainingQuestion) -> bool:
    """Of one paragraph, of which no sentence is marked."""
    return len(question.gold) == 1 and not question.support


def _around_answer(
    question: TrainingQuestion,
    sentences: Sequence[list[str]],
    longest: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """The sentence with the answer, and neighbours on either side while they fit; everything where
    no one sentence holds the answer."""
    best = answering_sentence(question.text, question.answers, sentences)
    if best is None:
        return 0, len(sentences)
    return _with_neighbours(sentences, best, longest, rng)


def _most_alike(question: str, sentences: Sequence[list[str]], places: Iterable[int]) -> int:
    """Of those places the sentence that shares most words with the question."""
    asked = {word.lower() for word in words(question)}
    return max(places, key=lambda at: len(asked & {word.lower() for word in sentences[at]}))


def _with_neighbours(
    sentences: Sequence[list[str]], best: int, longest: int, rng: np.random.Generator
) -> tuple[int, int]:
    """A sentence, and others on either side while they fit."""
    first, past, room = best, best + 1, longest - len(sentences[best])
    while True:
        fitting = [
            at for at in (first - 1, past)
            if 0 <= at < len(sentences) and len(sentences[at]) <= room
        ]  # fmt: skip
        if not fitting:
            return first, past
        at = fitting[rng.integers(len(fitting))]
        first, past, room = min(first, at), max(past, at + 1), room - len(sentences[at])


def _part(paragraph: Paragraph, first: int, past: int) -> Paragraph:
    return replace(
        paragraph, id=f"{paragraph.id}:{first}-{past}", sentences=paragraph.sentences[first:past]
    )
