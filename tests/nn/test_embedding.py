"""token = [word vector ; characters ; contextual] (checklist 8-10)."""

import numpy as np
import pytest
import torch
from torch import Tensor

from muppet.config import CharacterConfig
from muppet.nn.arrays import TensorBatch, tensors
from muppet.nn.embedding import CharacterCnn, TokenEmbedding
from muppet.text.batch import make_batch
from muppet.text.prepare import Preparer
from muppet.text.vectors import WordVectors
from muppet.text.vocab import Alphabet, Lexicon

LETTERS = "abcdefghijklmnopqrstuvwxyz"
CHARACTERS = CharacterConfig(dim=3, filters=4, width=2, dropout=0.5)
VECTORS = WordVectors(
    ("Paris", "paris", "cat"), np.random.default_rng(1).normal(size=(3, 5)).astype(np.float32)
)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(9)


def embedding(vectors: WordVectors | None = VECTORS, filters: int = 4) -> TokenEmbedding:
    characters = CharacterConfig(dim=3, filters=filters, width=2, dropout=0.5)
    matrix = None if vectors is None else vectors.matrix
    return TokenEmbedding(matrix, len(Alphabet(LETTERS)), characters, None).eval()


def batch_of(*texts: str) -> TensorBatch:
    lexicon = Lexicon(Alphabet(LETTERS), VECTORS.row)
    ready = Preparer(lexicon, None, max_tokens=50, with_title=False)
    return tensors(make_batch([ready.question(text) for text in texts], lexicon))


def tokens_of(made: TokenEmbedding, text: str) -> Tensor:
    states: Tensor = made(batch_of(text))
    return states[0].detach()


def test_a_token_is_its_word_vector_and_then_its_characters_checklist_10() -> None:
    made = embedding()
    assert made.size == 5 + 4
    states = made(batch_of("cat Paris", "paris")).detach()
    assert states.shape == (2, 2, 9)
    np.testing.assert_array_equal(states[0, 0, :5].numpy(), VECTORS.matrix[2])
    np.testing.assert_array_equal(states[0, 1, :5].numpy(), VECTORS.matrix[0])
    np.testing.assert_array_equal(states[1, 0, :5].numpy(), VECTORS.matrix[1])
    cat = Alphabet(LETTERS).ids("cat")
    assert made.characters is not None
    by_characters = made.characters(torch.from_numpy(cat)[None])[0]
    torch.testing.assert_close(states[0, 0, 5:], by_characters)


def test_exact_case_is_looked_up_before_lower_case_checklist_8() -> None:
    words = tokens_of(embedding(), "Paris paris PARIS Cat")[:, :5].numpy()
    np.testing.assert_array_equal(words, VECTORS.matrix[[0, 1, 1, 2]])


def test_an_unknown_word_is_zero_but_its_characters_are_read_checklist_8() -> None:
    unknown, other = tokens_of(embedding(), "dog cow")
    assert not unknown[:5].any()
    assert not other[:5].any()
    assert not torch.equal(unknown[5:], other[5:])


def test_only_the_first_14_characters_count_checklist_9() -> None:
    words = "abcdefghijklmnop abcdefghijklmnzz abcdefghijklmzzz"
    one, same, other = tokens_of(embedding(filters=40), words)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_the_character_cnn_is_its_formula_with_the_maximum_over_positions_checklist_9() -> None:
    cnn = CharacterCnn(8, CHARACTERS).eval()
    ids = [2, 5, 7, 3, 0, 0]
    (found,) = cnn(torch.tensor([ids])).tolist()
    table = cnn.characters.weight.tolist()
    kernel, bias = cnn.convolution.weight.tolist(), cnn.convolution.bias
    assert bias is not None
    for number in range(4):
        values = []
        for position in range(len(ids) - 1):
            total = bias[number].item()
            for offset in range(2):
                for d in range(3):
                    total += kernel[number][d][offset] * table[ids[position + offset]][d]
            values.append(max(total, 0.0))
        assert found[number] == pytest.approx(max(values), abs=1e-6)


def test_the_paper_s_characters_are_20_d_in_100_filters_of_width_5_checklist_9() -> None:
    cnn = CharacterCnn(60, CharacterConfig())
    assert cnn.characters.weight.shape == (60, 20)
    assert cnn.convolution.weight.shape == (100, 20, 5)
    assert cnn.dropout.p == 0.2
    assert CharacterConfig().longest == 14
    assert CharacterConfig().at_least == 50


def test_dropout_is_on_the_input_of_the_cnn_in_training_only_checklist_9() -> None:
    cnn = CharacterCnn(8, CHARACTERS).train()
    seen: list[Tensor] = []
    cnn.convolution.register_forward_pre_hook(lambda _module, inputs: seen.append(inputs[0]))
    ids = torch.full((40, 6), 3)
    cnn(ids)
    cnn.eval()(ids)
    dropped = seen[0] == 0
    assert 0.3 < dropped.double().mean().item() < 0.7
    torch.testing.assert_close(seen[0][~dropped], 2 * seen[1][~dropped])
    assert (seen[1] != 0).all()


def test_padding_characters_are_zero_and_stay_so_checklist_9() -> None:
    cnn = CharacterCnn(8, CHARACTERS)
    assert not cnn.characters.weight[0].any()
    cnn(torch.tensor([[2, 3, 0, 0]])).sum().backward()
    assert cnn.characters.weight.grad is not None
    assert not cnn.characters.weight.grad[0].any()


def test_frozen_vectors_get_no_gradient_and_characters_do_checklist_8() -> None:
    made = embedding().train()
    made(batch_of("cat dog")).sum().backward()
    assert made.vectors is not None
    assert made.characters is not None
    assert made.vectors.weight.grad is None
    assert not made.vectors.weight.requires_grad
    assert made.characters.characters.weight.grad is not None
    assert made.characters.characters.weight.grad.any()


def test_a_word_is_the_same_wherever_it_stands_checklist_10() -> None:
    made = embedding()
    together = made(batch_of("dog cat dog", "cat")).detach()
    assert torch.equal(together[0, 0], together[0, 2])
    assert torch.equal(together[0, 1], together[1, 0])
    torch.testing.assert_close(together[1, 0], tokens_of(made, "cat")[0])


def test_words_or_characters_may_be_left_out() -> None:
    assert embedding(None).size == 4
    assert embedding(None)(batch_of("cat dog")).shape == (1, 2, 4)
    assert embedding(filters=0).size == 5
    found = tokens_of(embedding(filters=0), "cat dog").numpy()
    np.testing.assert_array_equal(found, [VECTORS.matrix[2], np.zeros(5)])
