"""Question and chain → where the answer is: span, yes/no, supporting sentences.

The paper's network is shared-norm with its HotpotQA heads (checklist 23, 25). Its first BiGRU
reads every paragraph by itself, as the encoder does, so that chains can share what was read; from
the bi-attention on a chain is one text. The transformer network reads question and chain in one
text from the start: its token states stand for everything up to the self-attention.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from muppet.config import ReaderConfig
from muppet.nn.arrays import TensorBatch
from muppet.nn.attention import BiAttention
from muppet.nn.embedding import TokenEmbedding
from muppet.nn.encoder import Encoded, require_only_contextual
from muppet.nn.pooling import max_over_sentences, max_over_text
from muppet.nn.recurrent import BiGRU, VariationalDropout
from muppet.nn.self_attention import SelfAttention
from muppet.text.layout import Layouts

NEVER = -1e4
"""The logit of what cannot be."""


class ChainBatch(NamedTuple):
    """B chains of up to T tokens and S sentences, as `text.layout.Layout` lays them out."""

    mask: Tensor  # (B, T), False for padding
    segments: Tensor  # (B, T), which sentence; padding: S
    sentences: Tensor  # (B, S); only its shape is asked for
    titles: Tensor  # (B, T)


class Logits(NamedTuple):
    """What the reader says of each chain, before any softmax."""

    start: Tensor  # (B, T)
    end: Tensor  # (B, T)
    kind: Tensor  # (B, 2), span or yes/no
    verdict: Tensor  # (B, 2), yes or no
    support: Tensor  # (B, S)


class QuestionAware(nn.Module):
    """A chain that has met its question, and then itself.

    Bi-attention with the roles switched, linear + ReLU = u; residual BiGRU, self-attention, linear
    + ReLU = v; the states are u + v.
    """

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__()
        dim, form = config.dim, config.attention
        self.dropout = VariationalDropout(config.dropout)
        self.attention = BiAttention(dim, form)
        self.merge = nn.Linear(4 * dim, dim)
        self.residual = BiGRU(dim, dim, config.dropout)
        self.self_attention = SelfAttention(dim, form)
        self.transform = nn.Linear(3 * dim, dim)

    def forward(self, question: Encoded, chain: Encoded) -> Tensor:
        """(B, N, D), (B, T, D) -> (B, T, D)"""
        found = self.attention(
            self.dropout(chain.states), chain.mask, self.dropout(question.states), question.mask
        )
        merged: Tensor = self.merge(found.states).relu()  # (B, T, D)
        read = self.residual(merged, chain.mask.sum(dim=1))
        attended = self.self_attention(self.dropout(read), chain.mask)  # (B, T, 3 D)
        added: Tensor = self.transform(attended).relu()
        return merged + added


class RecurrentSpans(nn.Module):
    """start = linear(BiGRU(x)); end = linear(BiGRU([x; start states])) (checklist 23)."""

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__()
        dim = config.dim
        self.before = BiGRU(dim, dim, config.dropout)
        self.start = nn.Linear(dim, 1)
        self.behind = BiGRU(2 * dim, dim, config.dropout)
        self.end = nn.Linear(dim, 1)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, D), (B, T) -> (B, T), (B, T)"""
        lengths = mask.sum(dim=1)
        starts = self.before(states, lengths)
        ends = self.behind(torch.cat([states, starts], dim=2), lengths)
        return self.start(starts).squeeze(2), self.end(ends).squeeze(2)


