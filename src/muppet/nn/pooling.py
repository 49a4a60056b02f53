"""Pooling over a text, and over each of its sentences: max (checklist 12), or mean (ours)."""

import torch
from torch import Tensor

EMPTY = -1e4
"""Below any state: what a maximum over nothing starts from."""


def max_over_text(states: Tensor, mask: Tensor) -> Tensor:
    """The greatest state in each dimension: (B, T, D), (B, T) -> (B, D)"""
    return states.masked_fill(~mask[:, :, None], EMPTY).amax(dim=1)


def max_over_sentences(states: Tensor, segments: Tensor, count: int) -> Tensor:
    """The same for each sentence: (B, T, D), (B, T) -> (B, S, D); an empty sentence gives zeros.

    `segments` says which sentence a token is in; padding is in sentence S, which is dropped.
    """
    nothing = states.new_full((states.shape[0], count + 1, states.shape[2]), EMPTY)
    index = segments[:, :, None].expand_as(states)
    pooled = nothing.scatter_reduce(1, index, states, "amax")[:, :count]
    return pooled.masked_fill(pooled == EMPTY, 0.0)


def mean_over_text(states: Tensor, mask: Tensor) -> Tensor:
    """The mean state: (B, T, D), (B, T) -> (B, D)"""
    weights = mask[:, :, None].to(states)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def mean_over_sentences(states: Tensor, segments: Tensor, count: int) -> Tensor:
    """The same for each sentence: (B, T, D), (B, T) -> (B, S, D); an empty sentence gives zeros."""
    sentence = torch.arange(count, device=states.device)[None, :, None]
    within = (segments[:, None, :] == sentence).to(states)  # (B, S, T)
    return within @ states / within.sum(dim=2, keepdim=True).clamp(min=1)
