"""question → vector; paragraph → one vector per sentence; chain → the next question.

This is the whole retrieval network: one encoder for questions and paragraphs (checklist 8-12),
relevance with weights of its own for each hop (13, 14), reformulation (15), and the stop head,
which says after each hop whether the evidence is complete (34).
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from muppet.config import EncoderConfig
from muppet.errors import ConfigError
from muppet.nn.arrays import TensorBatch
from muppet.nn.embedding import TokenEmbedding
from muppet.nn.pooling import (
    max_over_sentences,
    max_over_text,
    mean_over_sentences,
    mean_over_text,
)
from muppet.nn.recurrent import BiGRU
from muppet.nn.reformulate import Reformulated, Reformulation
from muppet.nn.relevance import SHARPNESS, Relevance


class Encoded(NamedTuple):
    """Texts whose tokens have met their context."""

    states: Tensor  # (B, T, D)
    mask: Tensor  # (B, T)


class Encoder(nn.Module):
    """The networks of retrieval, and the steps they are used in.

    The paper's network is recurrent. The transformer network has no BiGRU and no bi-attention: its
    own attention, which is pretrained, does the work of both (`reread` instead of `reformulate`).
    """

    def __init__(self, config: EncoderConfig, embedding: TokenEmbedding) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding
        self.rereads = config.network == "transformer"
        if self.rereads:
            require_only_contextual("encoder", config.dim, embedding)
        else:
            self.recurrent = BiGRU(embedding.size, config.dim, config.dropout)
        self.relevance = nn.ModuleList(
            Relevance(config.dim, unit=self.rereads) for _ in range(config.hops)
        )
        if config.hops > 1:
            self.stop = nn.Linear(config.dim, 1)
            if not self.rereads:
                self.reformulation = Reformulation(config.dim, config.attention, config.dropout)

    def read(self, batch: TensorBatch) -> Encoded:
        """Token states of questions or paragraphs: the same weights for both (checklist 11)."""
        states = self.embedding(batch)
        if not self.rereads:
            states = self.recurrent(states, batch.lengths)
        return Encoded(states, batch.mask)

    def question(self, read: Encoded) -> Tensor:
        """One vector a question: (B, D)"""
        if self.rereads:
            return normalize(mean_over_text(*read), dim=-1)
        return max_over_text(*read)

    def sentences(self, read: Encoded, batch: TensorBatch) -> tuple[Tensor, Tensor]:
        """One vector a sentence, and which sentences are there: (B, S, D), (B, S).

        At paragraph level a paragraph is one long sentence.
        """
        if self.config.granularity == "paragraph":
            return self.question(read)[:, None], batch.mask.any(dim=1, keepdim=True)
        count = batch.sentences.shape[1]
        if self.rereads:
            means = mean_over_sentences(read.states, batch.segments, count)
            return normalize(means, dim=-1), batch.sentences
        return max_over_sentences(read.states, batch.segments, count), batch.sentences

    def reformulate(self, question: Encoded, chain: Encoded) -> Reformulated:
        """The next question, from the question and all paragraphs of the chain so far."""
        out: Reformulated = self.reformulation(*question, *chain)
        return out

    def reread(self, batch: TensorBatch) -> Tensor:
        """The next question, from texts of question and chain in one (`Preparer.joined`).

        It is what became of the question's words, the first sentence, beside the chain: (B, D)
        """
        return self.question(Encoded(self.read(batch).states, batch.segments == 0))

    def relevance_at(self, hop: int) -> Relevance:
        """The weights of a hop, counted from 0; hops past the last trained one share its."""
        module = self.relevance[min(hop, len(self.relevance) - 1)]
        assert isinstance(module, Relevance)
        return module

    def is_complete(self, reformulated: Tensor) -> Tensor:
        """The stop head's logit, from the question as the chain has reformulated it: (B,)"""
        logit: Tensor = self.stop(stop_scale(self.config) * reformulated)
        return logit.squeeze(1)


def stop_scale(config: EncoderConfig) -> float:
    """By what the stop head sees vectors enlarged: unit ones are too short to tell much apart."""
    return SHARPNESS if config.network == "transformer" else 1.0


def concatenate(chain: list[Encoded]) -> Encoded:
    """The paragraphs of chains, one behind another, as one text."""
    return Encoded(
        torch.cat([one.states for one in chain], dim=1),
        torch.cat([one.mask for one in chain], dim=1),
    )


def count_parameters(module: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


def require_only_contextual(stage: str, dim: int, embedding: TokenEmbedding) -> None:
    """Refuse a transformer network that has other inputs, or another size than its transformer."""
    size = embedding.contextual.source.size if embedding.contextual else 0
    if not size == embedding.size == dim:
        raise ConfigError(
            f"{stage}.network = 'transformer' takes its tokens from the contextual input alone: "
            f"no word vectors, no character filters, and {stage}.dim = {size}, its size."
        )
