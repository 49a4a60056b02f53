"""The losses, by hand and by their gradients (checklist 16, 34)."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from muppet.train.losses import cross_entropy, in_batch, ranking, stopping


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def booleans(*values: int) -> Tensor:
    return torch.tensor(values).bool()


def doubles(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.double)


def test_cross_entropy_is_the_mean_minus_log_probability_checklist_16() -> None:
    logits, truth = [0.3, -1.2, 2.0], [1, 0, 0]
    expected = -(math.log(sigmoid(0.3)) + math.log(1 - sigmoid(-1.2)) + math.log(1 - sigmoid(2.0)))
    found = cross_entropy(doubles(*logits), booleans(*truth))
    assert found.item() == pytest.approx(expected / 3)


def test_both_answers_of_the_stop_head_weigh_the_same_checklist_34() -> None:
    found = stopping(doubles(0.3, -1.2, 2.0), booleans(1, 0, 0)).item()
    yes = -math.log(sigmoid(0.3))
    no = -(math.log(1 - sigmoid(-1.2)) + math.log(1 - sigmoid(2.0))) / 2
    assert found == pytest.approx((yes + no) / 2)
    assert stopping(doubles(0.3), booleans(1)).item() == pytest.approx(yes)


def ranking_by_hand(
    logits: list[float], relevant: list[bool], question: list[int], margin: float
) -> float:
    """mean over questions of max(0, margin - mean_pos + mean_neg), on probabilities."""
    hinges = []
    for number in sorted(set(question)):
        own = [row for row, asked in enumerate(question) if asked == number]
        positive = [sigmoid(logits[row]) for row in own if relevant[row]]
        negative = [sigmoid(logits[row]) for row in own if not relevant[row]]
        if positive and negative:
            gap = sum(positive) / len(positive) - sum(negative) / len(negative)
            hinges.append(max(0.0, margin - gap))
    return sum(hinges) / len(hinges) if hinges else 0.0


def test_ranking_compares_means_of_probabilities_within_a_question_checklist_16() -> None:
    """Question 0: 1 - (.9 + .7)/2 + .2 = .4; question 1: 1 - .6 + (.5 + .1)/2 = .7."""
    logits = doubles(*map(logit, [0.9, 0.7, 0.2, 0.6, 0.5, 0.1]))
    relevant, question = booleans(1, 1, 0, 1, 0, 0), torch.tensor([0, 0, 0, 1, 1, 1])
    assert ranking(logits, relevant, question, 1.0).item() == pytest.approx((0.4 + 0.7) / 2)


def test_the_hinge_is_zero_beyond_the_margin_checklist_16() -> None:
    logits = doubles(logit(0.9), logit(0.2))
    for margin, expected in [(0.5, 0.0), (0.7, 0.0), (0.8, 0.1), (1.0, 0.3)]:
        found = ranking(logits, booleans(1, 0), torch.tensor([0, 0]), margin).item()
        assert found == pytest.approx(expected, abs=1e-12)


def test_each_question_weighs_the_same_however_many_samples_it_has_checklist_16() -> None:
    logits = doubles(*map(logit, [0.5, 0.5, 0.5, 0.5, 0.9, 0.1]))
    relevant, question = booleans(1, 0, 0, 0, 1, 0), torch.tensor([0, 0, 0, 0, 1, 1])
    assert ranking(logits, relevant, question, 1.0).item() == pytest.approx((1.0 + 0.2) / 2)


def test_questions_without_positives_or_without_negatives_are_left_out_checklist_16() -> None:
    logits = doubles(*map(logit, [0.9, 0.2, 0.7, 0.6, 0.3]))
    relevant, question = booleans(1, 0, 1, 1, 0), torch.tensor([0, 0, 1, 1, 2])
    assert ranking(logits, relevant, question, 1.0).item() == pytest.approx(0.3)


def test_nothing_to_rank_is_a_loss_of_zero_that_can_be_learned_from_checklist_16() -> None:
    logits = doubles(0.3, 0.4).requires_grad_()
    loss = ranking(logits, booleans(1, 1), torch.tensor([0, 1]), 1.0)
    loss.backward()
    assert loss.item() == 0.0
    assert logits.grad is not None
    assert logits.grad.tolist() == [0.0, 0.0]


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.floats(-4, 4), st.booleans(), st.integers(0, 4)), min_size=1, max_size=9),
    st.sampled_from([0.3, 1.0]),
)
def test_ranking_is_its_formula_on_any_samples_checklist_16(
    samples: list[tuple[float, bool, int]], margin: float
) -> None:
    logits, relevant, question = (list(column) for column in zip(*samples, strict=True))
    found = ranking(doubles(*logits), torch.tensor(relevant), torch.tensor(question), margin)
    expected = ranking_by_hand(logits, relevant, question, margin)
    assert found.item() == pytest.approx(expected, abs=1e-9)


def in_batch_by_hand(
    logits: list[list[float]], positive: list[list[int]], allowed: list[list[int]]
) -> float:
    losses = []
    for row, right, usable in zip(logits, positive, allowed, strict=True):
        wrong = [math.exp(x) for x, p, a in zip(row, right, usable, strict=True) if a and not p]
        for value, p, a in zip(row, right, usable, strict=True):
            if p and a:
                losses.append(-math.log(math.exp(value) / (math.exp(value) + sum(wrong))))
    return sum(losses) / len(losses) if losses else 0.0


def test_in_batch_each_right_one_competes_with_the_wrong_ones_alone_checklist_16() -> None:
    """Two right ones do not compete with each other, and what is not allowed with none."""
    logits = [[1.0, 0.5, -0.3, 2.0], [0.1, 0.2, 0.3, 0.4]]
    positive, allowed = [[1, 1, 0, 0], [0, 0, 1, 0]], [[1, 1, 1, 0], [1, 0, 1, 1]]
    found = in_batch(
        torch.tensor(logits, dtype=torch.double), booleans(*positive), booleans(*allowed)
    )
    assert found.item() == pytest.approx(in_batch_by_hand(logits, positive, allowed), abs=1e-9)
    first = math.log(1 + math.exp(-0.3 - 1.0))
    second = math.log(1 + math.exp(-0.3 - 0.5))
    third = math.log(1 + math.exp(0.1 - 0.3) + math.exp(0.4 - 0.3))
    assert found.item() == pytest.approx((first + second + third) / 3, abs=1e-9)


def test_in_batch_a_question_with_nothing_right_teaches_nothing_checklist_16() -> None:
    logits = torch.randn(2, 3, dtype=torch.double, requires_grad=True)
    loss = in_batch(logits, booleans([0, 0, 0], [0, 0, 0]), booleans([1, 1, 1], [1, 0, 1]))
    loss.backward()
    assert loss.item() == 0.0
    assert logits.grad is not None
    assert not logits.grad.any()


def test_in_batch_what_is_not_allowed_gets_no_gradient_checklist_16() -> None:
    logits = torch.randn(1, 4, dtype=torch.double, requires_grad=True)
    in_batch(logits, booleans([1, 0, 0, 1]), booleans([1, 1, 0, 0])).backward()
    assert logits.grad is not None
    assert logits.grad[0, :2].abs().min() > 1e-3
    assert not logits.grad[0, 2:].any()


RELEVANT = booleans(1, 0, 1, 0, 1, 0, 1)
QUESTION = torch.tensor([0, 0, 0, 2, 2, 3, 4])  # 1 asks nothing, 3 and 4 have nothing to rank
POSITIVE = booleans([1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0])
ALLOWED = booleans([1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 0, 1])
LOSSES: dict[str, tuple[tuple[int, ...], Callable[[Tensor], Tensor]]] = {
    "cross-entropy": ((7,), lambda logits: cross_entropy(logits, RELEVANT)),
    "ranking": ((7,), lambda logits: ranking(logits, RELEVANT, QUESTION, 1.0)),
    "in batch": ((3, 4), lambda logits: in_batch(logits, POSITIVE, ALLOWED)),
    "stopping": ((7,), lambda logits: stopping(logits, RELEVANT)),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("cross-entropy"),
        "ranking",
        "in batch",
        pytest.param("stopping"),
    ],
)
def test_gradients_are_those_of_the_values_checklist_16(name: str) -> None:
    shape, loss = LOSSES[name]
    generator = torch.Generator().manual_seed(16)
    logits = torch.randn(*shape, generator=generator, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(loss, (logits,))
    (gradient,) = torch.autograd.grad(loss(logits), logits)
    assert gradient.isfinite().all()
    assert gradient.any()
