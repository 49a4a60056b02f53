"""Layers of a pretrained model → one vector per token, by learned weights (checklist 10)."""

import torch
from torch import Tensor, nn


class ScalarMix(nn.Module):
    """A learned average of layers, times a learned scalar; an even average to begin with."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor) -> Tensor:
        """(B, T, L, D) -> (B, T, D)"""
        weights = self.logits.softmax(dim=0)
        return self.gamma * torch.einsum("btld,l->btd", layers, weights)
