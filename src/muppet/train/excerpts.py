"""One-hop questions → the sentences around their answers: less to read, more questions an hour.

Not in the paper, which has the time to read whole paragraphs.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from muppet.domain import Paragraph
from muppet.text.tokens import words
from muppet.train.answers_in_text import answer_places
from muppet.train.examples import TrainingData, TrainingQuestion


def with_excerpts(data: TrainingData, longest: int, seed: int) -> TrainingData:
    """The same questions, those of one hop with an excerpt of so many words for their gold."""
    rng = np.random.default_rng(seed)
    paragraphs = list(data.paragraphs)
    split = [[words(sentence) for sentence in one.sentences] for one in paragraphs]
    questions = []
    for question in data.questions:
        if len(question.gold) == 1 and not question.support:
            (row,) = question.gold
            first, past = _around_answer(question, split[row], longest, rng)
            paragraphs.append(_part(data.paragraphs[row], first, past))
            question = replace(question, gold=(len(paragraphs) - 1,))
        questions.append(question)
    return TrainingData(tuple(questions), tuple(paragraphs))


def _around_answer(
    question: TrainingQuestion,
    sentences: Sequence[list[str]],
    longest: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """The sentence with the answer, of several the one most like the question, and neighbours on
    either side while they fit; everything where no one sentence holds the answer."""
    holding = [at for at, own in enumerate(sentences) if answer_places(own, question.answers)]
    if not holding:
        return 0, len(sentences)
    asked = {word.lower() for word in words(question.text)}
    best = max(holding, key=lambda at: len(asked & {word.lower() for word in sentences[at]}))
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
