"""An exported model → a network that can be trained further: its weights, read out of its graphs.

A graph keeps most weights under torch's names. The matrix of a linear layer has lost its name, but
what is added to its product is the layer's bias, which has not. Weights that were made int8 or
float16 come back as what that has left of them. Nothing else is needed: the transformer, tuned or
not, is in the graph, and how it is built stands beside it. Only transformer networks can be read
back.
"""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, numpy_helper
from torch import Tensor, nn
from transformers import BertConfig, BertModel
from transformers.utils import logging

from muppet.artifact import checksum_file, kind_of, read_manifest
from muppet.config import ContextualConfig, EncoderConfig, ReaderConfig, TextConfig, from_table
from muppet.encode import graphs
from muppet.encode.inputs import file_of
from muppet.errors import ArtifactError, ConfigError
from muppet.nn import quantise
from muppet.nn.export import TRANSFORMER
from muppet.nn.model import Model, load_weights, new_model, save_model, trained_weights
from muppet.nn.reader_model import ReaderModel, new_reader, save_reader
from muppet.read import reader

Weights = dict[str, NDArray[np.float32]]

PRODUCTS = ("MatMul", quantise.PRODUCT)
MIX = "embedding.contextual.mix"
SOURCE = "embedding.contextual.source.model."


def write_trainable(exported: Path, directory: Path) -> None:
    """A model's directory, for a run to start from, made of an exported encoder or reader; its
    transformer gets a directory of its own beside it."""
    place = directory.with_name(f"{directory.name}-transformer")
    if kind_of(exported) == reader.KIND:
        found = recover_reader(exported, place)
        save_reader(directory, found, trained_weights(found.reader), graph_checksum(exported))
    else:
        model = recover_encoder(exported, place)
        save_model(directory, model, trained_weights(model.encoder), graph_checksum(exported))


def graph_checksum(exported: Path) -> dict[str, str]:
    """What a model made of this exported one was made from."""
    is_reader = kind_of(exported) == reader.KIND
    return {"graph": checksum_file(exported / ("read.onnx" if is_reader else "text.onnx"))}


def recover_reader(exported: Path, place: Path) -> ReaderModel:
    """The reader that was exported, ready to be trained further; its transformer goes to `place`,
    in the files that a pretrained one has."""
    manifest = read_manifest(exported, reader.KIND, reader.FORMAT, remake=reader.REMAKE)
    config = from_table(ReaderConfig, manifest.config["reader"])
    _require_transformer(exported, config)
    weights = graph_weights(file_of(exported, "read.onnx", reader.REMAKE), "reader.")
    contextual = _with_own_transformer(exported, config.contextual, weights, place)
    model = new_reader(replace(config, contextual=contextual), [], None)
    _fill(model.reader, weights, exported)
    return model


def recover_encoder(exported: Path, place: Path) -> Model:
    """The encoder that was exported, likewise."""
    manifest = read_manifest(exported, graphs.KIND, graphs.FORMAT, remake=graphs.REMAKE)
    config = from_table(EncoderConfig, manifest.config["encoder"])
    _require_transformer(exported, config)
    text = graph_weights(file_of(exported, "text.onnx", graphs.REMAKE), "encoder.")
    scores = graph_weights(file_of(exported, "relevance.onnx", graphs.REMAKE), "")
    stop = {name.removeprefix("encoder."): value for name, value in scores.items()}
    contextual = _with_own_transformer(exported, config.contextual, text, place)
    model = new_model(replace(config, contextual=contextual), [], None)
    _fill(model.encoder, text | stop | _relevance(scores), exported)
    return model


def _with_own_transformer(
    exported: Path, config: ContextualConfig, weights: Weights, place: Path
) -> ContextualConfig:
    """Write the transformer that a graph holds, and say where it is."""
    described = file_of(exported, TRANSFORMER, graphs.REMAKE)
    model = BertModel(BertConfig.from_json_file(described), add_pooling_layer=False)  # type: ignore[no-untyped-call]
    own = {name: weights.get(f"{SOURCE}{name}") for name in model.state_dict()}
    lost = sorted(name for name, value in own.items() if value is None)
    if lost:
        raise _does_not_say(exported, lost[0])
    model.load_state_dict(
        {name: _tensor(value) for name, value in own.items() if value is not None}
    )
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    model.save_pretrained(place)
    shutil.copyfile(file_of(exported, "tokenizer.json", graphs.REMAKE), place / "tokenizer.json")
    return replace(config, path=str(place))


