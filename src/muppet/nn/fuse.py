"""Several nodes of a graph → one operator of onnxruntime's that computes the same in less time.

A transformer's attention becomes one operator, which goes through a text in blocks that stay in the
cache. It is fast only where nothing is masked, so a graph that was fused has no `piece_mask` any
more: it reads one text at a time, without padding. An int8 product adds its layer's bias itself.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import AttributeProto, GraphProto, NodeProto, helper

from muppet.nn.quantise import DOMAIN, PRODUCT

ATTENTION = "MultiHeadAttention"


def fuse(path: Path, heads: int) -> None:
    """Fuse what can be fused in a graph of a transformer with so many heads, in place."""
    model = onnx.load(path)
    graph = model.graph
    _fuse_attention(graph, heads)
    _add_biases_within(graph)
    _drop_unused(graph)
    if not any(one.domain == DOMAIN for one in model.opset_import):
        model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    onnx.save(model, path)


@dataclass(frozen=True, slots=True)
class _Wires:
    """Which node makes an array of a graph, and which nodes read it."""

    maker: dict[str, NodeProto]
    readers: dict[str, list[NodeProto]]

    def back(self, name: str, *kinds: str) -> str | None:
        """What an array was made of, through nodes of these kinds, each time their first input."""
        for kind in kinds:
            node = self.maker.get(name)
            if node is None or node.op_type != kind:
                return None
            name = node.input[0]
        return name

    def on(self, name: str, *kinds: str) -> str | None:
        """What is made of an array, through nodes of these kinds that alone read it."""
        for kind in kinds:
            readers = self.readers[name]
            if len(readers) != 1 or readers[0].op_type != kind:
                return None
            name = readers[0].output[0]
        return name


def _wires(graph: GraphProto) -> _Wires:
    readers = defaultdict(list)
    for node in graph.node:
        for name in node.input:
            readers[name].append(node)
    return _Wires({name: node for node in graph.node for name in node.output}, readers)


def _fuse_attention(graph: GraphProto, heads: int) -> None:
    """softmax(q kᵀ / √size + mask) v, as it is traced, with its transposes: one operator."""
    wires = _wires(graph)
    for softmax in [node for node in graph.node if node.op_type == "Softmax"]:
        inputs = _attended(wires, softmax)
        merged = wires.on(softmax.output[0], "MatMul", "Transpose", "Reshape")
        if inputs is not None and merged is not None:
            name = f"{softmax.name}/{ATTENTION}"
            attention = helper.make_node(
                ATTENTION, inputs, [merged], name, domain=DOMAIN, num_heads=heads
            )
            wires.maker[merged].CopyFrom(attention)


def _attended(wires: _Wires, softmax: NodeProto) -> list[str] | None:
    """Queries, keys and values (B, T, D) of an attention, or None where this is not one."""
    scores = wires.back(softmax.input[0], "Add", "Mul")
    product = wires.maker.get(scores or "")
    summed = wires.on(softmax.output[0], "MatMul")
    if product is None or product.op_type != "MatMul" or summed is None:
        return None
    split = [*product.input, wires.maker[summed].input[1]]
    found = [wires.back(one, "Transpose", "Reshape") for one in split]
    return [name for name in found if name is not None] if None not in found else None


def _add_biases_within(graph: GraphProto) -> None:
    wires = _wires(graph)
    constants = {one.name for one in graph.initializer}
    for node in [one for one in graph.node if one.op_type == PRODUCT]:
        total = wires.on(node.output[0], "Add")
        adder = wires.maker[total] if total else None
        bias = _constant(adder, constants, wires) if adder else None
        if adder is not None and bias is not None:
            node.input.append(bias)
            adder.CopyFrom(node)
            adder.output[0] = total or ""
            node.output[0] += ".without bias"  # nothing reads it: it is dropped


def _constant(adder: NodeProto, constants: Collection[str], wires: _Wires) -> str | None:
    """What an addition has of the weights, of which equal ones are stored once."""
    for name in map(str, adder.input):
        if name in constants or wires.back(name, "Identity") in constants:
            return name
    return None


def _drop_unused(graph: GraphProto) -> None:
    """Without the nodes, weights and inputs that no output needs."""
    needed = {one.name for one in graph.output}
    kept: list[NodeProto] = []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(_inputs(node))
    del graph.node[:]
    graph.node.extend(reversed(kept))
    for arrays in (graph.initializer, graph.input):
        left = [one for one in arrays if one.name in needed]
        del arrays[:]
        arrays.extend(left)


def _inputs(node: NodeProto) -> set[str]:
    """What a node reads, also in the branches it may take."""
    found = set(node.input)
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            for inner in attribute.g.node:
                found |= _inputs(inner)
            found |= {one.name for one in attribute.g.output}
    return found
