"""A training batch → its loss: every hop's relevance, and whether to stop (checklist 16, 34)."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from muppet.nn.arrays import tensors
from muppet.nn.encoder import Encoded, Encoder, concatenate
from muppet.train import losses
from muppet.train.batches import TrainingBatch
from muppet.train.recipe import ObjectiveConfig


@dataclass(frozen=True, slots=True)
class _Read:
    """The batch's texts after the encoder: questions, paragraphs, and their sentences."""

    questions: Encoded
    paragraphs: Encoded
    sentences: Tensor  # (P, S, D)
    present: Tensor  # (P, S)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The questions as the samples' chains, up to some hop, have reformulated them."""

    samples: NDArray[np.int64]  # (N,), those whose chains reach so far
    prefixes: NDArray[np.int64]  # (V, 1 + hops), the distinct (question, paragraphs...)
    which: NDArray[np.int64]  # (N,), each sample's prefix
    vectors: Tensor  # (V, D)


def batch_loss(
    encoder: Encoder, batch: TrainingBatch, config: ObjectiveConfig
) -> tuple[Tensor, dict[str, float]]:
    """The sum over hops, and its parts by name."""
    read = _read(encoder, batch)
    hops = batch.chain.shape[1]
    parts: dict[str, Tensor] = {}
    ends: list[_Asked] = []
    stops = bool(config.stop_weight or config.choice_weight) and encoder.config.hops > 1
    for hop in range(hops + 1 if stops else hops):
        samples = _reaching(batch, hop, config)
        if not len(samples):
            continue
        asked = _ask(encoder, batch, read, hop, samples)
        if hop < hops:
            parts |= _hop_losses(encoder, batch, read, asked, config)
        if hop > 0:
            ends.append(asked)
    if stops and ends:
        parts |= _end_losses(encoder, batch, ends, config)
    total = torch.stack(list(parts.values())).sum()
    return total, {name: float(part.detach()) for name, part in parts.items()}


def _read(encoder: Encoder, batch: TrainingBatch) -> _Read:
    """Everything through the encoder, chunk by chunk, and then padded to one shape."""
    chunks = [tensors(chunk) for chunk in batch.paragraphs]
    read = [encoder.read(chunk) for chunk in chunks]
    found = [encoder.sentences(*pair) for pair in zip(read, chunks, strict=True)]
    return _Read(
        questions=encoder.read(tensors(batch.questions)),
        paragraphs=Encoded(
            stacked([one.states for one in read]), stacked([one.mask for one in read])
        ),
        sentences=stacked([sentences for sentences, _ in found]),
        present=stacked([present for _, present in found]),
    )


def stacked(parts: list[Tensor]) -> Tensor:
    """Parts of different widths, filled up with zeros, as one: (B, T, ...)s -> (P, T, ...)"""
    width = max(part.shape[1] for part in parts)
    filled = []
    for part in parts:
        missing = part.new_zeros(part.shape[0], width - part.shape[1], *part.shape[2:])
        filled.append(torch.cat([part, missing], dim=1))
    return torch.cat(filled)


def _reaching(batch: TrainingBatch, hop: int, config: ObjectiveConfig) -> NDArray[np.int64]:
    """The samples that have a paragraph for each hop before this one.

    Where no paragraph follows, only the stop head wants to know: of gold chains alone, unless it is
    to choose between chains.
    """
    if not hop:
        return np.arange(len(batch.chain))
    lengths = _lengths(batch)
    seen = batch.question < config.stop_share * len(batch.gold)
    shown = batch.complete[:, hop - 1] & seen
    if config.choice_weight:
        shown |= batch.judged & (lengths == hop)
    return np.flatnonzero((lengths > hop) | shown)


def _lengths(batch: TrainingBatch) -> NDArray[np.int64]:
    """Of the samples' chains: (N,)"""
    return np.asarray((batch.chain >= 0).sum(axis=1))


def _ask(
    encoder: Encoder, batch: TrainingBatch, read: _Read, hop: int, samples: NDArray[np.int64]
) -> _Asked:
    """The questions before a hop."""
    rows = np.concatenate([batch.question[samples, None], batch.chain[samples, :hop]], axis=1)
    prefixes, which = np.unique(rows, axis=0, return_inverse=True)
    vectors = _questions_after(encoder, batch, read, prefixes)
    return _Asked(samples, prefixes, which.reshape(-1), vectors)


