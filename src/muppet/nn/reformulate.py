"""(question, chain so far) → the next question (checklist 15)."""

from typing import NamedTuple

from torch import Tensor, nn

from muppet.nn.attention import BiAttention
from muppet.nn.pooling import max_over_text
from muppet.nn.recurrent import BiGRU


class Reformulated(NamedTuple):
    """The next question, and the words of question and chain that made it."""

    question: Tensor  # (B, D)
    towards: Tensor  # (B, N, M)
    salience: Tensor  # (B, N)


class Reformulation(nn.Module):
    """Bi-attention, linear + ReLU = u; residual BiGRU, linear + ReLU = v; max over words of u + v.

    The chain is the token states of all its paragraphs, one after another, so it may be of any
    length: one hop, two, or four.
    """

    def __init__(self, dim: int, form: str, dropout: float) -> None:
        super().__init__()
        self.attention = BiAttention(dim, form)
        self.merge = nn.Linear(4 * dim, dim)
        self.residual = BiGRU(dim, dim, dropout)
        self.transform = nn.Linear(dim, dim)

    def forward(
        self, question: Tensor, question_mask: Tensor, chain: Tensor, chain_mask: Tensor
    ) -> Reformulated:
        """(B, N, D), (B, N), (B, M, D), (B, M) -> Reformulated"""
        attended = self.attention(question, question_mask, chain, chain_mask)
        merged = self.merge(attended.states).relu()  # (B, N, D)
        lengths = question_mask.sum(dim=1)
        added = self.transform(self.residual(merged, lengths)).relu()
        return Reformulated(
            max_over_text(merged + added, question_mask), attended.towards, attended.salience
        )
