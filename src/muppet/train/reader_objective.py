"""A batch of the reader's → what it says of each chain, and the loss of that (checklist 24, 25)."""

from dataclasses import fields

import torch
from torch import Tensor

from muppet.nn.arrays import tensors
from muppet.nn.encoder import Encoded
from muppet.nn.reader import Logits, Reader, chain_batch
from muppet.train import reader_losses as losses
from muppet.train.objective import chosen, stacked
from muppet.train.reader_batches import ChainChunk, ReaderBatch
from muppet.train.reader_recipe import ReaderObjectiveConfig


def reader_loss(
    reader: Reader, batch: ReaderBatch, config: ReaderObjectiveConfig
) -> tuple[Tensor, dict[str, float]]:
    """The weighted sum of the losses, and its parts by name."""
    logits = read_chains(reader, batch)
    labels = {one.name: torch.from_numpy(getattr(batch.labels, one.name))
              for one in fields(batch.labels)}  # fmt: skip
    question, allowed = labels["question"], labels["allowed"]
    parts = {
        "start": losses.shared_norm(logits.start, labels["start"], allowed, question),
        "end": losses.shared_norm(logits.end, labels["end"], allowed, question),
    }
    if reader.heads is not None:
        both = torch.ones_like(labels["kind"])
        kind = losses.shared_norm(logits.kind, labels["kind"], both, question)
        verdict = losses.shared_norm(logits.verdict, labels["verdict"], both, question)
        support = losses.support(logits.support, labels["support"], labels["known"])
        parts["kind"] = config.kind_weight * kind
        parts["verdict"] = config.verdict_weight * verdict
        parts["support"] = config.support_weight * support
    total = torch.stack(list(parts.values())).sum()
    return total, {name: float(part.detach()) for name, part in parts.items()}


def read_chains(reader: Reader, batch: ReaderBatch) -> Logits:
    """What the reader says of all chains, in the batch's order: (N, T), (N, S)"""
    parts = _read_joined(reader, batch) if reader.joins else _read_apart(reader, batch)
    return Logits(*(stacked(list(some)) for some in zip(*parts, strict=True)))


def _read_joined(reader: Reader, batch: ReaderBatch) -> list[Logits]:
    found = []
    for chunk in batch.chunks:
        assert chunk.joined is not None
        titles = torch.from_numpy(chunk.layouts.titles)
        found.append(reader.read_joined(tensors(chunk.joined), titles))
    return found


def _read_apart(reader: Reader, batch: ReaderBatch) -> list[Logits]:
    """Every text through the first BiGRU once, then each chain with its question."""
    assert batch.questions is not None
    questions = reader.read(tensors(batch.questions))
    paragraphs = stacked([reader.read(tensors(some)).states for some in batch.paragraphs])
    flat = paragraphs.flatten(0, 1)  # (P, width, D) -> (P width, D)
    return [_compare(reader, questions, flat, chunk) for chunk in batch.chunks]


def _compare(reader: Reader, questions: Encoded, flat: Tensor, chunk: ChainChunk) -> Logits:
    rows = torch.from_numpy(chunk.tokens)  # (B, T)
    states = flat.index_select(0, rows.flatten()).reshape(*rows.shape, -1)
    question = chosen(questions, torch.from_numpy(chunk.question))
    return reader.compare(question, states, chain_batch(chunk.layouts))
