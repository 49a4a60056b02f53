"""Prepared questions with their chains → the next questions, whichever network it is."""

from collections.abc import Sequence

from torch import Tensor

from muppet.nn.arrays import tensors
from muppet.nn.encoder import Encoded, Encoder, concatenate
from muppet.text.batch import make_batch
from muppet.text.prepare import Prepared, Preparer

Chain = Sequence[Prepared]


def next_questions(
    encoder: Encoder, preparer: Preparer, questions: Sequence[Prepared], chains: Sequence[Chain]
) -> Tensor:
    """One chain for each question, all of the same number of paragraphs: -> (B, D)"""
    if encoder.rereads:
        texts = [preparer.joined(*pair) for pair in zip(questions, chains, strict=True)]
        return encoder.reread(tensors(make_batch(texts, preparer.lexicon)))
    hops = [_read(encoder, preparer, hop) for hop in zip(*chains, strict=True)]
    return encoder.reformulate(_read(encoder, preparer, questions), concatenate(hops)).question


def _read(encoder: Encoder, preparer: Preparer, texts: Sequence[Prepared]) -> Encoded:
    return encoder.read(tensors(make_batch(texts, preparer.lexicon)))
