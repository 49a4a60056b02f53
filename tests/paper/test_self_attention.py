"""A text attends to itself (checklist 23)."""

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from muppet.nn.self_attention import SelfAttention

D = 4
FORMS = ["paper", "released"]
Floats = NDArray[np.float64]


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(23)


def attention(form: str) -> SelfAttention:
    made = SelfAttention(D, form).double()
    with torch.no_grad():
        for weights in made.parameters():
            weights.normal_(std=0.8)
    return made


def states(*shape: int) -> Tensor:
    return torch.randn(*shape, D, dtype=torch.double)


def everywhere(text: Tensor) -> Tensor:
    return torch.ones(text.shape[:2], dtype=torch.bool)


def attended_by_hand(module: SelfAttention, form: str, c: Floats) -> Floats:
    """One number at a time: words (N, D)."""
    w1, w2, w3 = (
        weights.detach().numpy()
        for weights in (module.pair.one, module.pair.other, module.pair.product)
    )
    bias = module.pair.bias.item() if form == "released" else 0.0
    rows = []
    for i in range(len(c)):
        powers = {
            j: math.exp(w1 @ c[i] + w2 @ c[j] + w3 @ (c[i] * c[j]) + bias)
            for j in range(len(c))
            if j != i
        }
        extra = math.exp(module.nowhere.item()) if module.nowhere is not None else 0.0
        total = sum(powers.values()) + extra
        a_i = sum((powers[j] / total * c[j] for j in powers), np.zeros(D))
        rows.append(np.concatenate([c[i], a_i, c[i] * a_i]))
    return np.stack(rows)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("words", [2, 5])
def test_it_is_its_formula_without_a_vector_back_checklist_23(form: str, words: int) -> None:
    module, text = attention(form), states(2, words)
    found = module(text, everywhere(text))
    assert found.shape == (2, words, 3 * D)
    for row in range(2):
        expected = attended_by_hand(module, form, text[row].numpy())
        np.testing.assert_allclose(found[row].detach().numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_no_word_attends_to_itself_or_to_padding_checklist_23(form: str) -> None:
    module, text = attention(form), states(2, 5)
    mask = torch.arange(5)[None] < torch.tensor([[5], [3]])
    weights = module.weights(text, mask)
    assert not weights.diagonal(dim1=1, dim2=2).any()
    assert not weights[1, :, 3:].any()
    sums = weights.sum(dim=2)[mask]
    if form == "paper":
        torch.testing.assert_close(sums, torch.ones_like(sums))
    else:
        assert (sums < 1).all()  # the rest looks nowhere


def test_the_released_form_begins_with_b_at_minus_one_checklist_23() -> None:
    fresh = SelfAttention(D, "released")
    assert fresh.nowhere is not None
    assert fresh.nowhere.item() == -1.0
    assert SelfAttention(D, "paper").nowhere is None


@pytest.mark.parametrize("form", FORMS)
def test_the_only_word_of_a_text_attends_to_nothing_whatever_the_padding_checklist_23(
    form: str,
) -> None:
    module, text = attention(form), states(1, 1)
    alone = module(text, everywhere(text))
    assert not alone[0, 0, D:].any()
    padded = torch.cat([text, 50 * states(1, 3)], dim=1)
    mask = torch.tensor([[True, False, False, False]])
    torch.testing.assert_close(module(padded, mask)[:, :1], alone)


@pytest.mark.parametrize("form", FORMS)
def test_its_gradients_are_right_checklist_23(form: str) -> None:
    module, text = attention(form), states(1, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: module(x, everywhere(x)), (text,))
