"""The relevance of a paragraph to a question, and the search vector that ranks as it does."""

import torch
from torch import Tensor, nn

from muppet.nn.recurrent import initialise

SHARPNESS = 20.0
"""A cosine of 1/2 is as likely relevant as not, one of 3/4 nearly certainly."""


class Relevance(nn.Module):
    """rel = max_i sigmoid(w1.s_i + w2.(s_i * q) + w3 (s_i.q) + w4.q + b), one hop's weights
    (checklist 13).

    Everything that holds the sentence is an inner product with the search vector
    w1 + w2 * q + w3 q (checklist 14); the rest, the offset, is the same for all paragraphs.
    Between `unit` vectors, those of a pretrained transformer, it starts as their cosine.
    """

    def __init__(self, dim: int, *, unit: bool = False) -> None:
        super().__init__()
        self.sentence = nn.Parameter(torch.zeros(dim))  # w1
        self.product = nn.Parameter(torch.zeros(dim))  # w2
        self.dot = nn.Parameter(torch.tensor(SHARPNESS if unit else dim**-0.5))  # w3
        self.question = nn.Parameter(torch.zeros(dim))  # w4
        self.bias = nn.Parameter(torch.tensor(-SHARPNESS / 2 if unit else 0.0))  # b
        if not unit:
            for weights in (self.sentence, self.product, self.question):
                initialise(weights, dim)

    def search_vector(self, question: Tensor) -> Tensor:
        """(B, D) -> (B, D)"""
        return self.sentence + self.product * question + self.dot * question

    def offset(self, question: Tensor) -> Tensor:
        """(B, D) -> (B,)"""
        return question @ self.question + self.bias

    def forward(self, sentences: Tensor, present: Tensor, question: Tensor) -> Tensor:
        """Each paragraph's logit for its question: (B, S, D), (B, S), (B, D) -> (B,)"""
        inner = torch.einsum("bsd,bd->bs", sentences, self.search_vector(question))
        return best_sentence(inner, present) + self.offset(question)

    def of_all(self, sentences: Tensor, present: Tensor, questions: Tensor) -> Tensor:
        """Every paragraph's logit for every question: (P, S, D), (P, S), (Q, D) -> (Q, P)"""
        inner = torch.einsum("psd,qd->qps", sentences, self.search_vector(questions))
        return best_sentence(inner, present[None]) + self.offset(questions)[:, None]


def best_sentence(inner: Tensor, present: Tensor) -> Tensor:
    """The best of a paragraph's sentences: (..., S), (..., S) -> (...)"""
    return inner.masked_fill(~present, -1e4).amax(dim=-1)
