"""Fused graphs: one operator for each attention, and no mask any more, so that each text is read by
itself. That they say what the network said, `read/test_reader.py` tests."""

from collections import Counter
from pathlib import Path

import onnx
import onnxruntime
import pytest
import torch

from muppet.config import CharacterConfig, ContextualConfig, ReaderConfig
from muppet.nn.export_reader import export_reader
from muppet.nn.fuse import ATTENTION, fuse
from muppet.nn.quantise import PRODUCT
from muppet.nn.reader_model import new_reader
from tiny_bert import write_bert

LAYERS, PRODUCTS = 2, 6
"""Of the tiny transformer; and of a layer: query, key, value, output, two that feed forward."""


@pytest.fixture(scope="module", params=[False, True], ids=["float", "int8"])
def graph(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The graph of a tiny reader."""
    torch.manual_seed(3)
    place = tmp_path_factory.mktemp("model")
    bert = ContextualConfig("transformer", str(write_bert(place / "bert")), layers=1, dropout=0.0)
    config = ReaderConfig(
        network="transformer",
        dim=32,
        word_vectors=False,
        characters=CharacterConfig(filters=0),
        contextual=bert,
    )
    export_reader(place / "reader", new_reader(config, [], None), {}, int8=request.param)
    return place / "reader" / "read.onnx"


def operators(path: Path) -> Counter[str]:
    return Counter(node.op_type for node in onnx.load(path).graph.node)


def test_each_attention_is_one_operator_and_nothing_is_masked(graph: Path) -> None:
    found = operators(graph)
    assert found[ATTENTION] == LAYERS
    assert found["Softmax"] == 0
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    assert "piece_mask" not in {given.name for given in session.get_inputs()}


def test_int8_products_add_their_biases_themselves(graph: Path) -> None:
    products = [node for node in onnx.load(graph).graph.node if node.op_type == PRODUCT]
    transformer = [node for node in products if "layer" in node.name]
    assert len(transformer) in (0, LAYERS * PRODUCTS)  # none of a float graph
    assert all(node.input[6].endswith("bias") for node in transformer)


def test_a_fused_graph_has_nothing_left_to_fuse(graph: Path) -> None:
    before = operators(graph)
    fuse(graph, heads=4)
    assert operators(graph) == before
