"""What is right about each chain, and that reading in batches changes nothing (24, 25, 26)."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from muppet.config import CharacterConfig, ContextualConfig, ReaderConfig
from muppet.domain import Paragraph
from muppet.nn.reader import Logits
from muppet.nn.reader_model import ReaderModel, new_reader
from muppet.train.batches import Texts
from muppet.train.examples import TrainingData, TrainingQuestion
from muppet.train.reader_batches import Labels, ReaderBatch, make_reader_batch
from muppet.train.reader_objective import read_chains, reader_loss
from muppet.train.reader_recipe import ReaderObjectiveConfig
from muppet.train.reader_samples import ReaderSample
from tiny_bert import write_bert

PARAGRAPHS = (
    Paragraph("a", "The station", ("The stations was.", " The cafe was the station.")),
    Paragraph("b", "Cafe", ("", "The cafe was.", " It was the Station, the cafe.")),
    Paragraph("c", "Whales", ("Was the station the cafe. The whale of the whole world.",)),
    Paragraph("d", "Was", ("Was.",)),
    Paragraph("e", "Was", ("Was the sta\u00adtion.",)),
)
QUESTIONS = (
    TrainingQuestion(
        "q0", "Was the cafe the station?", "hotpotqa", (0, 1), (2, 3), is_ordered=False,
        answers=("station",), support=((0, 1), (1, 2)),
    ),
    TrainingQuestion("q1", "Was it?", "2wiki", (2, 3), (0,), False, ("Yes",), ((2, 0),)),
    TrainingQuestion("q2", "Who was?", "squad", (1,), (0,), False, ("no", "the cafe")),
    TrainingQuestion("q3", "Who?", "musique", (0, 2), (1,), True, ("nobody",)),
    TrainingQuestion("q4", "What?", "squad", (2,), (), False, ("the whale of whole world",)),
    TrainingQuestion("q5", "What?", "squad", (4,), (), False, ("sta\u00adtion",)),
)  # fmt: skip
SAMPLES = [
    ReaderSample(0, (0, 1)),
    ReaderSample(0, (2, 0)),
    ReaderSample(1, (3, 2)),
    ReaderSample(2, (1,)),
    ReaderSample(3, (0, 2, 1, 3)),
]
NETWORKS = ["recurrent", "transformer", "no heads"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReaderModel]:
    letters = CharacterConfig(dim=3, filters=6, width=2, longest=6, at_least=1)
    plain = ReaderConfig(dim=8, hidden=5, word_vectors=False, characters=letters)
    bert = str(write_bert(tmp_path_factory.mktemp("bert")))
    joined = replace(
        plain, network="transformer", dim=32, characters=CharacterConfig(filters=0),
        contextual=ContextualConfig("transformer", bert, layers=1, tuned=2, dropout=0.0),
    )  # fmt: skip
    configs = {"recurrent": plain, "transformer": joined, "no heads": replace(plain, heads=False)}
    made = {}
    for name, config in configs.items():
        torch.manual_seed(24)
        made[name] = new_reader(config, ["the", "whale", "station", "cafe"], None)
        made[name].reader.eval()
    return made


def batch_of(model: ReaderModel, samples: list[ReaderSample]) -> ReaderBatch:
    texts = Texts(TrainingData(QUESTIONS, PARAGRAPHS), model.preparer)
    return make_reader_batch(texts, samples, joins=model.reader.joins)


def words_at(batch: ReaderBatch, row: int, marks: np.ndarray) -> list[str]:
    reading = batch.readings[row]
    words = [text.tokens.words() for text in reading.chain]
    return [
        words[reading.layout.places[token]][reading.layout.tokens[token]]
        for token in np.flatnonzero(marks[row])
    ]


def labels_of(model: ReaderModel, sample: ReaderSample) -> tuple[ReaderBatch, Labels]:
    batch = batch_of(model, [sample])
    return batch, batch.labels


@pytest.mark.parametrize("network", NETWORKS[:2])
def test_every_match_in_texts_and_titles_is_gold_also_in_distractors_checklist_24(
    models: dict[str, ReaderModel], network: str
) -> None:
    batch, labels = labels_of(models[network], SAMPLES[0])
    assert words_at(batch, 0, labels.start) == ["station", "station", "Station"]
    batch, labels = labels_of(models[network], SAMPLES[1])
    assert words_at(batch, 0, labels.start) == ["station", "station", "station"]
    assert (labels.start == labels.end).all()  # one word long
    assert not (labels.start & ~labels.allowed).any()


def test_answers_of_several_words_begin_and_end_apart_checklist_24(
    models: dict[str, ReaderModel],
) -> None:
    batch, labels = labels_of(models["recurrent"], ReaderSample(4, (2,)))
    assert words_at(batch, 0, labels.start) == ["whale"]
    assert words_at(batch, 0, labels.end) == ["world"]
    batch, labels = labels_of(models["recurrent"], SAMPLES[3])
    assert words_at(batch, 0, labels.start) == ["Cafe", "cafe", "cafe"]  # the article is no part


def test_an_answer_may_hold_a_token_without_a_word_piece(models: dict[str, ReaderModel]) -> None:
    batch, labels = labels_of(models["transformer"], ReaderSample(5, (4,)))
    assert words_at(batch, 0, labels.start) == ["sta"]
    assert words_at(batch, 0, labels.end) == ["tion"]
    assert words_at(batch, 0, labels.allowed) == ["Was", "Was", "the", "sta", "tion", "."]


def test_yes_no_and_span_questions_have_labels_where_they_apply_checklist_25(
    models: dict[str, ReaderModel],
) -> None:
    batch = batch_of(models["recurrent"], SAMPLES)
    by_number = {sample.question: row for row, sample in enumerate(batch.samples)}
    labels = batch.labels
    kinds = {number: labels.kind[row].tolist() for number, row in by_number.items()}
    assert kinds == {0: [1, 0], 1: [0, 1], 2: [1, 0], 3: [1, 0]}  # SQuAD's "no" is a word
    verdicts = {number: labels.verdict[row].tolist() for number, row in by_number.items()}
    assert verdicts == {0: [0, 0], 1: [1, 0], 2: [0, 0], 3: [0, 0]}
    assert not labels.start[by_number[1]].any()
    assert not labels.start[by_number[3]].any()  # nobody is in no chain


def test_an_answer_may_be_right_in_the_gold_chain_alone(models: dict[str, ReaderModel]) -> None:
    texts = Texts(TrainingData(QUESTIONS, PARAGRAPHS), models["transformer"].preparer)
    samples = [*SAMPLES[:3], ReaderSample(1, (2, 0))]
    batch = make_reader_batch(texts, samples, joins=True, answers_in="gold")
    right = {
        sample: [bool(part[row].any()) for part in (labels.start, labels.kind, labels.verdict)]
        for labels in [batch.labels]
        for row, sample in enumerate(batch.samples)
    }
    assert right == {
        SAMPLES[0]: [True, True, False],
        SAMPLES[1]: [False, False, False],  # it holds the answer, and only half of the evidence
        SAMPLES[2]: [False, True, True],
        samples[3]: [False, False, False],
    }


@pytest.mark.parametrize("network", NETWORKS[:2])
def test_support_is_labelled_where_it_is_known_and_in_wrong_chains_too_checklist_25(
    models: dict[str, ReaderModel], network: str
) -> None:
    lead = [False] if network == "transformer" else []
    _, gold = labels_of(models[network], SAMPLES[0])
    assert gold.support[0].tolist() == [*lead, False, True, False, False, True]
    assert gold.known[0].tolist() == [*lead, True, True, True, True, True]
    _, half = labels_of(models[network], SAMPLES[1])
    assert half.support[0].tolist() == [*lead, False, False, True]
    for sample in SAMPLES[3:]:  # SQuAD and MuSiQue mark none
        assert not labels_of(models[network], sample)[1].known.any()


@torch.no_grad()
def read(model: ReaderModel, samples: list[ReaderSample]) -> dict[ReaderSample, Logits]:
    batch = batch_of(model, samples)
    logits = read_chains(model.reader, batch)
    found = {}
    for row, (sample, reading) in enumerate(zip(batch.samples, batch.readings, strict=True)):
        tokens, sentences = len(reading.layout.segments), len(reading.layout.present)
        own = [part[row] for part in logits]
        found[sample] = Logits(own[0][:tokens], own[1][:tokens], *own[2:4], own[4][:sentences])
    return found


@pytest.mark.parametrize("network", NETWORKS)
def test_batch_mates_and_padding_never_change_a_chain_s_scores_checklist_23(
    models: dict[str, ReaderModel], network: str
) -> None:
    together = read(models[network], SAMPLES)
    for sample in SAMPLES:
        (alone,) = read(models[network], [sample]).values()
        for one, other in zip(alone, together[sample], strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=0)


@pytest.mark.parametrize("network", NETWORKS)
def test_the_loss_is_the_sum_of_its_parts_and_reaches_every_weight_checklist_25(
    models: dict[str, ReaderModel], network: str
) -> None:
    reader = models[network].reader
    batch = batch_of(models[network], SAMPLES)
    loss, parts = reader_loss(reader, batch, ReaderObjectiveConfig())
    heads = {"kind", "verdict", "support"} if network != "no heads" else set()
    assert set(parts) == {"start", "end", *heads}
    assert loss.item() == pytest.approx(sum(parts.values()), rel=1e-5)
    assert all(value > 0 for value in parts.values())
    loss.backward()
    trained = {name: p for name, p in reader.named_parameters() if p.requires_grad}
    assert [name for name, p in trained.items() if p.grad is None] == []
    reader.zero_grad()


def test_a_weight_of_nothing_leaves_a_loss_out(models: dict[str, ReaderModel]) -> None:
    model = models["recurrent"]
    batch = batch_of(model, SAMPLES)
    config = ReaderObjectiveConfig(kind_weight=0.0, verdict_weight=0.0, support_weight=0.0)
    loss, parts = reader_loss(model.reader, batch, config)
    assert loss.item() == pytest.approx(parts["start"] + parts["end"], rel=1e-6)


def test_more_than_one_chunk_is_read_as_one(models: dict[str, ReaderModel]) -> None:
    many = [
        ReaderSample(number % 4, (row, (row + 1) % 4)) for row in range(4) for number in range(6)
    ]
    distinct = list(dict.fromkeys(many))
    batch = batch_of(models["recurrent"], distinct * 2)
    assert len(batch.chunks) > 1
    together = read(models["recurrent"], distinct * 2)
    (alone,) = read(models["recurrent"], distinct[:1]).values()
    torch.testing.assert_close(together[distinct[0]].start, alone.start, atol=1e-5, rtol=0)
