"""BiGRU with variational dropout (checklist 11)."""

import torch
from torch import Tensor, nn


class VariationalDropout(nn.Module):
    """Dropout with one mask for all time steps of a sequence."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, states: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)"""
        if not self.training or self.rate == 0:
            return states
        kept = states.new_empty(states.shape[0], 1, states.shape[2]).bernoulli_(1 - self.rate)
        return states * kept / (1 - self.rate)


class BiGRU(nn.Module):
    """One GRU in each direction, half of `dim` each; the backward one starts at the text's end."""

    def __init__(self, inputs: int, dim: int, dropout: float) -> None:
        super().__init__()
        self.dropout = VariationalDropout(dropout)
        self.forwards = nn.GRU(inputs, dim // 2, batch_first=True)
        self.backwards = nn.GRU(inputs, dim // 2, batch_first=True)
        for name, parameter in self.named_parameters():
            if "weight" in name:
                initialise(parameter, dim // 2)
            else:
                nn.init.zeros_(parameter)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """(B, T, inputs), (B,) -> (B, T, dim); what stands behind a text's end means nothing."""
        states = self.dropout(states)
        turned = reversal(lengths, states.shape[1])[:, :, None]  # (B, T, 1)
        ahead, _ = self.forwards(states)
        back, _ = self.backwards(states.gather(1, turned.expand_as(states)))
        return torch.cat([ahead, back.gather(1, turned.expand_as(back))], dim=2)


def initialise(weights: Tensor, size: int) -> None:
    """Truncated normal, 0.05 at the paper's sizes (checklist 11); smaller networks need more."""
    deviation = max(0.05, size**-0.5)
    nn.init.trunc_normal_(weights, std=deviation, a=-2 * deviation, b=2 * deviation)


def reversal(lengths: Tensor, width: int) -> Tensor:
    """Where each position goes when a text is turned round and its padding stays: (B, T)"""
    positions = torch.arange(width, device=lengths.device)[None, :]
    turned = lengths[:, None] - 1 - positions
    return torch.where(turned >= 0, turned, positions)
