"""Trained networks → ONNX graphs that need no torch.

    text         token states, sentence vectors, and the attention of the first sentence
    reformulate  states of question and chain → the next question (the recurrent network alone)
    relevance    a question's vector and the hop → search vector, offset, stop logit

A question is the one sentence of its text, and a question read with its chain the first of two, so
one graph reads everything. Word vectors are given to it in place of their rows: it carries none.
"""

import math
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch import Tensor, nn

from muppet.artifact import Manifest, new_artifact
from muppet.config import TextConfig, to_table
from muppet.corpus.demo import demo_paragraphs
from muppet.domain import Paragraph
from muppet.encode.graphs import FORMAT, KIND
from muppet.encode.inputs import TEXT_INPUTS, text_inputs
from muppet.errors import ConfigError
from muppet.nn.arrays import TensorBatch, tensors
from muppet.nn.embedding import TokenEmbedding
from muppet.nn.encoder import Encoded, Encoder
from muppet.nn.model import Model
from muppet.nn.quantise import Fields, quantise
from muppet.nn.transformer import Transformer, transformer_directory
from muppet.text.batch import chunks, make_batch
from muppet.text.prepare import Preparer
from muppet.text.vectors import WordVectors
from muppet.text.vocab import Alphabet

OPSET = 18
LIMIT = 0.05
"""How far off an int8 product of the encoder may be: measured, that much costs it nothing."""
TRANSFORMER = "transformer.json"
"""How an exported network's transformer is built, for those who train it further."""
LARGE = 1024
"""Weights of fewer numbers are not worth making smaller."""
EXAMPLES = 1024
"""Words that are read together to see what a graph computes."""
EXAMPLE = (
    Paragraph("1", "A title", ("One sentence of some words.", " Another one.")),
    Paragraph("2", "Another title", ("Fewer words.",)),
)


def export_model(
    directory: Path,
    model: Model,
    made_from: Mapping[str, str],
    *,
    int8: bool = False,
    half: bool = False,
) -> None:
    """Write the graphs of a model, and what its texts are prepared with, whole or not at all."""
    require_exportable(model.config)
    config = {
        "encoder": to_table(model.config),
        "int8": int8,
        "positions": model.preparer.positions,
    }
    model.encoder.eval()
    with new_artifact(directory, Manifest(KIND, FORMAT, config, dict(made_from))) as partial:
        write_words(partial, model.config, model.alphabet, model.vectors)
        _save_text(partial / "text.onnx", model)
        _save_relevance(partial / "relevance.onnx", model.encoder)
        if model.config.hops > 1 and not model.encoder.rereads:
            _save_reformulation(partial / "reformulate.onnx", model.encoder)
        if int8:
            own = model.encoder.embedding, model.config, model.preparer
            quantise(partial / "text.onnx", text_examples(*own), LIMIT)
        if int8 or half:
            halve(partial / "text.onnx")


def require_exportable(config: TextConfig) -> None:
    if config.contextual.kind == "elmo":
        raise ConfigError("A network with ELMo cannot be exported: it is for experiments alone.")


def write_words(
    directory: Path, config: TextConfig, alphabet: Alphabet, vectors: WordVectors | None
) -> None:
    """What an exported model's texts are prepared with."""
    (directory / "alphabet.txt").write_text(alphabet.characters, encoding="utf-8")
    if vectors is not None:
        vectors.save(directory / "vectors")
    if config.contextual.kind == "transformer":
        source = transformer_directory(config.contextual.path)
        shutil.copyfile(source / "tokenizer.json", directory / "tokenizer.json")
        shutil.copyfile(source / "config.json", directory / TRANSFORMER)


def halve(path: Path) -> None:
    """Weights as float16, in place; what is computed stays float32: onnxruntime casts them once,
    when it opens the graph."""
    model = onnx.load(path)
    graph, casts = model.graph, []
    for weights in graph.initializer:
        if weights.data_type == onnx.TensorProto.FLOAT and math.prod(weights.dims) >= LARGE:
            name, half = weights.name, numpy_helper.to_array(weights).astype(np.float16)
            weights.CopyFrom(numpy_helper.from_array(half, f"{name}.half"))
            casts.append(
                helper.make_node("Cast", [f"{name}.half"], [name], to=onnx.TensorProto.FLOAT)
            )
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.save(model, path)


def text_examples(embedding: TokenEmbedding, config: TextConfig, ready: Preparer) -> list[Fields]:
    """What a graph is given that reads single texts: the demo corpus."""
    texts = [ready.paragraph(one) for one in demo_paragraphs()]
    found: list[Fields] = []
    for some in chunks([len(text.types) for text in texts], EXAMPLES):
        batch = tensors(make_batch(texts[some], ready.lexicon))
        with given_vectors(embedding, batch, text_inputs(config)) as inputs, torch.no_grad():
            found.append({name: field.numpy() for name, field in inputs.items()})
    return found


