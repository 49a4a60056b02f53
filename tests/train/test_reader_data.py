"""What the reader learns from benchmark files: answers, support, official scores (4, 25, 29)."""

import json
from pathlib import Path

import pytest

from muppet.domain import Answer, SentenceRef
from muppet.text.prepare import Preparer
from muppet.text.vocab import Alphabet, Lexicon
from muppet.train.batches import Texts
from muppet.train.data import load_training_data
from muppet.train.examples import TrainingData
from muppet.train.reader_measure import dev_samples, summarise_answers

LIGHT = ["Skerry Light", ["Skerry Light was lit in 1871.", " Ada Holm designed it."]]
WHOLE = ["Skerry Light", ["Skerry Light was lit in 1871. Ada Holm designed it."]]
DESIGNER = ["Ada Holm", ["Ada Holm was an engineer.", "", " She was born in Bergen."]]
SHIP = ["Corona", ["Corona was a barque."]]


def hotpot(
    facts: list[list[object]], context: list[object], **changed: object
) -> dict[str, object]:
    return {
        "_id": "h",
        "question": "Where was the designer of Skerry Light born?",
        "answer": "Bergen",
        "type": "bridge",
        "supporting_facts": facts,
        "context": context,
    } | changed


def load(directory: Path, *files: list[dict[str, object]]) -> TrainingData:
    paths = []
    for number, questions in enumerate(files):
        paths.append(directory / f"{number}.json")
        paths[-1].write_text(json.dumps(questions))
    return load_training_data(paths)


def sentences(data: TrainingData, number: int) -> list[str]:
    return [data.paragraphs[row].sentences[index] for row, index in data.questions[number].support]


def test_answers_and_supporting_sentences_come_along_checklist_25(tmp_path: Path) -> None:
    facts = [["Skerry Light", 1], ["Ada Holm", 2], ["Ada Holm", 9]]  # the last is not there
    data = load(tmp_path, [hotpot(facts, [LIGHT, DESIGNER, SHIP])])
    assert data.questions[0].answers == ("Bergen",)
    assert sentences(data, 0) == [" She was born in Bergen.", " Ada Holm designed it."]


def test_support_is_found_in_a_paragraph_that_another_file_split_differently_checklist_4(
    tmp_path: Path,
) -> None:
    coarse = [hotpot([["Skerry Light", 0], ["Ada Holm", 0]], [WHOLE, DESIGNER])]
    fine = [hotpot([["Skerry Light", 1], ["Ada Holm", 2]], [LIGHT, DESIGNER], _id="other")]
    data = load(tmp_path, coarse, fine)
    assert sentences(data, 1) == [" She was born in Bergen.", WHOLE[1][0]]
    data = load(tmp_path, fine, coarse)
    assert sentences(data, 1)[1] == LIGHT[1][0]


def test_squad_and_plain_questions_have_answers_and_no_support(tmp_path: Path) -> None:
    question = {"id": "s", "question": "When was it lit?", "answers": [
        {"text": "1871", "answer_start": 24}, {"text": "in 1871", "answer_start": 21}]}  # fmt: skip
    article = {"title": "Skerry_Light", "paragraphs": [{"context": WHOLE[1][0], "qas": [question]}]}
    (tmp_path / "squad.json").write_text(json.dumps({"data": [article]}))
    data = load_training_data([tmp_path / "squad.json"])
    assert data.questions[0].answers == ("1871", "in 1871")
    assert data.questions[0].support == ()


def texts_of(data: TrainingData) -> Texts:
    lexicon = Lexicon(Alphabet(""), lambda _: -1)
    return Texts(data, Preparer(lexicon, None, max_tokens=50, with_title=True))


def answer(text: str, *support: SentenceRef) -> list[Answer]:
    return [
        Answer(text, "span", 1.0, 0.5, (), support),
        Answer("never looked at", "span", 0.0, 0, ()),
    ]


def test_dev_is_scored_officially_by_the_best_answer_checklist_29(tmp_path: Path) -> None:
    facts: list[list[object]] = [["Skerry Light", 1], ["Ada Holm", 2]]
    context = [LIGHT, DESIGNER, SHIP]
    asked = [hotpot(facts, context, _id=str(n)) for n in range(4)]
    asked[2] = hotpot(facts, context, _id="2", answer="yes")
    texts = texts_of(load(tmp_path, asked))
    both = (SentenceRef("Skerry Light", 1), SentenceRef("Ada Holm", 2))
    answers = [
        (0, answer("Bergen", *both)),
        (1, answer("in Bergen", both[0])),
        (2, answer("yes it was", *both)),  # no partial credit for yes and no
        (3, []),
    ]
    found = summarise_answers(texts, answers)
    assert found["answer_em"] == pytest.approx(1 / 4)
    assert found["answer_f1"] == pytest.approx((1 + 2 / 3) / 4)
    assert found["support_em"] == pytest.approx(2 / 4)
    assert found["support_f1"] == pytest.approx((1 + 2 / 3 + 1) / 4)
    assert found["joint_em"] == pytest.approx(1 / 4)
    precision, recall = 1 / 2 * 1, 1 * 1 / 2
    joint = 2 * precision * recall / (precision + recall)
    assert found["joint_f1"] == pytest.approx((1 + joint) / 4)


def test_dev_reads_the_gold_chain_beside_the_same_wrong_ones_each_time(tmp_path: Path) -> None:
    facts: list[list[object]] = [["Skerry Light", 1], ["Ada Holm", 2]]
    texts = texts_of(load(tmp_path, [hotpot(facts, [LIGHT, DESIGNER, SHIP])]))
    samples = dev_samples(texts, 3)
    assert samples == dev_samples(texts, 3)
    gold, *wrong = samples[0]
    assert set(gold.paragraphs) == set(texts.data.questions[0].gold)
    assert [len(set(one.paragraphs) & set(gold.paragraphs)) for one in wrong] == [1, 1, 1]