def _hop_losses(
    encoder: Encoder, batch: TrainingBatch, read: _Read, asked: _Asked, config: ObjectiveConfig
) -> dict[str, Tensor]:
    """The losses of one hop, over the samples whose chains have it."""
    hop = asked.prefixes.shape[1] - 1
    has_it = batch.chain[asked.samples, hop] >= 0
    here = asked.samples[has_it]
    row = torch.from_numpy(batch.chain[here, hop])
    relevance = encoder.relevance_at(hop)
    logits = relevance(
        read.sentences.index_select(0, row),
        read.present.index_select(0, row),
        asked.vectors.index_select(0, torch.from_numpy(asked.which[has_it])),
    )
    relevant = torch.from_numpy(batch.relevant[here, hop])
    question = torch.from_numpy(batch.question[here])
    parts = {f"cross_entropy_{hop + 1}": losses.cross_entropy(logits, relevant)}
    if config.ranking_weight:
        ranked = losses.ranking(logits, relevant, question, config.margin)
        parts[f"ranking_{hop + 1}"] = config.ranking_weight * ranked
    if config.in_batch_weight:
        right, allowed = _in_batch_targets(batch, asked.prefixes)
        some = right.any(axis=1)  # after a wrong paragraph nothing is right
        vectors = asked.vectors.index_select(0, torch.from_numpy(np.flatnonzero(some)))
        every = relevance.of_all(read.sentences, read.present, vectors)  # (V, P)
        contrast = losses.in_batch(
            every, torch.from_numpy(right[some]), torch.from_numpy(allowed[some])
        )
        parts[f"in_batch_{hop + 1}"] = config.in_batch_weight * contrast
    return parts


def _end_losses(
    encoder: Encoder, batch: TrainingBatch, ends: list[_Asked], config: ObjectiveConfig
) -> dict[str, Tensor]:
    """After every hop of every sample: is the evidence complete? And at the ends of a question's
    judged chains: in which of them is it?"""
    logits, complete, judged = [], [], []
    for asked in ends:
        hop = asked.prefixes.shape[1] - 2  # the last one of the prefix
        of_prefix = encoder.is_complete(asked.vectors)
        logits.append(of_prefix.index_select(0, torch.from_numpy(asked.which)))
        complete.append(batch.complete[asked.samples, hop])
        judged.append((batch.judged & (_lengths(batch) == hop + 1))[asked.samples])
    every, right, whole = torch.cat(logits), np.concatenate(complete), np.concatenate(judged)
    parts = {}
    if config.stop_weight:
        parts["stop"] = config.stop_weight * losses.stopping(every, torch.from_numpy(right))
    if config.choice_weight:
        question = np.concatenate([batch.question[asked.samples] for asked in ends])
        own = (question == np.arange(len(batch.gold))[:, None]) & whole  # (Q, ends)
        chosen = losses.in_batch(
            every.expand(own.shape), torch.from_numpy(own & right), torch.from_numpy(own)
        )
        parts["choice"] = config.choice_weight * chosen
    return parts


def _questions_after(
    encoder: Encoder, batch: TrainingBatch, read: _Read, prefixes: NDArray[np.int64]
) -> Tensor:
    """The question, reformulated by the paragraphs of each prefix: (V, 1 + hops) -> (V, D)"""
    numbers = torch.from_numpy(prefixes[:, 0])
    if prefixes.shape[1] == 1:
        return encoder.question(chosen(read.questions, numbers))
    if encoder.rereads:
        chunks, places = batch.texts.joined(prefixes)
        vectors = torch.cat([encoder.reread(tensors(chunk)) for chunk in chunks])
        return vectors.index_select(0, torch.from_numpy(places))
    rows = [torch.from_numpy(prefixes[:, column]) for column in range(1, prefixes.shape[1])]
    chain = [chosen(read.paragraphs, row) for row in rows]
    return encoder.reformulate(chosen(read.questions, numbers), concatenate(chain)).question


def chosen(texts: Encoded, rows: Tensor) -> Encoded:
    """Some texts, perhaps repeated; index_select, whose gradient is far faster than indexing's."""
    return Encoded(*(part.index_select(0, rows) for part in texts))


def _in_batch_targets(
    batch: TrainingBatch, prefixes: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """What is right after each prefix, and what may be compared with it: (V, P), (V, P).

    Right is the gold that is still missing, in order the next of it; after a wrong paragraph
    nothing is. Gold that is not right now, and what the chain holds, is left out.
    """
    gold = batch.gold[prefixes[:, 0]]  # (V, P)
    chain = prefixes[:, 1:]
    hops = chain.shape[1]
    held = np.zeros(gold.shape, dtype=bool)
    np.put_along_axis(held, chain, values=True, axis=1)
    places = np.take_along_axis(gold, chain, axis=1)  # (V, hops)
    on_track = (places >= 0).all(axis=1) & (held.sum(axis=1) == hops)
    ordered = batch.is_ordered[prefixes[:, 0]]
    on_track &= ~ordered | (places == np.arange(hops)).all(axis=1)
    right = (gold >= 0) & ~held & on_track[:, None]
    right &= ~ordered[:, None] | (gold == hops)
    return right, right | ((gold < 0) & ~held)
