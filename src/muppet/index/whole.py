"""Search over all paragraphs: exact by going over every row, or by an index of FAISS over them.

The kind of index is chosen by the number of rows: few are scanned, more are a graph (HNSW), and
very many stand in cells of which a query visits some (IVF). It only proposes paragraphs: their
scores and sentences are then computed from our own rows, so they are the same as elsewhere.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muppet.domain import Progress, silent
from muppet.errors import ArtifactError, needing
from muppet.index.disk import written_aside
from muppet.index.mips import best_sentences, top
from muppet.index.vectors import Vectors

EXACT = 200_000
"""Up to so many rows, all are scanned, as float16."""
GRAPH = 2_000_000
"""Up to so many, the index is a graph; it takes longer to build than cells, and finds more."""
LINKS = 32
CELLS_VISITED = 1 / 16
ROWS_PER_CELL = 40
"""Rows that the cells are learned from, for each cell."""
ROWS_FETCHED = 4
"""Rows asked of the index for each paragraph that is wanted, at first."""

Filter = Callable[[NDArray[np.int64]], NDArray[np.bool_]]
"""Numbers of paragraphs -> which of them may be found."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The best paragraphs for one query, best first, each with its best sentence: (K,) each"""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float32]
    sentences: NDArray[np.int64]


def everything(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The filter that lets every paragraph be found."""
    return np.ones(len(numbers), dtype=bool)


def search_exactly(vectors: Vectors, queries: NDArray[np.float32], keep: int) -> list[Found]:
    """The `keep` best of all paragraphs for each query, by going over every row: (Q, D) -> Q"""
    shape = (len(queries), 0)
    numbers = np.empty(shape, dtype=np.int64)
    scores, sentences = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.int64)
    for more, gathered in vectors.chunks():
        new_scores, new_sentences = best_sentences(gathered.rows, gathered.starts, queries)
        scores = np.hstack([scores, new_scores])
        sentences = np.hstack([sentences, new_sentences])
        numbers = np.hstack([numbers, np.broadcast_to(more, new_scores.shape)])
        places = top(scores, keep)
        numbers = np.take_along_axis(numbers, places, axis=1)
        scores = np.take_along_axis(scores, places, axis=1)
        sentences = np.take_along_axis(sentences, places, axis=1)
    return list(map(Found, numbers, scores, sentences))


def open_whole(vectors: Vectors, progress: Progress = silent) -> "Whole":
    """The search over all of these vectors; its index is built if it is not there.

    To build it is to write into the directory of the vectors, so the caller holds a lock unless
    `has_whole`.
    """
    faiss = _faiss()
    path = vectors.directory / vectors.commit.whole_file
    if not has_whole(vectors):
        index = _build(faiss, vectors, progress)
        with written_aside(path) as stream:
            faiss.write_index(index, faiss.PyCallbackIOWriter(stream.write))
    mapped = faiss.IO_FLAG_MMAP if vectors.commit.rows > GRAPH else faiss.IO_FLAG_MMAP_IFC
    try:
        index = faiss.read_index(str(path), mapped)
    except RuntimeError as error:
        raise ArtifactError(
            f"{path} is damaged ({error}). Delete it: it is built again when it is needed."
        ) from error
    if hasattr(index, "nprobe"):
        index.nprobe = max(1, round(index.nlist * CELLS_VISITED))
    return Whole(vectors, index)


def has_whole(vectors: Vectors) -> bool:
    """Whether the index over these very rows has been built."""
    return (vectors.directory / vectors.commit.whole_file).is_file()


class Whole:
    """An open index over all rows of some vectors."""

    def __init__(self, vectors: Vectors, index: Any) -> None:  # noqa: ANN401 (FAISS has no types)
        self._vectors = vectors
        self._index = index

    def search(
        self, queries: NDArray[np.float32], keep: int, keep_only: Filter = everything
    ) -> list[Found]:
        """The `keep` best paragraphs for each query that `keep_only` lets through: (Q, D) -> Q"""
        found: dict[int, Found] = {}
        rows = self._vectors.commit.rows
        fetch = keep * ROWS_FETCHED
        while left := [query for query in range(len(queries)) if query not in found]:
            fetch = min(fetch, rows)
            for query, numbers in zip(left, self._propose(queries[left], fetch), strict=True):
                numbers = numbers[keep_only(numbers)]
                if len(numbers) >= keep or fetch == rows:
                    found[query] = self._score(queries[query], numbers, keep)
            fetch *= 4  # some paragraphs have many good sentences, or may not be found
        return [found[query] for query in range(len(queries))]

    def recall(self, queries: NDArray[np.float32], keep: int) -> float:
        """The share of the `keep` best paragraphs, on average over the queries, that it finds."""
        if not len(self._vectors):
            return 1.0
        right = search_exactly(self._vectors, queries, keep)
        found = self.search(queries, keep)
        shares = [
            np.isin(one.numbers, other.numbers).mean()
            for one, other in zip(right, found, strict=True)
        ]
        return float(np.mean(shares))

    def _propose(self, queries: NDArray[np.float32], fetch: int) -> list[NDArray[np.int64]]:
        """For each query the paragraphs of its best rows, ascending."""
        if not fetch:
            return [np.empty(0, dtype=np.int64)] * len(queries)
        options = {}
        if hasattr(self._index, "hnsw"):
            options["params"] = _faiss().SearchParametersHNSW(efSearch=max(2 * fetch, 128))
        _, places = self._index.search(np.ascontiguousarray(queries), fetch, **options)
        # -1 where the index found fewer
        return [np.unique(self._vectors.owners(some[some >= 0])) for some in places]

    def _score(self, query: NDArray[np.float32], numbers: NDArray[np.int64], keep: int) -> Found:
        """The `keep` best of the paragraphs: (D,), (P,) -> Found"""
        scores, sentences = self._vectors.search(numbers, query[None])
        best = top(scores, keep)[0]
        return Found(numbers[best], scores[0, best], sentences[0, best])


def _build(faiss: Any, vectors: Vectors, progress: Progress) -> Any:  # noqa: ANN401
    """An index over all rows; it holds them once, the rest comes and goes in chunks."""
    rows = vectors.commit.rows
    index = faiss.index_factory(vectors.layout.dim, _kind(rows), faiss.METRIC_INNER_PRODUCT)
    if not index.is_trained:
        sample = min(rows, ROWS_PER_CELL * _cells(rows))
        index.train(vectors.rows(np.linspace(0, rows - 1, sample).astype(np.int64)))
    for _, gathered in vectors.chunks():
        index.add(gathered.rows)
        progress("index over everything", int(index.ntotal), rows)
    return index


def _kind(rows: int) -> str:
    """The index for so many rows, in FAISS's own words."""
    if rows <= EXACT:
        return "SQfp16"
    return f"HNSW{LINKS}_SQfp16" if rows <= GRAPH else f"IVF{_cells(rows)},SQ8"


def _cells(rows: int) -> int:
    return max(1, 2 * isqrt(rows))


def _faiss() -> Any:  # noqa: ANN401 (FAISS has no types)
    with needing("The search over all paragraphs", "faiss"):
        return importlib.import_module("faiss")
