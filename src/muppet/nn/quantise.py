"""A graph's weights and matrix products → int8: a quarter of the size, and faster.

Some channels of a transformer's states are many times as large as the others, and eight bits for
all of them leave the small ones nothing. So every channel is first divided by a factor, and the
weights it meets are multiplied by it: the product stays what it was. Which factors round least is
tried out on texts; from these come the states' ranges, too. They are fixed: what is computed of a
text does not depend on what else is read with it, as it would if ranges were taken from each batch.
Products that would lose too much all the same stay as they are.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

Floats = NDArray[np.float32]
Fields = Mapping[str, NDArray[Any]]
"""What a graph is given, by name."""

PRODUCT, DOMAIN = "MatMulIntegerToFloat", "com.microsoft"
INT8, SCALE, ZERO, FACTOR = ".int8", ".scale", ".zero", ".factor"
"""What an array's name ends on that stands for, or belongs to, another one's int8."""
NEIGHBOURS = 127
"""What two neighbouring weights of a column have together, at most, up to rounding: processors
without VNNI add their products with states of up to 255 in 16 bits, which end at 32,767."""
NARROW = 16
"""Products with fewer columns than this stay as they are: heads, which cost nothing."""
LONG = 1024
"""Tables of fewer rows than this stay as they are."""
EXPONENTS = (0.0, 0.3, 0.5, 0.65, 0.8, 0.9, 1.0)
"""How far a channel's range moves from the states into the weights: not at all … all of it."""
ROOM = 1.25
"""How much wider ranges are than what the examples have shown; beyond, numbers are cut off."""
ROWS = 1_000
"""So many tokens are rounded to compare the choices."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """How the states that some products share become unsigned numbers of eight bits."""

    factor: Floats  # (K,), what each channel is divided by
    scale: Floats  # ()
    zero: NDArray[np.uint8]  # ()

    def arrays(self, states: str) -> dict[str, NDArray[Any]]:
        """What a graph needs for it, by name."""
        return {
            states + FACTOR: 1 / self.factor,
            states + SCALE: self.scale,
            states + ZERO: self.zero,
        }


def quantise(path: Path, examples: Sequence[Fields], limit: float) -> None:
    """Make a graph's weights int8, in place; `examples` are what it will be given, in kind.

    Products whose results would be off by more than this share of their size stay as they are.
    """
    model = onnx.load(path)
    graph = model.graph
    weights = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    products = _products(graph)
    seen = _states(model, list(products), examples)
    instead: dict[str, list[NodeProto]] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for name, nodes in products.items():
        matrices = [weights[node.input[1]] for node in nodes]
        best, error = _best_rounding(seen[name], matrices)
        if error > limit:
            continue
        arrays |= best.arrays(name)
        for node, matrix in zip(nodes, matrices, strict=True):
            numbers, scale = rounded(matrix * best.factor[:, None])
            own = f"{node.name}/weights"
            arrays |= {own + INT8: numbers, own + SCALE: scale, own + ZERO: np.array(0, np.int8)}
            instead[node.name] = [_product(node, name, own)]
        instead[nodes[0].name][:0] = _rounded_states(name)
    for node in _look_ups(graph, weights):
        table = node.input[0]
        scale = np.maximum(np.abs(weights[table]).max(axis=1, keepdims=True), 1e-8) / 127
        arrays[table + INT8] = np.rint(weights[table] / scale).astype(np.int8)
        arrays[table + SCALE] = scale
        instead[node.name] = _rounded_look_up(node)
    _rewrite(graph, instead, arrays)
    if not any(one.domain == DOMAIN for one in model.opset_import):
        model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    onnx.save(model, path)


def rounded(matrix: Floats) -> tuple[NDArray[np.int8], Floats]:
    """A matrix (K, N) as eight bits, and each column's scale (N,); no product can overflow."""
    pairs = np.abs(np.pad(matrix, ((0, len(matrix) % 2), (0, 0)))).reshape(-1, 2, matrix.shape[1])
    scale = np.maximum(pairs.sum(axis=1).max(axis=0) / NEIGHBOURS, 1e-10).astype(np.float32)
    return np.rint(matrix / scale).astype(np.int8), scale


def _products(graph: GraphProto) -> dict[str, list[NodeProto]]:
    """The products of states with weights, by the states' name: several may share them."""
    wide = {one.name for one in graph.initializer if len(one.dims) == 2 and one.dims[1] >= NARROW}
    found = defaultdict(list)
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in wide:
            found[node.input[0]].append(node)
    return dict(found)


