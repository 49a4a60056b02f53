"""The transformer network, which is not in the paper: unit means, and rereading (checklist 15)."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from muppet.config import CharacterConfig, ContextualConfig, EncoderConfig
from muppet.domain import Paragraph
from muppet.errors import ConfigError
from muppet.nn.arrays import tensors
from muppet.nn.chains import next_questions
from muppet.nn.model import Model, load_model, new_model, save_model, trained_weights
from muppet.nn.pooling import mean_over_sentences, mean_over_text
from muppet.text.batch import make_batch
from muppet.train.batches import Texts, make_training_batch
from muppet.train.examples import ChainSample, TrainingData, TrainingQuestion
from muppet.train.objective import batch_loss
from muppet.train.recipe import ObjectiveConfig
from tiny_bert import write_bert

PARAGRAPHS = (
    Paragraph("a", "The station", ("The stations was.", " The cafe was the station.")),
    Paragraph("b", "Cafe", ("The cafe.",)),
    Paragraph("c", "Stations", ("Was the station the cafe.", " ", " Was.")),
)
QUESTION = "Was the cafe the station?"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> EncoderConfig:
    path = str(write_bert(tmp_path_factory.mktemp("bert"), positions=40))
    return EncoderConfig(
        network="transformer",
        dim=32,
        word_vectors=False,
        characters=CharacterConfig(filters=0),
        contextual=ContextualConfig("transformer", path, layers=1, tuned=1, dropout=0.0),
    )


@pytest.fixture
def model(config: EncoderConfig) -> Model:
    torch.manual_seed(4)
    made = new_model(config, [], None)
    made.encoder.eval()
    return made


@torch.no_grad()
def sentence_vectors(model: Model, *paragraphs: Paragraph) -> Tensor:
    prepared = [model.preparer.paragraph(paragraph) for paragraph in paragraphs]
    batch = tensors(make_batch(prepared, model.preparer.lexicon))
    return model.encoder.sentences(model.encoder.read(batch), batch)[0]


@torch.no_grad()
def after(model: Model, *chain: Paragraph) -> Tensor:
    ready = model.preparer
    texts = [ready.paragraph(paragraph) for paragraph in chain]
    return next_questions(model.encoder, ready, [ready.question(QUESTION)], [texts])[0]


def test_the_mean_is_taken_over_real_tokens_only() -> None:
    states = torch.tensor([[[1.0], [3.0], [100.0]], [[2.0], [4.0], [9.0]]])
    mask = torch.tensor([[True, True, False], [True, True, True]])
    assert mean_over_text(states, mask).flatten().tolist() == [2.0, 5.0]


def test_each_sentence_has_the_mean_of_its_own_tokens_and_an_empty_one_zeros() -> None:
    states = torch.tensor([[[1.0], [3.0], [7.0], [100.0]]])
    segments = torch.tensor([[0, 0, 2, 3]])  # sentence 1 is empty, 3 is padding
    assert mean_over_sentences(states, segments, 3).flatten().tolist() == [2.0, 0.0, 7.0]


def test_a_sentence_is_the_unit_mean_of_what_the_transformer_says_of_its_words(
    model: Model,
) -> None:
    text = model.preparer.paragraph(PARAGRAPHS[0])
    contextual = model.encoder.embedding.contextual
    assert contextual is not None
    with torch.no_grad():
        states = contextual(tensors(make_batch([text], model.preparer.lexicon)))[0]
    for sentence, found in enumerate(sentence_vectors(model, PARAGRAPHS[0])[0]):
        mean = states[torch.from_numpy(text.segments == sentence)].mean(dim=0)
        torch.testing.assert_close(found, mean / mean.norm())


def test_relevance_starts_as_the_cosine(model: Model) -> None:
    vectors = sentence_vectors(model, PARAGRAPHS[0])[0]
    relevance = model.encoder.relevance_at(1)
    with torch.no_grad():
        logit = relevance(vectors[None], torch.ones(1, 2, dtype=torch.bool), vectors[:1])
    assert logit.item() == pytest.approx(10.0, abs=1e-4)  # 20 cos - 10, of a vector with itself


def test_the_next_question_is_what_became_of_the_question_s_words_beside_the_chain(
    model: Model,
) -> None:
    """By hand: pieces of question and paragraphs behind one another, and the transformer alone."""
    ready = model.preparer
    texts = [ready.question(QUESTION), *map(ready.paragraph, PARAGRAPHS[:2])]
    pieces = np.concatenate([texts[0].pieces, texts[1].pieces[1:], texts[2].pieces[1:]])
    contextual = model.encoder.embedding.contextual
    assert contextual is not None
    with torch.no_grad():
        states = contextual.source.model(torch.from_numpy(pieces)[None]).last_hidden_state[0]
    words = texts[0].piece_tokens
    means = [
        states[: len(words)][torch.from_numpy(words == token)].mean(dim=0)
        for token in range(len(texts[0].types))
    ]
    vector = torch.stack(means).mean(dim=0)
    torch.testing.assert_close(after(model, *PARAGRAPHS[:2]), vector / vector.norm())


def test_the_chain_and_its_order_change_the_next_question(model: Model) -> None:
    one, two = after(model, PARAGRAPHS[0]), after(model, PARAGRAPHS[2])
    assert not torch.allclose(one, two, atol=1e-3)
    there, back = after(model, *PARAGRAPHS[:2]), after(model, *PARAGRAPHS[1::-1])
    assert not torch.allclose(there, back, atol=1e-3)


def test_a_chain_longer_than_the_transformer_s_positions_is_cut(model: Model) -> None:
    question = model.preparer.question(QUESTION)
    joined = model.preparer.joined(question, [model.preparer.paragraph(PARAGRAPHS[0])] * 9)
    assert len(joined.pieces) == len(joined.piece_tokens) == 40
    assert joined.tokens.words()[: len(question.types)] == question.tokens.words()
    assert joined.tokens.words()[len(question.types) :][:3] == ["The", "station", "."]
    assert after(model, *[PARAGRAPHS[0]] * 9).norm().item() == pytest.approx(1.0)


def test_batch_mates_do_not_change_a_vector(model: Model) -> None:
    together = sentence_vectors(model, *PARAGRAPHS)
    for row, paragraph in enumerate(PARAGRAPHS):
        alone = sentence_vectors(model, paragraph)[0]
        torch.testing.assert_close(together[row, : len(alone)], alone)


def test_the_loss_of_a_second_hop_rereads_every_prefix(model: Model) -> None:
    data = TrainingData(
        (TrainingQuestion("q", QUESTION, "hotpotqa", (0, 1), (2,), is_ordered=False),), PARAGRAPHS
    )
    samples = [
        ChainSample(0, (0, 1), relevant=(True, True), complete=(False, True)),
        ChainSample(0, (2, 1), relevant=(False, False), complete=(False, False)),
    ]
    batch = make_training_batch(Texts(data, model.preparer), samples)
    with torch.no_grad():
        _, parts = batch_loss(model.encoder, batch, ObjectiveConfig(ranking_weight=0.0))
        logits = [
            model.encoder.relevance_at(1)(
                sentence_vectors(model, PARAGRAPHS[1]),
                torch.ones(1, 1, dtype=torch.bool),
                after(model, PARAGRAPHS[first])[None],
            )
            for first in (0, 2)
        ]
    expected = torch.nn.functional.softplus(torch.cat([-logits[0], logits[1]])).mean().item()
    assert parts["cross_entropy_2"] == pytest.approx(expected, rel=1e-4)


def test_what_is_saved_is_what_is_loaded(model: Model, tmp_path: Path) -> None:
    with torch.no_grad():
        for weights in trained_weights(model.encoder).values():
            weights.add_(torch.randn_like(weights), alpha=0.1)
    save_model(tmp_path / "model", model, trained_weights(model.encoder), {})
    loaded = load_model(tmp_path / "model")
    torch.testing.assert_close(after(loaded, *PARAGRAPHS[:2]), after(model, *PARAGRAPHS[:2]))


@pytest.mark.parametrize(
    "wrong", [{"dim": 16}, {"characters": CharacterConfig(filters=4)}], ids=["size", "characters"]
)
def test_other_inputs_than_the_transformer_are_refused(
    config: EncoderConfig, wrong: dict[str, object]
) -> None:
    with pytest.raises(ConfigError, match=r"no character filters, and encoder\.dim = 32"):
        new_model(replace(config, **wrong), ["abc"], None)  # type: ignore[arg-type]


def test_an_unknown_network_is_refused(config: EncoderConfig) -> None:
    with pytest.raises(ConfigError, match=r"encoder\.network must be one of recurrent, transf"):
        new_model(replace(config, network="quantum"), [], None)
