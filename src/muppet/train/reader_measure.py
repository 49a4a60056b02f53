"""How well a reader answers dev's questions, given their gold chain among others.

The whole distractor setting, all 45 pairs of a question's ten paragraphs, is too dear to watch;
here the gold chain is read beside a few with distractors, the same ones each time. Answers are
chosen as at runtime and scored officially (checklist 27, 29).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import torch

from muppet.config import ReadConfig
from muppet.domain import Answer, SentenceRef
from muppet.evaluate.answers import (
    NOTHING,
    Scores,
    hotpot_scores,
    joint_scores,
    mean_scores,
    squad_scores,
    support_scores,
)
from muppet.nn.reader import Logits, Reader
from muppet.read.answers import ChainRead, choose_answers, without_padding
from muppet.train.batches import Texts
from muppet.train.examples import TrainingQuestion
from muppet.train.reader_batches import ReaderBatch, make_reader_batch
from muppet.train.reader_objective import read_chains
from muppet.train.reader_samples import ReaderSample, WrongChains, reader_samples

AT_ONCE = 8
"""Questions whose chains are read together."""


def dev_samples(texts: Texts, chains: int) -> dict[int, list[ReaderSample]]:
    """For every question its gold chain, and so many with distractors; always the same ones."""
    wrong = WrongChains(count=chains)
    return {
        number: reader_samples(number, texts.data, np.random.default_rng(number), wrong)
        for number in range(len(texts.data.questions))
    }


def answer_questions(
    reader: Reader,
    texts: Texts,
    samples: Mapping[int, Sequence[ReaderSample]],
    config: ReadConfig,
) -> Iterator[tuple[int, list[Answer]]]:
    """The answers to each question from its own chains, best first."""
    reader.eval()
    numbers = list(samples)
    for first in range(0, len(numbers), AT_ONCE):
        some = numbers[first : first + AT_ONCE]
        batch = make_reader_batch(
            texts, [one for number in some for one in samples[number]], joins=reader.joins
        )
        with torch.no_grad():
            read = chains_read(texts, batch, read_chains(reader, batch))
        for number in some:
            own = [one for sample, one in read if sample.question == number]
            yield number, choose_answers(own, config)


def chains_read(
    texts: Texts, batch: ReaderBatch, logits: Logits
) -> list[tuple[ReaderSample, ChainRead]]:
    """Each sample with what was said of it, without the padding."""
    arrays = [part.double().numpy() for part in logits]
    found = []
    for row, (sample, reading) in enumerate(zip(batch.samples, batch.readings, strict=True)):
        own = without_padding(reading, (part[row] for part in arrays))
        paragraphs = tuple(texts.data.paragraphs[place] for place in sample.paragraphs)
        found.append((sample, ChainRead(paragraphs, reading, own)))
    return found


def summarise_answers(
    texts: Texts, answers: Iterable[tuple[int, list[Answer]]]
) -> dict[str, float]:
    """Official EM and F1 of the best answers; of support and both where support is marked."""
    scores: dict[str, list[Scores]] = {"answer": [], "support": [], "joint": []}
    for number, found in answers:
        question = texts.data.questions[number]
        answer, support = _scores(texts, question, found[0] if found else None)
        scores["answer"].append(answer)
        if support is not None:
            scores["support"].append(support)
            scores["joint"].append(joint_scores(answer, support))
    means = {name: mean_scores(some) for name, some in scores.items() if some}
    return {
        f"{name}_{metric}": getattr(mean, metric)
        for name, mean in means.items()
        for metric in ("em", "f1")
    }


def _scores(
    texts: Texts, question: TrainingQuestion, answer: Answer | None
) -> tuple[Scores, Scores | None]:
    """By HotpotQA's rules where support is marked, else by SQuAD's."""
    score = hotpot_scores if question.support else squad_scores
    right = score(answer.text, question.answers) if answer else NOTHING
    if not question.support:
        return right, None
    gold = {SentenceRef(texts.data.paragraphs[row].id, index) for row, index in question.support}
    return right, support_scores(set(answer.support), gold) if answer else NOTHING