def _look_ups(graph: GraphProto, weights: Mapping[str, NDArray[Any]]) -> list[NodeProto]:
    """The look-ups of rows in long tables of weights."""
    return [
        node
        for node in graph.node
        if node.op_type == "Gather"
        and (table := weights.get(node.input[0])) is not None
        and (table.ndim == 2 and table.dtype == np.float32 and len(table) >= LONG)
    ]


def _states(
    model: ModelProto, names: Sequence[str], examples: Sequence[Fields]
) -> dict[str, Floats]:
    """What the products get on these examples: (tokens, K) each"""
    tapped = ModelProto()
    tapped.CopyFrom(model)
    given = {one.name for one in model.graph.output}
    tapped.graph.output.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        for name in names
        if name not in given
    )
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # it would wonder at the outputs' shapes
    session = onnxruntime.InferenceSession(
        tapped.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    wanted = {one.name for one in session.get_inputs()}
    found: dict[str, list[Floats]] = {name: [] for name in names}
    for fields in examples:
        own = {name: field for name, field in fields.items() if name in wanted}
        for name, states in zip(names, session.run(list(names), own), strict=True):
            found[name].append(states.reshape(-1, states.shape[-1]))
    return {name: np.concatenate(some) for name, some in found.items()}


def _best_rounding(states: Floats, matrices: Sequence[Floats]) -> tuple[Rounding, float]:
    """The one whose rounded products are nearest to the exact ones, and how far off these are."""
    sample = states[np.random.default_rng(0).permutation(len(states))[:ROWS]]
    exact = [sample @ matrix for matrix in matrices]
    size = sum(float(np.square(own).sum()) for own in exact) or 1.0

    def error(choice: Rounding) -> float:
        numbers = np.clip(np.rint(sample / choice.factor / choice.scale) + choice.zero, 0, 255)
        back = (numbers - choice.zero.astype(np.float32)) * choice.scale
        off = sum(
            float(np.square(back @ restored(*rounded(one * choice.factor[:, None])) - own).sum())
            for one, own in zip(matrices, exact, strict=True)
        )
        return float(np.sqrt(off / size))

    best = min(_choices(states, matrices), key=error)
    return best, error(best)


def restored(numbers: NDArray[np.int8], scale: Floats) -> Floats:
    """What rounding has left of a matrix."""
    back: Floats = numbers * scale
    return back


def _choices(states: Floats, matrices: Sequence[Floats]) -> Iterator[Rounding]:
    least, most = states.min(axis=0), states.max(axis=0)
    large = np.maximum(np.abs(states).max(axis=0), 1e-3 * np.abs(states).max() + 1e-8)
    met = np.maximum(np.max([np.abs(one).max(axis=1) for one in matrices], axis=0), 1e-6)
    for exponent in EXPONENTS:
        raw = large**exponent / met ** (1 - exponent) if exponent else np.ones_like(large)
        factor = (raw / np.exp(np.log(raw).mean())).astype(np.float32)
        low = ROOM * min(0.0, float((least / factor).min()))
        high = ROOM * max(1e-8, float((most / factor).max()))
        scale = (high - low) / 255
        zero = np.array(round(-low / scale), dtype=np.uint8)
        yield Rounding(factor, np.array(scale, dtype=np.float32), zero)


def _rounded_states(name: str) -> list[NodeProto]:
    even = f"{name}.even"
    return [
        helper.make_node("Mul", [name, name + FACTOR], [even], even),
        helper.make_node("QuantizeLinear", [even, name + SCALE, name + ZERO], [name + INT8]),
    ]


def _product(node: NodeProto, states: str, weights: str) -> NodeProto:
    inputs = [one + end for end in (INT8, SCALE, ZERO) for one in (states, weights)]
    return helper.make_node(PRODUCT, inputs, node.output, node.name, domain=DOMAIN)


def _rounded_look_up(node: NodeProto) -> list[NodeProto]:
    """Rows of eight bits, each with a scale of its own."""
    (table, rows), (out,) = node.input, node.output
    numbers, raw, scale = (f"{out}.look-up.{what}" for what in ("numbers", "raw", "scale"))
    return [
        helper.make_node("Gather", [table + INT8, rows], [numbers]),
        helper.make_node("Cast", [numbers], [raw], to=TensorProto.FLOAT),
        helper.make_node("Gather", [table + SCALE, rows], [scale]),
        helper.make_node("Mul", [raw, scale], [out]),
    ]


def _rewrite(
    graph: GraphProto,
    instead: Mapping[str, list[NodeProto]],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Put new nodes in the place of some, new arrays in the place of those that nothing reads."""
    nodes = [new for node in graph.node for new in instead.get(node.name, [node])]
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    kept = [one for one in graph.initializer if one.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    graph.initializer.extend(
        numpy_helper.from_array(np.ascontiguousarray(array).reshape(np.shape(array)), name)
        for name, array in arrays.items()
    )
