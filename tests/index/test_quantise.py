"""Stored rows are near what the encoder gave, and near enough to find the same paragraphs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from muppet.errors import ConfigError
from muppet.index.mips import top
from muppet.index.quantise import DTYPES, pack, unpack

Vectors = arrays(
    np.float32,
    st.tuples(st.integers(0, 5), st.integers(1, 8)),
    elements=st.floats(-1e4, 1e4, width=32),
)


def unit_vectors(seed: int, *shape: int) -> NDArray[np.float32]:
    made = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return made / np.linalg.norm(made, axis=-1, keepdims=True)


@given(vectors=Vectors)
def test_int8_is_off_by_half_a_scale_at_most(vectors: NDArray[np.float32]) -> None:
    packed = pack(vectors, "int8")
    assert packed.rows.dtype == np.int8
    assert np.abs(packed.rows.astype(int)).max(initial=0) <= 127
    scales = np.abs(vectors).max(axis=1, keepdims=True) / 127
    assert (np.abs(unpack(packed) - vectors) <= scales * 0.5001 + 1e-37).all()


@given(vectors=Vectors)
def test_float16_is_off_by_a_two_thousandth_at_most(vectors: NDArray[np.float32]) -> None:
    off_by = np.abs(unpack(pack(vectors, "float16")) - vectors)
    assert (off_by <= np.abs(vectors) / 2048 + 1e-7).all()


@given(vectors=Vectors)
def test_float32_is_what_was_given(vectors: NDArray[np.float32]) -> None:
    assert np.array_equal(unpack(pack(vectors, "float32")), vectors)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_of_zeros_stays_one(dtype: str) -> None:
    rows = np.zeros((2, 3), dtype=np.float32)
    assert np.array_equal(unpack(pack(rows, dtype)), rows)


def recall_of_eight(rows: NDArray[np.float32], queries: NDArray[np.float32], dtype: str) -> float:
    """The share of each query's best eight rows that are still so when stored."""
    right = top(queries @ rows.T, 8).tolist()
    found = top(queries @ unpack(pack(rows, dtype)).T, 8).tolist()
    return float(np.mean([len({*a} & {*b}) / 8 for a, b in zip(right, found, strict=True)]))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("dtype", "recall"), [("int8", 0.99), ("float16", 0.995)])
def test_among_vectors_that_fill_few_directions_the_best_eight_are_found(
    dtype: str, recall: float, seed: int
) -> None:
    """Here 32 of 384; over 20 seeds int8 finds 0.993 to 0.997 of them."""
    directions = unit_vectors(seed + 100, 32, 384)
    rows, queries = unit_vectors(seed, 4_000, 32), unit_vectors(seed + 50, 500, 32)
    assert recall_of_eight(rows @ directions, queries @ directions, dtype) >= recall


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("dtype", "recall"), [("int8", 0.98), ("float16", 0.995)])
def test_among_vectors_in_all_directions_nearly_all_of_the_best_eight_are_found(
    dtype: str, recall: float, seed: int
) -> None:
    """The hardest case, as the ninth is close behind; over 20 seeds int8 finds 0.984 to 0.991."""
    rows, queries = unit_vectors(seed, 4_000, 384), unit_vectors(seed + 50, 500, 384)
    assert recall_of_eight(rows, queries, dtype) >= recall


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_vector_that_is_not_finite_is_a_bug_of_the_encoder(dtype: str, value: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        pack(np.full((1, 2), value, dtype=np.float32), dtype)


def test_a_vector_too_large_for_float16_is_refused() -> None:
    with pytest.raises(ConfigError, match="too large for float16"):
        pack(np.full((1, 2), 1e5, dtype=np.float32), "float16")
