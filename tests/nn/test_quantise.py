"""int8 graphs: near to the exact ones also where channels are very unlike, and the same for a text
whatever else is read with it."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from muppet.nn.quantise import LONG, quantise, restored, rounded

CHANNELS, COLUMNS = 48, 24
LIMIT = 0.05


def write_graph(path: Path, matrix: np.ndarray, table: np.ndarray | None = None) -> Path:
    """rows -> their states (by a table, if there is one) -> the product with a matrix"""
    nodes = [helper.make_node("MatMul", ["x", "matrix"], ["y"], "product")]
    arrays = [numpy_helper.from_array(matrix, "matrix")]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "t", CHANNELS])
    if table is not None:
        given = helper.make_tensor_value_info("rows", TensorProto.INT64, ["n", "t"])
        nodes.insert(0, helper.make_node("Gather", ["table", "rows"], ["x"], "look-up"))
        arrays.append(numpy_helper.from_array(table, "table"))
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", "t", COLUMNS])
    graph = helper.make_graph(nodes, "graph", [given], [out], arrays)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.save(model, path)
    return path


def run(path: Path, **fields: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (found,) = session.run(["y"], fields)
    return np.asarray(found)


def uneven(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """States whose channels are of very different size, as a transformer's are."""
    sizes = np.exp(rng.normal(0, 1.5, CHANNELS))
    return (rng.normal(size=(*shape, CHANNELS)) * sizes).astype(np.float32)


def error(found: np.ndarray, exact: np.ndarray) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def test_unlike_channels_lose_little(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    states = uneven(rng, 40, 20)
    even = np.abs(states).max(axis=(0, 1))
    matrix = (rng.normal(size=(CHANNELS, COLUMNS)) / even[:, None]).astype(np.float32)
    path = write_graph(tmp_path / "graph.onnx", matrix)
    quantise(path, [{"x": states}], LIMIT)
    exact = states @ matrix
    plain = np.rint(states / np.abs(states).max() * 127) * np.abs(states).max() / 127 @ matrix
    assert error(run(path, x=states), exact) < 0.02 < 5 * 0.02 < error(plain, exact)


def test_a_text_is_the_same_whatever_is_read_beside_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(CHANNELS, COLUMNS)).astype(np.float32)
    path = write_graph(tmp_path / "graph.onnx", matrix)
    states = uneven(rng, 30, 10)
    quantise(path, [{"x": states}], LIMIT)
    alone = run(path, x=states[:1])
    beside = run(path, x=np.concatenate([states[:1], 50 * states[1:2]]))
    np.testing.assert_array_equal(alone[0], beside[0])


def test_rows_of_a_table_have_a_scale_each(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    sizes = np.exp(rng.normal(0, 3, (LONG, 1)))
    table = (sizes * rng.normal(size=(LONG, CHANNELS))).astype(np.float32)
    path = write_graph(tmp_path / "graph.onnx", np.eye(CHANNELS, COLUMNS, dtype=np.float32), table)
    before = path.stat().st_size
    rows = np.arange(LONG)[None]
    quantise(path, [{"rows": rows[:, :200]}], LIMIT)
    assert path.stat().st_size < 0.35 * before
    model = onnx.load(path)
    model.graph.output.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (found,) = session.run(["x"], {"rows": rows})
    worst = np.abs(found[0] - table).max(axis=1) / np.abs(table).max(axis=1)
    assert worst.max() < 0.5 / 127 + 1e-4


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_rounding_is_within_half_a_step(scale: float) -> None:
    matrix = (scale * np.random.default_rng(4).normal(size=(7, 5))).astype(np.float32)
    numbers, scales = rounded(matrix)
    assert (np.abs(restored(numbers, scales) - matrix) <= 0.5001 * scales).all()


def test_no_product_overflows_sixteen_bits(tmp_path: Path) -> None:
    """Two neighbours of the largest weights there are meet two of the largest states: processors
    without VNNI add such products in 16 bits."""
    matrix = np.full((CHANNELS, COLUMNS), 3.0, dtype=np.float32)
    numbers, _ = rounded(matrix)
    assert 255 * np.abs(numbers.astype(int)).reshape(-1, 2, COLUMNS).sum(axis=1).max() < 2**15
    path = write_graph(tmp_path / "graph.onnx", matrix)
    states = np.ones((4, 20, CHANNELS), dtype=np.float32)
    quantise(path, [{"x": np.concatenate([states, -0.01 * states])}], LIMIT)
    assert error(run(path, x=1.25 * states), 1.25 * states @ matrix) < 0.01


@pytest.mark.parametrize("rows", [1, 6, 7])
def test_any_number_of_rows_is_rounded(rows: int) -> None:
    matrix = np.random.default_rng(5).normal(size=(rows, 3)).astype(np.float32)
    numbers, scales = rounded(matrix)
    assert numbers.shape == matrix.shape
    assert error(restored(numbers, scales), matrix) < 0.02
