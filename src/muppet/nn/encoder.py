"""question → vector; paragraph → one vector per sentence; chain → the next question.

This is the whole retrieval network: one encoder for questions and paragraphs (checklist 8-12),
relevance with weights of its own for each hop (13, 14), reformulation (15), and the stop head,
which says after each hop whether the evidence is complete (34).
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from muppet.config import EncoderConfig
from muppet.errors import ConfigError
from muppet.nn.arrays import TensorBatch
from muppet.nn.attention import FORMS
from muppet.nn.embedding import TokenEmbedding
from muppet.nn.pooling import (
    max_over_sentences,
    max_over_text,
    mean_over_sentences,
    mean_over_text,
)
from muppet.nn.recurrent import BiGRU
from muppet.nn.reformulate import Reformulated, Reformulation
from muppet.nn.relevance import Relevance

GRANULARITIES = ("sentence", "paragraph")
POOLINGS = {
    "max": (max_over_text, max_over_sentences),
    "mean": (mean_over_text, mean_over_sentences),
}


class Encoded(NamedTuple):
    """Texts whose tokens have met their context."""

    states: Tensor  # (B, T, D)
    mask: Tensor  # (B, T)


class Encoder(nn.Module):
    """The networks of retrieval, and the steps they are used in."""

    def __init__(self, config: EncoderConfig, embedding: TokenEmbedding) -> None:
        super().__init__()
        _require(config.granularity, GRANULARITIES, "encoder.granularity")
        _require(config.attention, FORMS, "encoder.attention")
        _require(config.pooling, tuple(POOLINGS), "encoder.pooling")
        _require_skip(config, embedding)
        self._over_text, self._over_sentences = POOLINGS[config.pooling]
        self.config = config
        self.embedding = embedding
        self.recurrent = BiGRU(embedding.size, config.dim, config.dropout)
        self.relevance = nn.ModuleList(Relevance(config.dim) for _ in range(config.hops))
        if config.hops > 1:
            self.reformulation = Reformulation(config.dim, config.attention, config.dropout)
            self.stop = nn.Linear(config.dim, 1)

    def read(self, batch: TensorBatch) -> Encoded:
        """Token states of questions or paragraphs: the same weights for both (checklist 11)."""
        embedded = self.embedding(batch)
        states = self.recurrent(embedded, batch.lengths)
        if self.config.skip:
            states = states + embedded[:, :, -self.config.dim :]  # the contextual part comes last
        return Encoded(states, batch.mask)

    def question(self, read: Encoded) -> Tensor:
        """One vector a question: (B, D)"""
        return self._over_text(read.states, read.mask)

    def sentences(self, read: Encoded, batch: TensorBatch) -> tuple[Tensor, Tensor]:
        """One vector a sentence, and which sentences are there: (B, S, D), (B, S).

        At paragraph level a paragraph is one long sentence.
        """
        if self.config.granularity == "paragraph":
            return self._over_text(*read)[:, None], batch.mask.any(dim=1, keepdim=True)
        count = batch.sentences.shape[1]
        return self._over_sentences(read.states, batch.segments, count), batch.sentences

    def reformulate(self, question: Encoded, chain: Encoded) -> Reformulated:
        """The next question, from the question and all paragraphs of the chain so far."""
        out: Reformulated = self.reformulation(*question, *chain)
        return (
            out._replace(question=out.question + self.question(question))
            if self.config.skip
            else out
        )

    def relevance_at(self, hop: int) -> Relevance:
        """The weights of a hop, counted from 0; hops past the last trained one share its."""
        module = self.relevance[min(hop, len(self.relevance) - 1)]
        assert isinstance(module, Relevance)
        return module

    def is_complete(self, reformulated: Tensor) -> Tensor:
        """The stop head's logit, from the question as the chain has reformulated it: (B,)"""
        logit: Tensor = self.stop(reformulated)
        return logit.squeeze(1)


def concatenate(chain: list[Encoded]) -> Encoded:
    """The paragraphs of chains, one behind another, as one text."""
    return Encoded(
        torch.cat([one.states for one in chain], dim=1),
        torch.cat([one.mask for one in chain], dim=1),
    )


def count_parameters(module: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


def _require(value: str, allowed: tuple[str, ...], where: str) -> None:
    if value not in allowed:
        raise ConfigError(f"{where} must be one of {', '.join(allowed)}, not {value!r}.")


def _require_skip(config: EncoderConfig, embedding: TokenEmbedding) -> None:
    size = embedding.contextual.source.size if embedding.contextual else 0
    if config.skip and size != config.dim:
        raise ConfigError(
            f"encoder.skip adds the contextual input to the states, so encoder.dim must be its "
            f"size, {size}, not {config.dim}."
        )