def graph_weights(path: Path, prefix: str) -> Weights:
    """The weights of a graph by their names in torch, those of them that begin with `prefix`,
    which is taken off."""
    graph = _load(path)
    arrays = _arrays(graph)
    adders = {name: node for node in graph.node if node.op_type == "Add" for name in node.input}
    found = dict(arrays)
    for node in graph.node:
        if node.op_type in PRODUCTS and (matrix := _matrix(arrays, node)) is not None:
            bias = _bias_of(node, arrays, adders)
            found[bias.removesuffix("bias") + "weight"] = matrix.T
        elif node.op_type == "Einsum" and node.input[1] in arrays:
            logits = np.log(arrays[node.input[1]])
            found[f"{prefix}{MIX}.logits"] = logits - logits.mean()  # a softmax sees no shift
    own = {name: value for name, value in found.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): value for name, value in own.items()}


def _load(path: Path) -> GraphProto:
    try:
        return onnx.load(path).graph
    except Exception as error:
        raise ArtifactError(
            f"{path} is damaged ({error}). Export it again: `{graphs.REMAKE}`."
        ) from error


def _arrays(graph: GraphProto) -> dict[str, NDArray[Any]]:
    """What a graph carries, by its names there; equal ones are stored once, under many names, and
    float16 is cast to what is computed with."""
    arrays = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    for node in graph.node:
        given = arrays.get(node.input[0]) if node.op_type in ("Identity", "Cast") else None
        if given is not None:
            is_half = given.dtype == np.float16
            arrays[node.output[0]] = given.astype(np.float32) if is_half else given
    looked_up = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    tables = [name for name in looked_up & arrays.keys() if name.endswith(quantise.INT8)]
    for name in (one.removesuffix(quantise.INT8) for one in tables):
        arrays[name] = arrays[name + quantise.INT8] * arrays[name + quantise.SCALE]
    return arrays


def _matrix(arrays: Mapping[str, NDArray[Any]], node: NodeProto) -> NDArray[np.float32] | None:
    """The matrix of a product, (in, out), with int8 scaled back; None where it is no weight."""
    given: NDArray[np.float32] | None = arrays.get(node.input[1])
    if given is None or node.op_type != quantise.PRODUCT:
        return given
    states, numbers, _, scale, _, zero = node.input[:6]
    factor = arrays[states.removesuffix(quantise.INT8) + quantise.FACTOR]
    above = arrays[numbers].astype(np.int16) - arrays[zero]  # 0.7.0 wrote unsigned numbers
    matrix: NDArray[np.float32] = above * arrays[scale]
    return np.asarray(matrix * factor[:, None], dtype=np.float32)


def _bias_of(
    product: NodeProto, arrays: Mapping[str, NDArray[Any]], adders: Mapping[str, NodeProto]
) -> str:
    """The name of what is added to a product, by itself or behind it."""
    if len(product.input) > 6:
        return str(product.input[6])
    adder = adders.get(product.output[0])
    named = [name for name in adder.input if name in arrays] if adder else []
    return named[0] if named else ""


def _relevance(scores: Weights) -> Weights:
    """Each hop's weights. The graph knows only the sum of w2 and w3: w3 gets its mean."""
    found: Weights = {}
    for hop in range(len(scores["bias"])):
        dot = scores["factor"][hop].mean()
        own = {name: scores[name][hop] for name in ("sentence", "question", "bias")}
        own |= {"dot": dot, "product": scores["factor"][hop] - dot}
        found |= {f"relevance.{hop}.{name}": np.asarray(value) for name, value in own.items()}
    return found


def _fill(network: nn.Module, weights: Weights, exported: Path) -> None:
    wanted = trained_weights(network)
    lost = sorted(wanted.keys() - weights.keys())
    if lost:
        raise _does_not_say(exported, lost[0])
    load_weights(network, {name: _tensor(weights[name]) for name in wanted})
    network.eval()


def _does_not_say(exported: Path, name: str) -> ArtifactError:
    return ArtifactError(
        f"{exported} does not say what its {name} is, so it cannot be trained further. "
        f"Export it again with this version of muppet: `{graphs.REMAKE}`."
    )


def _tensor(array: NDArray[np.float32]) -> Tensor:
    return torch.from_numpy(np.array(array))  # a copy: a graph's own cannot be written


def _require_transformer(exported: Path, config: TextConfig) -> None:
    if config.network != "transformer":
        raise ConfigError(
            f"{exported} is a {config.network} network, and only a transformer's weights can be "
            "read out of its graphs. Train on from its run instead: a recipe with run.start."
        )