class LinearSpans(nn.Module):
    """start and end, each linear in a transformer's states."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.start = nn.Linear(dim, 1)
        self.end = nn.Linear(dim, 1)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ARG002
        """(B, T, D), (B, T) -> (B, T), (B, T)"""
        return self.start(states).squeeze(2), self.end(states).squeeze(2)


class Heads(nn.Module):
    """What HotpotQA asks for beside the span (checklist 25).

    Span or yes/no, from the greatest states of the question alone; yes or no, from those of the
    chain; and support, from those of each sentence, by an MLP of one hidden layer. A transformer
    has read the question beside the chain: there yes or no is from the question's states too.
    """

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__()
        dim = config.dim
        recurrent = config.network == "recurrent"
        self.kind = nn.Linear(dim, 2)
        self.verdict = nn.Linear(dim, 2)
        self.sentences = BiGRU(dim, dim, config.dropout) if recurrent else None
        self.support = nn.Sequential(
            nn.Linear(dim, config.hidden), nn.ReLU(), nn.Linear(config.hidden, 1)
        )

    def forward(
        self, question: Encoded, states: Tensor, chain: ChainBatch
    ) -> tuple[Tensor, Tensor, Tensor]:
        """-> kind (B, 2), verdict (B, 2), support (B, S)"""
        again, judged = states, question
        if self.sentences is not None:
            again = self.sentences(states, chain.mask.sum(dim=1))
            judged = Encoded(states, chain.mask)
        pooled = max_over_sentences(again, chain.segments, chain.sentences.shape[1])
        return (
            self.kind(max_over_text(*question)),
            self.verdict(max_over_text(*judged)),
            self.support(pooled).squeeze(2),
        )


class Reader(nn.Module):
    """The reader's networks, and the steps they are used in.

    Recurrent: `read` questions and paragraphs, `compare` each question with its chain. Transformer
    (`joins`): `read_joined` alone. Words of titles carry a learned mark, which the paper, reading
    no titles, does not have.
    """

    def __init__(self, config: ReaderConfig, embedding: TokenEmbedding) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding
        self.joins = config.network == "transformer"
        self.title = nn.Parameter(torch.zeros(config.dim))
        self.spans: nn.Module
        if self.joins:
            require_only_contextual("reader", config.dim, embedding)
            self.spans = LinearSpans(config.dim)
        else:
            self.recurrent = BiGRU(embedding.size, config.dim, config.dropout)
            self.aware = QuestionAware(config)
            self.spans = RecurrentSpans(config)
        self.heads = Heads(config) if config.heads else None

    def read(self, batch: TensorBatch) -> Encoded:
        """Token states of questions or paragraphs: the same weights for both."""
        return Encoded(self.recurrent(self.embedding(batch), batch.lengths), batch.mask)

    def compare(self, question: Encoded, states: Tensor, chain: ChainBatch) -> Logits:
        """Read questions (B, N, D) with the states of their chains' tokens (B, T, D)."""
        marked = self._marked(states, chain)
        aware = self.aware(question, Encoded(marked, chain.mask))
        return self._logits(question, aware, chain)

    def read_joined(self, batch: TensorBatch, titles: Tensor) -> Logits:
        """Texts of question and chain in one; the question is sentence 0, which has logits too,
        of no meaning: (B, T), (B, T) -> Logits"""
        of_chain = batch.mask & (batch.segments > 0)
        chain = ChainBatch(of_chain, batch.segments, batch.sentences, titles)
        states = self.embedding(batch)
        question = Encoded(states, batch.mask & (batch.segments == 0))
        return self._logits(question, self._marked(states, chain), chain)

    def _marked(self, states: Tensor, chain: ChainBatch) -> Tensor:
        return states + chain.titles[:, :, None].to(states) * self.title

    def _logits(self, question: Encoded, states: Tensor, chain: ChainBatch) -> Logits:
        start, end = self.spans(states, chain.mask)
        if self.heads is not None:
            return Logits(start, end, *self.heads(question, states, chain))
        always_span = torch.tensor([0.0, NEVER]).to(start).expand(start.shape[0], 2)
        support = torch.full_like(chain.sentences, NEVER, dtype=start.dtype)
        return Logits(start, end, always_span, torch.zeros_like(always_span), support)


def chain_batch(layouts: Layouts) -> ChainBatch:
    """Padded layouts as tensors."""
    return ChainBatch(*(torch.from_numpy(getattr(layouts, name)) for name in ChainBatch._fields))
