"""Pooling over a text, and over each of its sentences: max (checklist 12), or mean (ours)."""

from torch import Tensor


def max_over_text(states: Tensor, mask: Tensor) -> Tensor:
    """The greatest state in each dimension: (B, T, D), (B, T) -> (B, D)"""
    return states.masked_fill(~mask[:, :, None], -1e4).amax(dim=1)


def max_over_sentences(states: Tensor, segments: Tensor, count: int) -> Tensor:
    """The same for each sentence: (B, T, D), (B, T) -> (B, S, D); an empty sentence gives zeros.

    `segments` says which sentence a token is in; padding is in sentence S, which is dropped.
    """
    pooled = states.new_zeros(states.shape[0], count + 1, states.shape[2])
    index = segments[:, :, None].expand_as(states)
    return pooled.scatter_reduce(1, index, states, "amax", include_self=False)[:, :count]


def mean_over_text(states: Tensor, mask: Tensor) -> Tensor:
    """The mean state: (B, T, D), (B, T) -> (B, D)"""
    weights = mask[:, :, None].to(states)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def mean_over_sentences(states: Tensor, segments: Tensor, count: int) -> Tensor:
    """The same for each sentence: (B, T, D), (B, T) -> (B, S, D); an empty sentence gives zeros."""
    index = segments[:, :, None]
    shape = (states.shape[0], count + 1, states.shape[2])
    total = states.new_zeros(shape).scatter_add(1, index.expand_as(states), states)
    ones = states.new_ones(*states.shape[:2], 1)
    number = states.new_zeros(*shape[:2], 1).scatter_add(1, index, ones)
    return (total / number.clamp(min=1))[:, :count]
