"""An exported model → a network that can be trained further: its weights, read out of its graphs.

A graph keeps most weights under torch's names. The matrix of a linear layer has lost its name, but
what is added to its product is the layer's bias, which has not. Weights that were made int8 or
float16 come back as what that has left of them; the layers of a transformer that were never tuned
come from the pretrained files again. Only transformer networks can be read back.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, numpy_helper
from torch import Tensor, nn

from muppet.artifact import checksum_file, kind_of, read_manifest
from muppet.config import EncoderConfig, ReaderConfig, TextConfig, from_table
from muppet.encode import graphs
from muppet.encode.inputs import file_of
from muppet.errors import ArtifactError, ConfigError
from muppet.nn.model import Model, load_weights, new_model, save_model, trained_weights
from muppet.nn.reader_model import ReaderModel, new_reader, save_reader
from muppet.read import reader

Weights = dict[str, NDArray[np.float32]]

PRODUCTS = ("MatMul", "MatMulInteger")
BETWEEN = ("Cast", "Mul")
"""What stands between an int8 product and its bias: the way back to its scale."""
MIX = "embedding.contextual.mix"


def write_trainable(exported: Path, directory: Path) -> None:
    """A model's directory, for a run to start from, made of an exported encoder or reader."""
    if kind_of(exported) == reader.KIND:
        found = recover_reader(exported)
        save_reader(directory, found, trained_weights(found.reader), graph_checksum(exported))
    else:
        model = recover_encoder(exported)
        save_model(directory, model, trained_weights(model.encoder), graph_checksum(exported))


def graph_checksum(exported: Path) -> dict[str, str]:
    """What a model made of this exported one was made from."""
    is_reader = kind_of(exported) == reader.KIND
    return {"graph": checksum_file(exported / ("read.onnx" if is_reader else "text.onnx"))}


def recover_reader(exported: Path) -> ReaderModel:
    """The reader that was exported, ready to be trained further."""
    manifest = read_manifest(exported, reader.KIND, reader.FORMAT, remake=reader.REMAKE)
    config = from_table(ReaderConfig, manifest.config["reader"])
    _require_transformer(exported, config)
    model = new_reader(config, [], None)
    weights = graph_weights(file_of(exported, "read.onnx", reader.REMAKE), "reader.")
    _fill(model.reader, weights, exported)
    return model


def recover_encoder(exported: Path) -> Model:
    """The encoder that was exported, ready to be trained further."""
    manifest = read_manifest(exported, graphs.KIND, graphs.FORMAT, remake=graphs.REMAKE)
    config = from_table(EncoderConfig, manifest.config["encoder"])
    _require_transformer(exported, config)
    model = new_model(config, [], None)
    text = graph_weights(file_of(exported, "text.onnx", graphs.REMAKE), "encoder.")
    scores = graph_weights(file_of(exported, "relevance.onnx", graphs.REMAKE), "")
    stop = {name.removeprefix("encoder."): value for name, value in scores.items()}
    _fill(model.encoder, text | stop | _relevance(scores), exported)
    return model


def graph_weights(path: Path, prefix: str) -> Weights:
    """The weights of a graph by their names in torch, those of them that begin with `prefix`,
    which is taken off."""
    graph = _load(path)
    arrays = _arrays(graph)
    adders = {name: node for node in graph.node if node.op_type == "Add" for name in node.input}
    between = {name: node for node in graph.node if node.op_type in BETWEEN for name in node.input}
    found = dict(arrays)
    for node in graph.node:
        if node.op_type in PRODUCTS and (matrix := _matrix(arrays, node.input[1])) is not None:
            bias = _bias_of(node, arrays, adders, between)
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
    return arrays


def _matrix(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.float32] | None:
    """The matrix of a product, (in, out), with int8 scaled back; None where it is no weight."""
    given: NDArray[np.float32] | None = arrays.get(name)
    if given is None or given.dtype == np.float32:
        return given
    bare = name.removesuffix("_quantized")
    zero, scale = arrays[f"{bare}_zero_point"], arrays[f"{bare}_scale"]
    scaled: NDArray[np.float32] = (given.astype(np.float32) - zero.astype(np.float32)) * scale
    return scaled


def _bias_of(
    product: NodeProto,
    arrays: Mapping[str, NDArray[Any]],
    adders: Mapping[str, NodeProto],
    between: Mapping[str, NodeProto],
) -> str:
    """The name of what is added to a product."""
    out = product.output[0]
    while out not in adders and out in between:
        out = between[out].output[0]
    named = [name for name in adders[out].input if name in arrays] if out in adders else []
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
        raise ArtifactError(
            f"{exported} does not say what its {lost[0]} is, so it cannot be trained further. "
            f"Export it again with this version of muppet: `{graphs.REMAKE}`."
        )
    load_weights(network, {name: _tensor(weights[name]) for name in wanted})
    network.eval()


def _tensor(array: NDArray[np.float32]) -> Tensor:
    return torch.from_numpy(np.array(array))  # a copy: a graph's own cannot be written


def _require_transformer(exported: Path, config: TextConfig) -> None:
    if config.network != "transformer":
        raise ConfigError(
            f"{exported} is a {config.network} network, and only a transformer's weights can be "
            "read out of its graphs. Train on from its run instead: a recipe with run.start."
        )
