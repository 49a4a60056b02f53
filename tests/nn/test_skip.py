"""Two settings that are not in the paper: pooling by mean, and the skip past the BiGRU."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from muppet.config import CharacterConfig, EncoderConfig
from muppet.domain import Paragraph
from muppet.errors import ConfigError
from muppet.nn.arrays import TensorBatch, tensors
from muppet.nn.contextual import Contextual
from muppet.nn.embedding import TokenEmbedding
from muppet.nn.encoder import Encoder
from muppet.nn.pooling import mean_over_sentences, mean_over_text
from muppet.text.batch import make_batch
from muppet.text.prepare import Preparer
from muppet.text.vocab import Alphabet, Lexicon


class LengthSource(nn.Module):
    """A contextual input of one layer: a word is as many ones as it has letters, then zeros."""

    depth = 1
    size = 8

    def layers(self, batch: TensorBatch) -> Tensor:
        rows = [[1.0] * min(len(w), 8) + [0.0] * (8 - min(len(w), 8)) for w in batch.spellings]
        return torch.tensor(rows)[batch.words][:, :, None]


def encoder(**settings: object) -> Encoder:
    torch.manual_seed(0)
    small = EncoderConfig(dim=8, word_vectors=False, characters=CharacterConfig(filters=0))
    config = replace(small, **settings)  # type: ignore[arg-type]
    contextual = Contextual(LengthSource(), dropout=0.0)  # type: ignore[arg-type]
    return Encoder(config, TokenEmbedding(None, 2, config.characters, contextual)).eval()


def batch_of(*texts: str) -> TensorBatch:
    prepare = Preparer(Lexicon(Alphabet(""), lambda _: -1), None, max_tokens=50, with_title=False)
    paragraphs = [prepare.paragraph(Paragraph("p", "", (text,))) for text in texts]
    return tensors(make_batch(paragraphs, prepare.lexicon))


def test_the_mean_is_taken_over_real_tokens_only() -> None:
    states = torch.tensor([[[1.0], [3.0], [100.0]], [[2.0], [4.0], [9.0]]])
    mask = torch.tensor([[True, True, False], [True, True, True]])
    assert mean_over_text(states, mask).flatten().tolist() == [2.0, 5.0]


def test_each_sentence_has_the_mean_of_its_own_tokens_and_an_empty_one_zeros() -> None:
    states = torch.tensor([[[1.0], [3.0], [7.0], [100.0]]])
    segments = torch.tensor([[0, 0, 2, 3]])  # sentence 1 is empty, 3 is padding
    assert mean_over_sentences(states, segments, 3).flatten().tolist() == [2.0, 0.0, 7.0]


def test_the_skip_adds_the_contextual_input_to_the_states() -> None:
    batch = batch_of("a bbb", "cc dddd e")
    with_skip, without = encoder(skip=True), encoder(skip=False)
    difference = with_skip.read(batch).states - without.read(batch).states
    torch.testing.assert_close(difference, LengthSource().layers(batch)[:, :, 0])


def test_the_skip_adds_the_question_to_its_reformulation() -> None:
    model = encoder(skip=True, pooling="mean")
    question, chain = model.read(batch_of("a bbb")), model.read(batch_of("cc dddd e"))
    plain = model.reformulation(*question, *chain).question
    added = model.reformulate(question, chain).question - plain
    torch.testing.assert_close(added, model.question(question))


def test_a_skip_of_another_size_is_refused() -> None:
    with pytest.raises(ConfigError, match="must be its size, 8, not 16"):
        encoder(skip=True, dim=16)


def test_an_unknown_pooling_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"encoder\.pooling must be one of max, mean"):
        encoder(pooling="median")
