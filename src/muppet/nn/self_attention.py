"""Attention of a text to itself (checklist 23)."""

import torch
from torch import Tensor, nn

from muppet.nn.attention import BiAttention


class SelfAttention(nn.Module):
    """Each word attends to the other words of its text, never to itself.

    a_ij as in bi-attention; alpha = softmax over j != i; out_i = [c_i; a_i; c_i*a_i]: there is no
    vector back from the other text. The released code adds a learned exp(b), b = -1 at first, to
    the denominator, so that a word may look nowhere.
    """

    def __init__(self, dim: int, form: str) -> None:
        super().__init__()
        self.pair = BiAttention(dim, form)  # its scores alone
        self.nowhere = nn.Parameter(torch.tensor(-1.0)) if form == "released" else None

    def weights(self, states: Tensor, mask: Tensor) -> Tensor:
        """alpha: (B, N, D), (B, N) -> (B, N, N); a word without others attends to nothing."""
        words = torch.arange(states.shape[1], device=states.device)
        allowed = mask[:, None, :] & (words[:, None] != words)[None]  # (B, N, N)
        scores = self.pair.scores(states, states).masked_fill(~allowed, -1e4)
        if self.nowhere is None:
            return scores.softmax(dim=2) * allowed
        nowhere = self.nowhere.expand(*scores.shape[:2], 1)
        weights = torch.cat([scores, nowhere], dim=2).softmax(dim=2)
        return weights[:, :, :-1] * allowed

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """(B, N, D), (B, N) -> (B, N, 3 D)"""
        attended = self.weights(states, mask) @ states
        return torch.cat([states, attended, states * attended], dim=2)
