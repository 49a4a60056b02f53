"""The paper's lexical retriever: hashed n-gram TF-IDF, memory-mapped (checklist 5).

    tf(t, d) = log(1 + count of t in d)
    idf(t)   = log((N - N_t + 0.5) / (N_t + 0.5)), at least 0
    score    = sum over t of tf(t, question) idf(t) * tf(t, paragraph) idf(t)

A term t is a bucket of the 2^24 that n-grams are hashed into; N_t is the number of paragraphs
with that bucket. There is no length normalisation. In a small collection most words stand in
half of the paragraphs and weigh nothing, so own documents are searched with BM25 instead.

On disk the postings are flat: those of `buckets[i]` are rows `starts[i] : starts[i + 1]`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muppet.artifact import read_manifest, require_made_from
from muppet.config import TfidfConfig, from_table
from muppet.domain import Hop
from muppet.lexical.ngrams import hashed_ngrams

KIND = "tf-idf index"
FORMAT = 1
REMAKE = "muppet index"


class Tfidf:
    """An open index; `narrow` is its only job."""

    def __init__(self, directory: Path, made_from: Mapping[str, str]) -> None:
        manifest = read_manifest(directory, KIND, FORMAT, remake=REMAKE)
        require_made_from(directory, manifest, made_from, remake=REMAKE)
        self.config = from_table(TfidfConfig, manifest.config)
        self._buckets = _mapped(directory / "buckets.npy")  # (terms,), ascending
        self._starts = _mapped(directory / "starts.npy")  # (terms + 1,)
        self._rows = _mapped(directory / "rows.npy")  # (postings,), which paragraph
        self._counts = _mapped(directory / "counts.npy")  # (postings,), how often
        self._numbers = _mapped(directory / "numbers.npy")  # (paragraphs,), row -> number

    def __len__(self) -> int:
        return len(self._numbers)

    def narrow(self, question: str, keep: int) -> list[Hop]:
        """The `keep` best paragraphs with a score above 0, best first; ties in corpus order."""
        weights = self._term_weights(question)
        if not weights:
            return []
        scores = np.zeros(len(self), dtype=np.float32)
        for position, weight in weights:
            span = slice(self._starts[position], self._starts[position + 1])
            scores[self._rows[span]] += weight * np.log1p(self._counts[span], dtype=np.float32)
        best = _top(scores, keep, floor=self._floor(scores, weights, keep))
        return [Hop(int(self._numbers[row]), float(scores[row])) for row in best]

    def _term_weights(self, question: str) -> list[tuple[int, float]]:
        """(position in `buckets`, tf idf^2) of the question's terms that weigh, heaviest first."""
        _, asked = hashed_ngrams([question], self.config.ngrams, self.config.buckets)
        buckets, counts = np.unique(asked, return_counts=True)
        if not len(buckets) or not len(self._buckets):
            return []
        at = np.minimum(np.searchsorted(self._buckets, buckets), len(self._buckets) - 1)
        known = self._buckets[at] == buckets
        at = at[known]
        weights = np.log1p(counts[known]) * self._idf(at) ** 2
        order = np.argsort(-weights, kind="stable")
        return [(int(at[i]), float(weights[i])) for i in order if weights[i] > 0]

    def _idf(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        with_term = (self._starts[positions + 1] - self._starts[positions]).astype(np.float64)
        idf = np.log((len(self) - with_term + 0.5) / (with_term + 0.5))
        return np.asarray(np.maximum(idf, 0.0))

    def _floor(
        self, scores: NDArray[np.float32], weights: list[tuple[int, float]], keep: int
    ) -> float:
        """A score that the `keep` best surely reach: the worst of `keep` paragraphs we know.

        They are taken from the heaviest terms, so few others reach it and sorting is cheap.
        """
        some: list[NDArray[np.uint32]] = []
        found = 0
        for position, _ in weights:
            rows = self._rows[self._starts[position] : self._starts[position + 1]]
            some.append(rows)
            found += len(rows)
            if found < keep:
                continue
            known = scores[np.unique(np.concatenate(some))]
            if len(known) >= keep:
                return float(np.partition(known, len(known) - keep)[len(known) - keep])
        return 0.0


def _top(scores: NDArray[np.float32], keep: int, floor: float) -> NDArray[np.int64]:
    rows = np.flatnonzero((scores >= floor) & (scores > 0))
    order = np.argsort(-scores[rows], kind="stable")[:keep]  # stable: ties keep corpus order
    return rows[order]


def _mapped(path: Path) -> NDArray[Any]:
    """A memory map as a plain array: the subclass costs time at every slice."""
    return np.asarray(np.load(path, mmap_mode="r"))
