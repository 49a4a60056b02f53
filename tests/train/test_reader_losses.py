"""Chains of one question share a softmax (checklist 24), and heads learn where they apply (25)."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from muppet.train.reader_losses import shared_norm, support


def by_hand(logits: Tensor, gold: Tensor, allowed: Tensor, question: Tensor) -> float:
    """One token at a time."""
    numbers = sorted(set(question.tolist()))
    total = 0.0
    for number in numbers:
        everything, right = 0.0, 0.0
        for row in range(len(question)):
            if question[row] != number:
                continue
            for token in range(logits.shape[1]):
                if allowed[row, token]:
                    power = math.exp(logits[row, token])
                    everything += power
                    right += power if gold[row, token] else 0.0
        total += -math.log(right / everything) if right else 0.0
    return total / len(numbers)


def random_case(seed: int, chains: int = 5, tokens: int = 6) -> tuple[Tensor, ...]:
    rng = np.random.default_rng(seed)
    question = np.sort(rng.integers(3, size=chains))
    question = np.unique(question, return_inverse=True)[1]
    logits = torch.from_numpy(rng.normal(scale=3.0, size=(chains, tokens)))
    allowed = torch.from_numpy(rng.random((chains, tokens)) < 0.8)
    gold = torch.from_numpy(rng.random((chains, tokens)) < 0.2)
    return logits, gold, allowed, torch.from_numpy(question)


@given(st.integers(0, 2**32 - 1))
def test_shared_norm_is_the_loop_by_hand_checklist_24(seed: int) -> None:
    case = random_case(seed)
    assert shared_norm(*case).item() == pytest.approx(by_hand(*case), abs=1e-9)


def test_chains_of_one_question_compete_and_those_of_another_do_not_checklist_24() -> None:
    logits = torch.tensor([[2.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
    gold = torch.tensor([[True, False], [False, False], [True, False]])
    everywhere = torch.ones_like(gold)
    louder = logits.clone()
    louder[1, 0] = 4.0  # a wrong chain of question 0
    question = torch.tensor([0, 0, 1])
    assert shared_norm(louder, gold, everywhere, question) > shared_norm(
        logits, gold, everywhere, question
    )
    other = logits.clone()
    other[2] += 3.0  # question 1 as a whole
    torch.testing.assert_close(
        shared_norm(other, gold, everywhere, question),
        shared_norm(logits, gold, everywhere, question),
    )


def test_matches_in_several_chains_are_all_gold_checklist_24() -> None:
    logits = torch.zeros(2, 2)
    one = torch.tensor([[True, False], [False, False]])
    both = torch.tensor([[True, False], [True, False]])
    everywhere, question = torch.ones(2, 2, dtype=torch.bool), torch.tensor([0, 0])
    assert shared_norm(logits, one, everywhere, question).item() == pytest.approx(math.log(4))
    assert shared_norm(logits, both, everywhere, question).item() == pytest.approx(math.log(2))


def test_a_question_without_a_match_has_no_loss_and_no_gradient_checklist_24() -> None:
    logits = torch.randn(2, 3, requires_grad=True)
    gold = torch.tensor([[False, True, False], [False, False, False]])
    loss = shared_norm(logits, gold, torch.ones_like(gold), torch.tensor([0, 1]))
    loss.backward()
    assert logits.grad is not None
    assert logits.grad[0].abs().sum() > 0
    assert not logits.grad[1].any()
    nothing = shared_norm(logits, gold & False, torch.ones_like(gold), torch.tensor([0, 1]))
    assert nothing.item() == 0.0


def test_gold_where_no_answer_may_stand_is_no_gold_checklist_24() -> None:
    logits = torch.randn(1, 3)
    gold = torch.tensor([[False, True, False]])
    allowed = torch.tensor([[True, False, True]])
    assert shared_norm(logits, gold, allowed, torch.tensor([0])).item() == 0.0


def test_padding_changes_no_loss_checklist_24() -> None:
    logits, gold, allowed, question = random_case(4)
    more = torch.randn(len(question), 3, dtype=torch.double) * 50
    nothing = torch.zeros(len(question), 3, dtype=torch.bool)
    padded = shared_norm(
        torch.cat([logits, more], 1),
        torch.cat([gold, nothing], 1),
        torch.cat([allowed, nothing], 1),
        question,
    )
    torch.testing.assert_close(padded, shared_norm(logits, gold, allowed, question))


@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_right_checklist_24(seed: int) -> None:
    logits, gold, allowed, question = random_case(seed)
    logits.requires_grad_()
    assert torch.autograd.gradcheck(lambda x: shared_norm(x, gold, allowed, question), (logits,))


def test_support_is_the_mean_over_the_sentences_that_are_known_checklist_25() -> None:
    logits = torch.tensor([[0.0, 2.0], [1.0, -3.0]], dtype=torch.double)
    gold = torch.tensor([[True, False], [True, True]])
    known = torch.tensor([[True, True], [False, False]])
    expected = (math.log(2) + math.log(1 + math.exp(2.0))) / 2
    assert support(logits, gold, known).item() == pytest.approx(expected)
    assert support(logits, gold, known & False).item() == 0.0


def test_gradients_of_support_are_right_and_none_where_it_is_unknown_checklist_25() -> None:
    logits = torch.randn(2, 3, dtype=torch.double, requires_grad=True)
    gold = torch.tensor([[True, False, True], [False, True, False]])
    known = torch.tensor([[True, True, False], [True, False, False]])
    assert torch.autograd.gradcheck(lambda x: support(x, gold, known), (logits,))
    support(logits, gold, known).backward()
    assert logits.grad is not None
    assert not logits.grad[~known].any()
