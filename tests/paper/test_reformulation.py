"""Bi-attention and the reformulated question (checklist 15)."""

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from muppet.nn.attention import BiAttention
from muppet.nn.encoder import Encoded, concatenate
from muppet.nn.reformulate import Reformulated, Reformulation

D = 4
FORMS = ["paper", "released"]
Floats = NDArray[np.float64]


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(15)


def randomised(module: torch.nn.Module) -> None:
    with torch.no_grad():
        for weights in module.parameters():
            weights.normal_(std=0.8)


def attention(form: str) -> BiAttention:
    made = BiAttention(D, form).double()
    randomised(made)
    return made


def reformulation(form: str) -> Reformulation:
    made = Reformulation(D, form, dropout=0.2).double().eval()
    randomised(made)
    return made


def states(*shape: int) -> Tensor:
    return torch.randn(*shape, D, dtype=torch.double)


def everywhere(text: Tensor) -> Tensor:
    return torch.ones(text.shape[:2], dtype=torch.bool)


def array(tensor: Tensor) -> Floats:
    return tensor.detach().numpy()


def softmax(values: list[float]) -> list[float]:
    powers = [math.exp(value) for value in values]
    return [power / sum(powers) for power in powers]


def attended_by_hand(module: BiAttention, form: str, q: Floats, p: Floats) -> Floats:
    """Checklist 15, one number at a time: question words (N, D), paragraph words (M, D)."""
    w1, w2, w3 = array(module.one), array(module.other), array(module.product)
    bias = module.bias.item() if form == "released" else 0.0
    scores = [
        [
            sum(w1[d] * q[i, d] + w2[d] * p[j, d] + w3[d] * q[i, d] * p[j, d] for d in range(D))
            + bias
            for j in range(len(p))
        ]
        for i in range(len(q))
    ]
    beta = softmax([max(row) for row in scores])
    a_p = sum(beta[i] * q[i] for i in range(len(q)))  # one vector for the whole question
    rows = []
    for i in range(len(q)):
        alpha = softmax(scores[i])
        a_i = sum(alpha[j] * p[j] for j in range(len(p)))
        last = a_p * a_i if form == "paper" else q[i] * a_p
        rows.append(np.concatenate([q[i], a_i, q[i] * a_i, last]))
    return np.stack(rows)


def gru_by_hand(weights: dict[str, Floats], inputs: Floats) -> Floats:
    """One direction of a GRU: reset, update, candidate."""
    half = D // 2
    hidden, found = np.zeros(half), []

    def gate(number: int, x: Floats, h: Floats) -> tuple[Floats, Floats]:
        rows = slice(number * half, (number + 1) * half)
        from_input = weights["weight_ih_l0"][rows] @ x + weights["bias_ih_l0"][rows]
        return from_input, weights["weight_hh_l0"][rows] @ h + weights["bias_hh_l0"][rows]

    for x in inputs:
        reset = 1 / (1 + np.exp(-sum(gate(0, x, hidden))))
        update = 1 / (1 + np.exp(-sum(gate(1, x, hidden))))
        from_input, from_hidden = gate(2, x, hidden)
        candidate = np.tanh(from_input + reset * from_hidden)
        hidden = (1 - update) * candidate + update * hidden
        found.append(hidden)
    return np.stack(found)


def reformulated_by_hand(module: Reformulation, form: str, q: Floats, p: Floats) -> Floats:
    attended = attended_by_hand(module.attention, form, q, p)
    merge, transform = module.merge, module.transform
    u = np.stack([np.maximum(array(merge.weight) @ row + array(merge.bias), 0) for row in attended])
    residual = module.residual
    ahead, back = (
        {name: array(weights) for name, weights in gru.named_parameters()}
        for gru in (residual.forwards, residual.backwards)
    )
    both = np.concatenate([gru_by_hand(ahead, u), gru_by_hand(back, u[::-1])[::-1]], axis=1)
    v = np.stack(
        [np.maximum(array(transform.weight) @ row + array(transform.bias), 0) for row in both]
    )
    return np.array([max(u[i, d] + v[i, d] for i in range(len(q))) for d in range(D)])


@pytest.mark.parametrize("form", FORMS)
def test_attention_is_its_formula_and_concatenates_in_its_order_checklist_15(form: str) -> None:
    module, q, p = attention(form), states(2, 3), states(2, 5)
    found = module(q, everywhere(q), p, everywhere(p))
    assert found.states.shape == (2, 3, 4 * D)
    for row in range(2):
        expected = attended_by_hand(module, form, array(q[row]), array(p[row]))
        np.testing.assert_allclose(array(found.states[row]), expected, atol=1e-12)


def test_the_two_forms_differ_in_the_last_quarter_alone_checklist_15() -> None:
    q, p = states(1, 3), states(1, 5)
    paper, released = attention("paper"), attention("released")
    released.load_state_dict(paper.state_dict() | {"bias": torch.tensor(0.0).double()})
    ours = paper(q, everywhere(q), p, everywhere(p)).states
    theirs = released(q, everywhere(q), p, everywhere(p)).states
    torch.testing.assert_close(ours[:, :, : 3 * D], theirs[:, :, : 3 * D])
    assert not torch.allclose(ours[:, :, 3 * D :], theirs[:, :, 3 * D :])


