"""A trained reader → ONNX graphs that need no torch.

text  a question or paragraph → its token states (the recurrent network alone)
read  states of question and chain, or the two in one text → the logits of the chain
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from muppet.artifact import Manifest, new_artifact
from muppet.config import to_table
from muppet.corpus.demo import demo_paragraphs
from muppet.domain import Paragraph
from muppet.encode.inputs import text_inputs
from muppet.nn.arrays import tensors
from muppet.nn.encoder import Encoded
from muppet.nn.export import (
    EXAMPLE,
    batch_of,
    given_vectors,
    halve,
    require_exportable,
    save_graph,
    text_examples,
    write_words,
)
from muppet.nn.fuse import fuse
from muppet.nn.quantise import Fields, quantise
from muppet.nn.reader import ChainBatch, Logits, Reader, chain_batch
from muppet.nn.reader_model import ReaderModel
from muppet.nn.transformer import Transformer
from muppet.read.reader import FORMAT, KIND, LOGITS
from muppet.text.batch import make_batch
from muppet.text.layout import Reading, pad_layouts, reading_apart, reading_joined

_QUESTION = "Which words are these?"
LIMIT = 0.03
"""How far off an int8 product may be: a span's logits bear less than an encoder's means."""


def export_reader(
    directory: Path,
    model: ReaderModel,
    made_from: Mapping[str, str],
    *,
    int8: bool = False,
    half: bool = False,
) -> None:
    """Write the graphs of a reader, and what its texts are prepared with, whole or not at all."""
    require_exportable(model.config)
    config = {
        "reader": to_table(model.config),
        "int8": int8,
        "positions": model.preparer.positions,
    }
    model.reader.eval()
    with new_artifact(directory, Manifest(KIND, FORMAT, config, dict(made_from))) as partial:
        write_words(partial, model.config, model.alphabet, model.vectors)
        if model.reader.joins:
            _save_joined(partial / "read.onnx", model)
        else:
            _save_text(partial / "text.onnx", model)
            _save_compare(partial / "read.onnx", model)
        if int8:
            _quantise(partial, model)
        if model.reader.joins:
            fuse(partial / "read.onnx", _heads(model))
        if int8 or half:
            for graph in partial.glob("*.onnx"):
                halve(graph)


def _heads(model: ReaderModel) -> int:
    """Of the transformer that a joined text goes through."""
    contextual = model.reader.embedding.contextual
    assert contextual is not None
    assert isinstance(contextual.source, Transformer)
    return int(contextual.source.model.config.num_attention_heads)


def _quantise(directory: Path, model: ReaderModel) -> None:
    """What reads texts; the recurrent network's comparison stays as it is."""
    if model.reader.joins:
        quantise(directory / "read.onnx", _joined_examples(model), LIMIT)
    else:
        own = model.reader.embedding, model.config, model.preparer
        quantise(directory / "text.onnx", text_examples(*own), LIMIT)


class _Text(nn.Module):
    """Fields of a batch → states (B, T, D)"""

    def __init__(self, reader: Reader, names: tuple[str, ...]) -> None:
        super().__init__()
        self.reader = reader
        self._names = names

    def forward(self, *fields: Tensor) -> Tensor:
        return self.reader.read(batch_of(dict(zip(self._names, fields, strict=True)))).states


class _Joined(nn.Module):
    """Fields of a batch of joined texts, titles (B, T) → logits"""

    def __init__(self, reader: Reader, names: tuple[str, ...]) -> None:
        super().__init__()
        self.reader = reader
        self._names = names

    def forward(self, *fields: Tensor) -> Logits:
        *own, titles = fields
        return self.reader.read_joined(batch_of(dict(zip(self._names, own, strict=True))), titles)


class _Compare(nn.Module):
    """States of questions (B, N, D) and chains (B, T, D), and how the chains are laid out"""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(
        self, question: Tensor, question_mask: Tensor, states: Tensor, *chain: Tensor
    ) -> Logits:
        return self.reader.compare(Encoded(question, question_mask), states, ChainBatch(*chain))


def _save_text(path: Path, model: ReaderModel) -> None:
    names = text_inputs(model.config)
    texts = [model.preparer.paragraph(one) for one in EXAMPLE]
    batch = tensors(make_batch(texts, model.preparer.lexicon))
    with given_vectors(model.reader.embedding, batch, names) as inputs:
        save_graph(path, _Text(model.reader, names), inputs, ["states"])


def _save_joined(path: Path, model: ReaderModel) -> None:
    inputs = _joined(model, [(_QUESTION, EXAMPLE), (_QUESTION, EXAMPLE[:1])])
    save_graph(path, _Joined(model.reader, text_inputs(model.config)), inputs, list(LOGITS))


def _joined_examples(model: ReaderModel) -> list[Fields]:
    """Pairs of the demo corpus's paragraphs, each with a question about them."""
    some = demo_paragraphs()
    asked = [
        (f"What do {one.title} and {other.title} have in common?", (one, other))
        for one, other in zip(some[::2], some[1::2], strict=False)
    ]
    inputs = [_joined(model, asked[first : first + 4]) for first in range(0, len(asked), 4)]
    return [{name: field.numpy() for name, field in one.items()} for one in inputs]


def _joined(
    model: ReaderModel, asked: Sequence[tuple[str, Sequence[Paragraph]]]
) -> dict[str, Tensor]:
    """What the graph is given for these questions and chains."""
    ready = model.preparer
    readings = [
        reading_joined(ready, ready.question(question), [ready.paragraph(one) for one in chain])
        for question, chain in asked
    ]
    texts = [one.joined for one in readings if one.joined is not None]
    batch = tensors(make_batch(texts, ready.lexicon))
    inputs: dict[str, Tensor] = {name: getattr(batch, name) for name in text_inputs(model.config)}
    return inputs | {"titles": _layout(readings).titles}


def _save_compare(path: Path, model: ReaderModel) -> None:
    ready = model.preparer
    question, texts = ready.question(_QUESTION), [ready.paragraph(one) for one in EXAMPLE]
    chain = _layout([reading_apart(question, texts), reading_apart(question, texts[:1])])
    inputs = {
        "question": torch.randn(2, 5, model.config.dim),
        "question_mask": torch.ones(2, 5, dtype=torch.bool),
        "states": torch.randn(*chain.mask.shape, model.config.dim),
        **chain._asdict(),
    }
    save_graph(path, _Compare(model.reader), inputs, list(LOGITS))


def _layout(readings: list[Reading]) -> ChainBatch:
    return chain_batch(pad_layouts([reading.layout for reading in readings]))