class _Text(nn.Module):
    """Fields of a batch → states (B, T, D), sentence vectors (B, S, D), attention (B, T).

    The attention is the last layer's, of the first sentence to every token; recurrent networks
    have none here, and give zeros.
    """

    def __init__(self, encoder: Encoder, names: tuple[str, ...]) -> None:
        super().__init__()
        self.encoder = encoder
        self._names = names

    def forward(self, *fields: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        batch = batch_of(dict(zip(self._names, fields, strict=True)))
        contextual = self.encoder.embedding.contextual
        if self.encoder.rereads and contextual is not None:
            assert isinstance(contextual.source, Transformer)
            layers, attention = contextual.source.layers_and_attention(batch)
            read = Encoded(contextual.mix(layers), batch.mask)
        else:
            read = self.encoder.read(batch)
            attention = torch.zeros_like(batch.mask, dtype=torch.float32)
        vectors, _ = self.encoder.sentences(read, batch)
        return read.states, vectors, attention


class _Reformulate(nn.Module):
    """States of question and chain → the next question, and where the attention went."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(
        self, question: Tensor, question_mask: Tensor, chain: Tensor, chain_mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        out = self.encoder.reformulate(Encoded(question, question_mask), Encoded(chain, chain_mask))
        seen = (out.salience[:, None, :] @ out.towards).squeeze(1)  # (B, M)
        return out.question, out.salience, seen


class _Relevance(nn.Module):
    """(B, D) questions, (1,) hop → search vectors (B, D), offsets (B,), stop logits (B,)"""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        hops = [encoder.relevance_at(hop) for hop in range(encoder.config.hops)]
        self.sentence = nn.Parameter(torch.stack([one.sentence for one in hops]))
        self.factor = nn.Parameter(torch.stack([one.product + one.dot for one in hops]))
        self.question = nn.Parameter(torch.stack([one.question for one in hops]))
        self.bias = nn.Parameter(torch.stack([one.bias for one in hops]))
        self.encoder = encoder

    def forward(self, questions: Tensor, hop: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        search = self.sentence[hop] + self.factor[hop] * questions
        offset = (questions * self.question[hop]).sum(dim=1) + self.bias[hop]
        stops = self.encoder.config.hops > 1
        stop = self.encoder.is_complete(questions) if stops else torch.zeros_like(offset)
        return search, offset, stop


def _save_text(path: Path, model: Model) -> None:
    names = text_inputs(model.config)
    ready = model.preparer
    batch = tensors(make_batch([ready.paragraph(one) for one in EXAMPLE], ready.lexicon))
    with given_vectors(model.encoder.embedding, batch, names) as inputs:
        save_graph(path, _Text(model.encoder, names), inputs, ["states", "vectors", "attention"])


@contextmanager
def given_vectors(
    embedding: TokenEmbedding, batch: TensorBatch, names: tuple[str, ...]
) -> Iterator[dict[str, Tensor]]:
    """The fields of a batch, with word vectors in place of their rows; inside the block the
    embedding takes them as they are."""
    table = embedding.vectors
    inputs: dict[str, Tensor] = {name: getattr(batch, name) for name in names}
    if table is not None:
        inputs["vector_rows"] = table(batch.vector_rows)
        embedding.vectors = nn.Identity()  # type: ignore[assignment]
    try:
        yield inputs
    finally:
        embedding.vectors = table


def _save_relevance(path: Path, encoder: Encoder) -> None:
    inputs = {"questions": torch.zeros(2, encoder.config.dim), "hop": torch.tensor([0])}
    save_graph(path, _Relevance(encoder), inputs, ["search", "offset", "complete"])


def _save_reformulation(path: Path, encoder: Encoder) -> None:
    states, mask = torch.randn(2, 5, encoder.config.dim), torch.ones(2, 5, dtype=torch.bool)
    more = torch.ones(2, 7, dtype=torch.bool)
    inputs = {
        "question": states,
        "question_mask": mask,
        "chain": torch.randn(2, 7, encoder.config.dim),
        "chain_mask": more,
    }
    outputs = ["next", "question_attention", "chain_attention"]
    save_graph(path, _Reformulate(encoder), inputs, outputs)


def save_graph(
    path: Path, module: nn.Module, inputs: dict[str, Tensor], outputs: list[str]
) -> None:
    """Trace a module on these inputs; every axis of them may have another size later."""
    axes = {
        name: {axis: f"{name}_{axis}" for axis in range(tensor.dim())}
        for name, tensor in inputs.items()
    }
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # those of tracing: every axis that varies is named
        torch.onnx.export(
            module.eval(),
            tuple(inputs.values()),
            str(path),
            input_names=list(inputs),
            output_names=outputs,
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )


def batch_of(fields: Mapping[str, Tensor]) -> TensorBatch:
    """A batch of what a network reads; the rest is not looked at."""
    nothing = torch.zeros(0)
    given = {name: fields.get(name, nothing) for name in TEXT_INPUTS}
    if "words" not in fields:
        given["words"] = fields["segments"]  # of the same shape, and only its shape is asked for
    return TensorBatch(**given, spellings=(), frozen=None)
