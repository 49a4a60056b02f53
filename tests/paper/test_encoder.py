"""The whole retrieval network: one encoder for questions and paragraphs (checklist 8-15)."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from muppet.config import CharacterConfig, ContextualConfig, EncoderConfig
from muppet.domain import Paragraph
from muppet.errors import ConfigError
from muppet.nn.arrays import TensorBatch, tensors
from muppet.nn.embedding import TokenEmbedding
from muppet.nn.encoder import Encoder, count_parameters
from muppet.nn.model import Model, new_model
from muppet.text.batch import make_batch
from muppet.text.prepare import Prepared

TINY = EncoderConfig(
    dim=8,
    word_vectors=False,
    title=False,
    characters=CharacterConfig(dim=3, filters=6, width=2, longest=6, at_least=1),
)
TEXTS = [
    ("Shackleton died at Grytviken.", " ", " The station was founded by Larsen.", " He sailed."),
    ("One.",),
    ("Whales were hunted in the south, for oil and for bone.", " No more."),
]
QUESTIONS = ["Who founded it? And when?", "Why", "Where was the captain of the ship born"]


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(12)


def loud(config: EncoderConfig = TINY) -> Model:
    """A model out of training, with weights so large that every difference shows."""
    model = new_model(config, ["abcdefghijklmnopqrstuvwxyz"], None)
    with torch.no_grad():
        for weights in model.encoder.parameters():
            weights.normal_(std=0.5)
    model.encoder.eval()
    return model


def paragraphs(model: Model) -> list[Prepared]:
    return [model.preparer.paragraph(Paragraph("p", "T", text)) for text in TEXTS]


def batch_of(model: Model, *texts: Prepared) -> TensorBatch:
    return tensors(make_batch(texts, model.preparer.lexicon))


def sentence_vectors(model: Model, *texts: Prepared) -> tuple[Tensor, Tensor]:
    batch = batch_of(model, *texts)
    return model.encoder.sentences(model.encoder.read(batch), batch)


def question_vectors(model: Model, *texts: str) -> Tensor:
    batch = batch_of(model, *(model.preparer.question(text) for text in texts))
    return model.encoder.question(model.encoder.read(batch))


def with_padding(batch: TensorBatch, more: int) -> TensorBatch:
    """Behind every text so many tokens of padding more."""
    sentences = batch.sentences.shape[1]
    return batch._replace(
        words=nn.functional.pad(batch.words, (0, more)),
        mask=nn.functional.pad(batch.mask, (0, more)),
        segments=nn.functional.pad(batch.segments, (0, more), value=sentences),
    )


def test_a_question_of_any_sentences_is_one_vector_checklist_12() -> None:
    model = loud()
    batch = batch_of(model, model.preparer.question(QUESTIONS[0]))
    read = model.encoder.read(batch)
    vector = model.encoder.question(read)
    assert vector.shape == (1, 8)
    assert read.states.shape == (1, 7, 8)
    for d in range(8):
        assert vector[0, d].item() == max(read.states[0, t, d].item() for t in range(7))


def test_a_paragraph_of_k_sentences_has_k_vectors_from_one_pass_checklist_4_and_12() -> None:
    """The second sentence is empty: it keeps its number, and is marked as absent."""
    model = loud()
    text = paragraphs(model)[0]
    batch = batch_of(model, text)
    states = model.encoder.read(batch).states[0]
    vectors, present = sentence_vectors(model, text)
    assert vectors.shape == (1, 4, 8)
    assert present.tolist() == [[True, False, True, True]]
    for number in (0, 2, 3):
        own = [t for t, segment in enumerate(text.segments.tolist()) if segment == number]
        for d in range(8):
            assert vectors[0, number, d].item() == max(states[t, d].item() for t in own)


def test_sentences_are_read_in_the_context_of_their_paragraph_checklist_12() -> None:
    model = loud()
    vectors, _ = sentence_vectors(model, paragraphs(model)[0])
    alone, _ = sentence_vectors(
        model, model.preparer.paragraph(Paragraph("p", "T", (TEXTS[0][2],)))
    )
    assert not torch.allclose(vectors[0, 2], alone[0, 0], atol=1e-3)


def test_at_paragraph_granularity_there_is_one_vector_checklist_12() -> None:
    model = loud(replace(TINY, granularity="paragraph"))
    texts = paragraphs(model)
    batch = batch_of(model, *texts)
    states = model.encoder.read(batch).states
    vectors, present = sentence_vectors(model, *texts)
    assert vectors.shape == (3, 1, 8)
    assert present.all()
    for row, text in enumerate(texts):
        for d in range(8):
            own = [states[row, t, d].item() for t in range(len(text.types))]
            assert vectors[row, 0, d].item() == max(own)


def test_questions_and_paragraphs_share_their_weights_checklist_11() -> None:
    """One sentence, read as either, is the same vector."""
    model = loud()
    vectors, _ = sentence_vectors(model, paragraphs(model)[1])
    torch.testing.assert_close(vectors[:, 0], question_vectors(model, TEXTS[1][0]))


@pytest.mark.parametrize("granularity", ["sentence", "paragraph"])
def test_batch_mates_never_change_a_paragraph_checklist_12(granularity: str) -> None:
    model = loud(replace(TINY, granularity=granularity))
    texts = paragraphs(model)
    together, present = sentence_vectors(model, *texts)
    for row, text in enumerate(texts):
        alone, own = sentence_vectors(model, text)
        count = own.shape[1]
        torch.testing.assert_close(together[row, :count], alone[0], atol=1e-6, rtol=1e-5)
        assert present[row, :count].tolist() == own[0].tolist()
        assert not present[row, count:].any()


def test_batch_mates_never_change_a_question_checklist_12() -> None:
    model = loud()
    together = question_vectors(model, *QUESTIONS)
    for row, text in enumerate(QUESTIONS):
        alone = question_vectors(model, text)[0]
        torch.testing.assert_close(together[row], alone, atol=1e-6, rtol=1e-5)


def test_more_padding_changes_no_vector_checklist_12() -> None:
    model = loud()
    batch = batch_of(model, *paragraphs(model))
    wide = with_padding(batch, 5)
    encoder = model.encoder
    plain, padded = encoder.read(batch), encoder.read(wide)
    assert padded.states.shape[1] == plain.states.shape[1] + 5
    pairs = [
        (encoder.question(plain), encoder.question(padded)),
        (encoder.sentences(plain, batch)[0], encoder.sentences(padded, wide)[0]),
        (encoder.reformulate(plain, plain).question, encoder.reformulate(padded, padded).question),
    ]
    for one, other in pairs:
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def test_an_empty_text_spoils_no_batch_mate_and_no_number_checklist_12() -> None:
    model = loud()
    empty = model.preparer.paragraph(Paragraph("p", "T", ("", "")))
    vectors, present = sentence_vectors(model, empty, *paragraphs(model))
    assert present[0].tolist() == [False] * 4
    assert vectors.isfinite().all()
    torch.testing.assert_close(vectors[1:], sentence_vectors(model, *paragraphs(model))[0])


def test_each_hop_has_relevance_weights_of_its_own_and_later_ones_the_last_checklist_13() -> None:
    encoder = loud(replace(TINY, hops=3)).encoder
    hops = [encoder.relevance_at(hop) for hop in range(5)]
    assert len({id(hop) for hop in hops[:3]}) == 3
    assert hops[3] is hops[2]
    assert hops[4] is hops[2]
    assert not torch.equal(hops[0].sentence, hops[1].sentence)


def test_the_stop_head_judges_the_reformulated_question_checklist_34() -> None:
    encoder = loud().encoder
    vectors = torch.randn(3, 8)
    expected = [
        sum(w * x for w, x in zip(encoder.stop.weight[0].tolist(), row, strict=True))
        + encoder.stop.bias.item()
        for row in vectors.tolist()
    ]
    assert encoder.is_complete(vectors).tolist() == pytest.approx(expected, abs=1e-5)


def test_one_hop_has_neither_reformulation_nor_stop_head_checklist_15() -> None:
    names = {
        name.split(".")[0] for name, _ in loud(replace(TINY, hops=1)).encoder.named_parameters()
    }
    assert names == {"embedding", "recurrent", "relevance"}


@pytest.mark.parametrize(
    ("setting", "value"), [("granularity", "word"), ("attention", "none of these")]
)
def test_an_unknown_variant_is_refused_with_its_alternatives(setting: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"encoder.{setting}.*(paragraph|released).*{value}"):
        loud(replace(TINY, **{setting: value}))


@pytest.mark.parametrize(("hops", "least", "most"), [(2, 12.75e6, 12.85e6), (1, 2.78e6, 2.85e6)])
def test_the_paper_s_sizes_have_the_published_number_of_parameters_checklist_10(
    hops: int, least: float, most: float
) -> None:
    """With 300-d vectors, which like ELMo are not counted: 12.8 M for two hops, 2.8 M for one."""
    config = EncoderConfig(hops=hops)
    assert config.contextual == ContextualConfig(kind="none")
    with torch.device("meta"):  # counted, not filled
        embedding = TokenEmbedding(None, 100, config.characters, None)
        embedding.size += 300
        encoder = Encoder(config, embedding)
    assert least < count_parameters(encoder) < most


def test_word_vectors_are_no_parameters_of_training_checklist_8() -> None:
    letters = TINY.characters
    without = TokenEmbedding(None, 30, letters, None)
    vectors = np.ones((50, 300), dtype=np.float32)
    with_vectors = TokenEmbedding(vectors, 30, letters, None)
    assert with_vectors.size == without.size + 300
    assert count_parameters(with_vectors) == count_parameters(without)
