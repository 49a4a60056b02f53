"""Exact search by inner product: how well each paragraph matches, and the best of them.

Pure functions over flat rows: those of paragraph p are `rows[starts[p] : starts[p + 1]]`, the
last paragraph's reach to the end. Q queries, P paragraphs, R rows, D dimensions.
"""

import numpy as np
from numpy.typing import NDArray

SMALL = 256
"""So few scores are sorted as fast as they are partitioned."""


def best_sentences(
    rows: NDArray[np.float32], starts: NDArray[np.int64], queries: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """(R, D), (P,), (Q, D) -> the paragraphs' scores and best sentences, (Q, P) each.

    A paragraph scores as its best sentence does (checklist 14, 20), which is the first of equals;
    one without sentences scores -inf.
    """
    return best_products(queries @ rows.T, starts)


def best_products(
    products: NDArray[np.float32], starts: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """`best_sentences` of inner products that are already known: (Q, R), (P,) -> (Q, P), (Q, P)"""
    counts = np.diff(starts, append=products.shape[1])
    is_filled = counts > 0
    if is_filled.all() and len(starts):
        return _best_of_filled(products, starts, counts)
    scores = np.full((len(products), len(starts)), -np.inf, dtype=np.float32)
    sentence = np.zeros(scores.shape, dtype=np.int64)
    if is_filled.any():
        found = _best_of_filled(products, starts[is_filled], counts[is_filled])
        scores[:, is_filled], sentence[:, is_filled] = found
    return scores, sentence


def _best_of_filled(
    products: NDArray[np.float32], starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """(Q, R), and paragraphs with at least one row each -> (Q, P), (Q, P)"""
    scores = np.maximum.reduceat(products, starts, axis=1)  # (Q, P)
    is_best = products == np.repeat(scores, counts, axis=1)  # (Q, R)
    rows = products.shape[1]
    row = np.where(is_best, np.arange(rows, dtype=np.int32), np.int32(rows))  # (Q, R)
    return scores, np.minimum.reduceat(row, starts, axis=1) - starts


def top(scores: NDArray[np.float32], keep: int) -> NDArray[np.int64]:
    """(Q, P) -> the places of the `keep` best of each query, best first: (Q, min(keep, P))

    Ties stand in the order of their places.
    """
    paragraphs = scores.shape[1]
    keep = max(0, min(keep, paragraphs))
    if paragraphs < SMALL or not 0 < keep < paragraphs // 2:
        return np.argsort(-scores, axis=1, kind="stable")[:, :keep]
    places = np.empty((len(scores), keep), dtype=np.int64)
    for query, row in enumerate(scores):
        worst = np.partition(row, paragraphs - keep)[paragraphs - keep]
        good = np.flatnonzero(row >= worst)  # in order of place, and more than `keep` where tied
        places[query] = good[np.argsort(-row[good], kind="stable")[:keep]]
    return places
