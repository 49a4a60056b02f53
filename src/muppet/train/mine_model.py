"""Hard negatives by the model itself: of those that words found, the ones it believes most."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from muppet.artifact import Manifest, new_artifact
from muppet.domain import Paragraph, Progress
from muppet.nn.arrays import tensors
from muppet.nn.chains import next_questions
from muppet.nn.model import Model
from muppet.text.batch import make_batch
from muppet.train.examples import TrainingData, TrainingQuestion
from muppet.train.negatives import FORMAT, KIND, Mined, MinedNegatives, question_key


def most_believed(
    data: TrainingData, pool: MinedNegatives, model: Model, *, keep: int, progress: Progress
) -> MinedNegatives:
    """The `keep` of each question's pool that the model finds most relevant, hop by hop."""
    model.encoder.eval()
    chosen: dict[tuple[str, str], Mined] = {}
    with torch.no_grad():
        for done, question in enumerate(data.questions, start=1):
            mined = pool.questions.get(question_key(question))
            if mined is not None:
                chosen[question_key(question)] = _choose(data, question, mined, pool, model, keep)
            progress("mining by the model", done, len(data.questions))
    used = {number for mined in chosen.values() for number in mined.numbers}
    return MinedNegatives(chosen, {number: pool.paragraphs[number] for number in sorted(used)})


def write_mined(directory: Path, mined: MinedNegatives, made_from: Mapping[str, str]) -> None:
    """The same files that lexical mining fills, written at once."""
    with new_artifact(directory, Manifest(KIND, FORMAT, {}, dict(made_from))) as partial:
        paragraphs = [
            {"number": number, "title": one.title, "sentences": one.sentences}
            for number, one in mined.paragraphs.items()
        ]
        questions = [
            {"id": id_, "question": text, "first": one.first, "next": one.next}
            for (id_, text), one in mined.questions.items()
        ]
        for name, rows in (("paragraphs", paragraphs), ("questions", questions)):
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (partial / f"{name}.jsonl").write_text(lines, encoding="utf-8")


def _choose(
    data: TrainingData,
    question: TrainingQuestion,
    mined: Mined,
    pool: MinedNegatives,
    model: Model,
    keep: int,
) -> Mined:
    encoder, preparer = model.encoder, model.preparer
    asked = preparer.question(question.text)
    sentences, present = _sentences(model, [pool.paragraphs[number] for number in mined.numbers])

    def best(numbers: Sequence[int], hop: int, vector: Tensor) -> tuple[int, ...]:
        logits = encoder.relevance_at(hop).of_all(sentences, present, vector)[0]
        score = dict(zip(mined.numbers, logits.tolist(), strict=True))
        return tuple(sorted(numbers, key=lambda number: -score[number])[:keep])

    read = encoder.read(tensors(make_batch([asked], preparer.lexicon)))
    first = best(mined.first, 0, encoder.question(read))
    if encoder.config.hops == 1:  # it knows nothing of second hops: theirs stay as words found them
        return Mined(first, tuple(numbers[:keep] for numbers in mined.next))
    later = []
    for row, numbers in zip(question.gold, mined.next, strict=True):
        gold = preparer.paragraph(data.paragraphs[row])
        later.append(best(numbers, 1, next_questions(encoder, preparer, [asked], [[gold]])))
    return Mined(first, tuple(later))


def _sentences(model: Model, paragraphs: Sequence[Paragraph]) -> tuple[Tensor, Tensor]:
    """Sentence vectors of paragraphs, and which are there: (P, S, D), (P, S)"""
    batch = tensors(
        make_batch([model.preparer.paragraph(one) for one in paragraphs], model.preparer.lexicon)
    )
    return model.encoder.sentences(model.encoder.read(batch), batch)
