"""Bidirectional attention between two texts (checklist 15; the reader switches their roles)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Attended(NamedTuple):
    """What attention found: new states of the one text, and where it looked in both."""

    states: Tensor  # (B, N, 4 D)
    towards: Tensor  # (B, N, M), over the other text: sums to 1
    salience: Tensor  # (B, N), over the one text: sums to 1


class BiAttention(nn.Module):
    """The words of one text (c) attend to those of another (o).

    a_ij = w1.c_i + w2.o_j + w3.(c_i * o_j); alpha = softmax_j; a_i = sum_j alpha_ij o_j;
    beta = softmax_i(max_j a_ij); back = sum_i beta_i c_i; out_i = [c_i; a_i; c_i*a_i; back*a_i].
    The released code adds a bias to a_ij and ends with c_i*back instead.
    """

    def __init__(self, dim: int, form: str) -> None:
        super().__init__()
        self.form = form
        self.one = nn.Parameter(torch.empty(dim))  # w1
        self.other = nn.Parameter(torch.empty(dim))  # w2
        self.product = nn.Parameter(torch.empty(dim))  # w3
        for weights in (self.one, self.other, self.product):
            nn.init.trunc_normal_(weights, std=dim**-0.5, a=-1, b=1)
        if form == "released":
            self.bias = nn.Parameter(torch.tensor(0.0))

    def scores(self, one: Tensor, other: Tensor) -> Tensor:
        """a_ij: (B, N, D), (B, M, D) -> (B, N, M)"""
        scores = (
            (one @ self.one)[:, :, None]
            + (other @ self.other)[:, None, :]
            + (one * self.product) @ other.transpose(1, 2)
        )
        return scores + self.bias if self.form == "released" else scores

    def forward(self, one: Tensor, one_mask: Tensor, other: Tensor, other_mask: Tensor) -> Attended:
        """(B, N, D), (B, N), (B, M, D), (B, M) -> Attended"""
        scores = self.scores(one, other).masked_fill(~other_mask[:, None, :], -1e4)
        towards = scores.softmax(dim=2)
        attended = towards @ other  # (B, N, D)
        best = scores.amax(dim=2).masked_fill(~one_mask, -1e4)  # (B, N)
        salience = best.softmax(dim=1)
        back = (salience[:, None, :] @ one).expand_as(one)  # (B, N, D)
        last = back * attended if self.form == "paper" else one * back
        return Attended(torch.cat([one, attended, one * attended, last], dim=2), towards, salience)
