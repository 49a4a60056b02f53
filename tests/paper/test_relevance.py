"""The relevance of a paragraph, and the search vector that ranks as it does (checklist 13, 14)."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from muppet.nn.relevance import Relevance

Vector = list[float]


def random_relevance(dim: int, seed: int) -> Relevance:
    """Every weight, the scalars too, is drawn anew: a zero would hide a missing term."""
    relevance = Relevance(dim).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weights in relevance.parameters():
            weights.copy_(torch.randn(weights.shape, generator=generator, dtype=torch.double))
    return relevance


def random_texts(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def rel(relevance: Relevance, sentences: list[Vector], question: Vector) -> float:
    """The paper's formula, word by word: [s; s*q; s.q; q] . [w1; w2; w3; w4] + b."""
    w1: Vector = relevance.sentence.tolist()
    w2: Vector = relevance.product.tolist()
    w4: Vector = relevance.question.tolist()
    best = -math.inf
    for s in sentences:
        total = relevance.bias.item()
        for d in range(len(question)):
            total += w1[d] * s[d]
            total += w2[d] * (s[d] * question[d])
            total += relevance.dot.item() * (s[d] * question[d])
            total += w4[d] * question[d]
        best = max(best, 1 / (1 + math.exp(-total)))
    return best


@pytest.mark.parametrize("seed", range(5))
def test_relevance_is_the_paper_s_formula_checklist_13(seed: int) -> None:
    relevance = random_relevance(6, seed)
    sentences, questions = random_texts(4, 3, 6, seed=seed + 10), random_texts(4, 6, seed=seed + 20)
    logits = relevance(sentences, torch.ones(4, 3, dtype=torch.bool), questions)
    assert logits.shape == (4,)
    for row in range(4):
        expected = rel(relevance, sentences[row].tolist(), questions[row].tolist())
        assert logits[row].sigmoid().item() == pytest.approx(expected, abs=1e-12)


def test_every_hop_s_weights_are_w1_to_w4_and_b_and_no_more_checklist_13() -> None:
    shapes = sorted(tuple(weights.shape) for weights in Relevance(7).parameters())
    assert shapes == [(), (), (7,), (7,), (7,)]


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 5), st.integers(2, 8))
def test_inner_product_search_ranks_exactly_as_relevance_checklist_14(
    seed: int, dim: int, sentences_each: int, paragraphs: int
) -> None:
    relevance = random_relevance(dim, seed)
    sentences = random_texts(paragraphs, sentences_each, dim, seed=seed + 1)
    question = random_texts(1, dim, seed=seed + 2)
    search = relevance.search_vector(question)[0].tolist()
    inner = [
        max(sum(a * b for a, b in zip(s, search, strict=True)) for s in paragraph)
        for paragraph in sentences.tolist()
    ]
    present = torch.ones(paragraphs, sentences_each, dtype=torch.bool)
    logits = relevance(sentences, present, question.expand(paragraphs, dim)).tolist()
    order = sorted(range(paragraphs), key=lambda p: -inner[p])
    assert order == sorted(range(paragraphs), key=lambda p: -logits[p])
    offset = relevance.offset(question).item()
    assert logits == pytest.approx([score + offset for score in inner], abs=1e-9)


def test_the_search_vector_is_w1_plus_w2_q_plus_w3_q_checklist_14() -> None:
    relevance = random_relevance(5, 3)
    question = random_texts(2, 5, seed=4)
    found = relevance.search_vector(question)
    for row in range(2):
        for d in range(5):
            q = question[row, d].item()
            expected = relevance.sentence[d].item() + relevance.product[d].item() * q
            assert found[row, d].item() == pytest.approx(expected + relevance.dot.item() * q)


def test_all_paragraphs_for_all_questions_get_what_each_pair_gets_alone_checklist_13() -> None:
    relevance = random_relevance(5, 8)
    sentences, questions = random_texts(4, 3, 5, seed=9), random_texts(2, 5, seed=10)
    present = torch.tensor([[1, 1, 1], [1, 0, 1], [0, 1, 0], [0, 0, 1]]).bool()
    every = relevance.of_all(sentences, present, questions)
    assert every.shape == (2, 4)
    for q in range(2):
        alone = relevance(sentences, present, questions[q].expand(4, 5))
        torch.testing.assert_close(every[q], alone)


@pytest.mark.parametrize("seed", range(5))
def test_an_absent_sentence_never_wins_checklist_4_and_13(seed: int) -> None:
    """Its vector is zero, which beats every sentence with a negative inner product."""
    relevance = random_relevance(4, seed)
    question = random_texts(1, 4, seed=seed + 1)
    against = -relevance.search_vector(question)[:, None]  # (1, 1, D), inner product negative
    sentences = torch.cat([torch.zeros(1, 1, 4).double(), against], dim=1)
    present = torch.tensor([[False, True]])
    found = relevance(sentences, present, question)
    expected = rel(relevance, against[0].tolist(), question[0].tolist())
    assert found.sigmoid().item() == pytest.approx(expected, abs=1e-12)
    torch.testing.assert_close(relevance.of_all(sentences, present, question)[0], found)


def test_a_paragraph_without_any_sentence_ranks_behind_all_others_checklist_13() -> None:
    relevance = random_relevance(4, 1)
    sentences, question = random_texts(3, 2, 4, seed=2), random_texts(1, 4, seed=3)
    present = torch.tensor([[True, True], [False, False], [True, False]])
    logits = relevance.of_all(sentences, present, question)[0]
    assert logits.argmin().item() == 1
    assert logits[1].sigmoid().item() == 0.0
