"""Max-pooling over texts and over sentences (checklist 12)."""

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from muppet.nn.pooling import max_over_sentences, max_over_text


def random_states(*shape: int, seed: int) -> Tensor:
    """All below zero, so that neither a zero nor padding may sneak in unseen."""
    return -torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) - 0.1


def greatest(rows: list[list[float]]) -> list[float]:
    best = [-math.inf] * len(rows[0])
    for row in rows:
        for d, value in enumerate(row):
            best[d] = max(best[d], value)
    return best


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_a_text_s_vector_is_the_maximum_over_its_own_tokens_checklist_12(
    seed: int, lengths: list[int]
) -> None:
    states = random_states(len(lengths), max(lengths), 3, seed=seed)
    mask = torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]
    states[~mask] = 5.0  # padding would win wherever it is looked at
    pooled = max_over_text(states, mask)
    for row, length in enumerate(lengths):
        assert pooled[row].tolist() == greatest(states[row, :length].tolist())


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=3),
)
def test_a_sentence_s_vector_is_the_maximum_over_its_tokens_checklist_12(
    seed: int, batch: list[list[int]]
) -> None:
    """`batch` says how many tokens each sentence of each text has; some have none."""
    width = max(1, *map(sum, batch)) + 1  # every text has padding
    most = max(map(len, batch))
    states = random_states(len(batch), width, 3, seed=seed)
    segments = torch.full((len(batch), width), most)
    for row, sizes in enumerate(batch):
        flat = [number for number, size in enumerate(sizes) for _ in range(size)]
        segments[row, : len(flat)] = torch.tensor(flat, dtype=torch.long)
    states[segments == most] = 5.0
    pooled = max_over_sentences(states, segments, most)
    assert pooled.shape == (len(batch), most, 3)
    for row in range(len(batch)):
        for number in range(most):
            own = [states[row, t].tolist() for t in range(width) if int(segments[row, t]) == number]
            expected = greatest(own) if own else [0.0, 0.0, 0.0]
            assert pooled[row, number].tolist() == expected


def test_an_empty_sentence_in_the_middle_moves_no_other_checklist_4_and_12() -> None:
    states = random_states(1, 4, 2, seed=1)
    pooled = max_over_sentences(states, torch.tensor([[0, 0, 2, 2]]), 3)
    assert pooled[0, 0].tolist() == greatest(states[0, :2].tolist())
    assert pooled[0, 1].tolist() == [0.0, 0.0]
    assert pooled[0, 2].tolist() == greatest(states[0, 2:].tolist())


def test_only_the_token_that_won_learns_checklist_12() -> None:
    states = torch.tensor([[[1.0], [3.0], [2.0], [9.0]]], requires_grad=True)
    max_over_sentences(states, torch.tensor([[0, 0, 1, 2]]), 2).sum().backward()
    assert states.grad is not None
    assert states.grad.flatten().tolist() == [0.0, 1.0, 1.0, 0.0]