def test_only_the_released_form_has_a_bias_checklist_15() -> None:
    names = {form: {name for name, _ in attention(form).named_parameters()} for form in FORMS}
    assert names["released"] - names["paper"] == {"bias"}
    module, q, p = attention("released"), states(1, 2), states(1, 3)
    before = module.scores(q, p)
    with torch.no_grad():
        module.bias += 2.0
    torch.testing.assert_close(module.scores(q, p), before + 2.0)


@pytest.mark.parametrize("form", FORMS)
def test_attention_weights_sum_to_one_and_padding_gets_none_checklist_15(form: str) -> None:
    module, q, p = attention(form), states(3, 4), states(3, 6)
    q_mask = torch.arange(4)[None] < torch.tensor([[4], [1], [3]])
    p_mask = torch.arange(6)[None] < torch.tensor([[2], [6], [5]])
    found = module(q, q_mask, p, p_mask)
    ones = torch.ones(3, 4, dtype=torch.double)
    torch.testing.assert_close(found.towards.sum(dim=2), ones)
    torch.testing.assert_close(found.salience.sum(dim=1), ones[:, 0])
    assert not found.towards[~p_mask[:, None, :].expand(3, 4, 6)].any()
    assert not found.salience[~q_mask].any()
    assert (found.salience[q_mask] > 0).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("words", [1, 3])
def test_the_next_question_is_the_maximum_of_u_plus_v_checklist_15(form: str, words: int) -> None:
    module, q, p = reformulation(form), states(2, words), states(2, 5)
    found = module(q, everywhere(q), p, everywhere(p))
    assert found.question.shape == (2, D)
    for row in range(2):
        expected = reformulated_by_hand(module, form, array(q[row]), array(p[row]))
        np.testing.assert_allclose(array(found.question[row]), expected, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_a_chain_of_any_length_reformulates_as_one_long_text_checklist_34(
    form: str, hops: int
) -> None:
    module, q = reformulation(form), states(1, 3)
    paragraphs = [states(1, length) for length in (4, 2, 5)[:hops]]
    padded = [
        Encoded(
            torch.cat([p, states(1, 2)], dim=1), torch.tensor([[True] * p.shape[1] + [False] * 2])
        )
        for p in paragraphs
    ]  # padding stands between the paragraphs of a chain
    found = module(q, everywhere(q), *concatenate(padded))
    joined = np.concatenate([array(p[0]) for p in paragraphs])
    expected = reformulated_by_hand(module, form, array(q[0]), joined)
    np.testing.assert_allclose(array(found.question[0]), expected, atol=1e-12)


def test_every_paragraph_of_the_chain_has_a_say_checklist_34() -> None:
    module, q = reformulation("paper"), states(1, 3)
    first, second = (Encoded(p, everywhere(p)) for p in (states(1, 4), states(1, 2)))
    other = Encoded(first.states + 1.0, first.mask)

    def asked(*chain: Encoded) -> Tensor:
        out: Reformulated = module(q, everywhere(q), *concatenate(list(chain)))
        return out.question

    both = asked(first, second)
    assert not torch.allclose(both, asked(first))
    assert not torch.allclose(both, asked(second))
    assert not torch.allclose(both, asked(other, second))


@pytest.mark.parametrize("form", FORMS)
def test_padding_on_either_side_changes_no_question_checklist_15(form: str) -> None:
    module, q, p = reformulation(form), states(2, 3), states(2, 5)
    plain = module(q, everywhere(q), p, everywhere(p))
    wide_q, wide_p = (torch.cat([text, 50 * states(2, 4)], dim=1) for text in (q, p))
    q_mask = torch.arange(7)[None].expand(2, 7) < 3
    p_mask = torch.arange(9)[None].expand(2, 9) < 5
    padded = module(wide_q, q_mask, wide_p, p_mask)
    torch.testing.assert_close(padded.question, plain.question, atol=1e-9, rtol=0)
    torch.testing.assert_close(padded.towards[:, :3, :5], plain.towards, atol=1e-9, rtol=0)
    torch.testing.assert_close(padded.salience[:, :3], plain.salience, atol=1e-9, rtol=0)


def test_batch_mates_change_no_question_checklist_15() -> None:
    module, q, p = reformulation("paper"), states(3, 4), states(3, 6)
    q_mask = torch.arange(4)[None] < torch.tensor([[4], [1], [3]])
    p_mask = torch.arange(6)[None] < torch.tensor([[2], [6], [5]])
    together = module(q, q_mask, p, p_mask).question
    for row in range(3):
        words, chain = q[row, q_mask[row]][None], p[row, p_mask[row]][None]
        alone = module(words, everywhere(words), chain, everywhere(chain)).question[0]
        torch.testing.assert_close(together[row], alone, atol=1e-9, rtol=0)


def test_the_residual_bigru_is_dropped_in_training_only_checklist_11_and_15() -> None:
    module, q, p = reformulation("paper"), states(1, 3), states(1, 5)
    quiet = module(q, everywhere(q), p, everywhere(p)).question
    assert torch.equal(quiet, module(q, everywhere(q), p, everywhere(p)).question)
    module.train()
    noisy = [module(q, everywhere(q), p, everywhere(p)).question for _ in range(8)]
    assert any(not torch.allclose(one, quiet) for one in noisy)
