"""Sentence vectors ⇄ the rows that are stored: float32 as they are, float16, or int8 and a scale.

An int8 row stands for row × scale, and its scale is the largest absolute value / 127: each value
is off by at most half a scale.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muppet.errors import ConfigError

DTYPES: dict[str, np.dtype[Any]] = {
    "float32": np.dtype("<f4"),
    "float16": np.dtype("<f2"),
    "int8": np.dtype("i1"),
}
SCALE = np.dtype("<f4")
_LARGEST = 127


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Rows as they are stored; only int8 has scales, one for each row."""

    rows: NDArray[Any]  # (R, D)
    scales: NDArray[np.float32]  # (R,), or (0,)


def pack(vectors: NDArray[np.float32], dtype: str) -> Packed:
    """(R, D) -> the rows to store"""
    if not np.isfinite(vectors).all():
        raise ValueError("The encoder gave a vector that is not finite.")
    if dtype == "int8":
        scales = (np.abs(vectors).max(axis=1, initial=0.0) / _LARGEST).astype(SCALE)  # (R,)
        divisors = np.where(scales > 0, scales, 1)[:, None]
        rows = np.clip(np.rint(vectors / divisors), -_LARGEST, _LARGEST)
        return Packed(rows.astype(DTYPES[dtype]), scales)
    with np.errstate(over="ignore"):
        rows = vectors.astype(DTYPES[dtype])
    if not np.isfinite(rows).all():
        raise ConfigError(
            "A vector is too large for float16. Store the vectors as int8 or float32 instead."
        )
    return Packed(rows, np.empty(0, dtype=SCALE))


def unpack(packed: Packed) -> NDArray[np.float32]:
    """The stored rows as numbers to compute with: (R, D)"""
    vectors = packed.rows.astype(np.float32)  # a copy, as the rows may be mapped
    if packed.rows.dtype == DTYPES["int8"]:
        vectors *= packed.scales[:, None]
    return vectors


def inner_products(queries: NDArray[np.float32], packed: Packed) -> NDArray[np.float32]:
    """`queries @ unpack(packed).T`, where there are fewer products than values: (Q, D) -> (Q, R)"""
    products = queries @ packed.rows.astype(np.float32, copy=False).T
    if packed.rows.dtype == DTYPES["int8"]:
        products *= packed.scales
    return products
