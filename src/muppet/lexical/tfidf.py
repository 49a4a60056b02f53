"""The paper's lexical retriever: hashed n-gram TF-IDF, memory-mapped (checklist 5).

    tf(t, d) = log(1 + count of t in d)
    idf(t)   = log((N - N_t + 0.5) / (N_t + 0.5)), at least 0
    score    = sum over t of tf(t, question) idf(t) * tf(t, paragraph) idf(t)

A term t is a bucket of the 2^24 that n-grams are hashed into; N_t is the number of paragraphs
with that bucket. There is no length normalisation. In a small collection most words stand in
half of the paragraphs and weigh nothing, so own documents are searched with BM25 instead.

On disk the postings are flat: those of `buckets[i]` are rows `starts[i] : starts[i + 1]`. They
hold whole counts, whose tf is looked up in a table, so the index is small and still exact.
"""

from collections.abc import Mapping
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muppet.artifact import read_manifest, require_made_from
from muppet.config import TfidfConfig, from_table
from muppet.domain import Hop
from muppet.errors import ArtifactError
from muppet.lexical.ngrams import hashed_ngrams

KIND = "tf-idf index"
FORMAT = 1
REMAKE = "muppet index"
_ABOVE_ZERO = float(np.finfo(np.float32).tiny)


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
        self._tf = _mapped(directory / "tf.npy")  # (largest count + 1,), count -> tf
        self._numbers = _mapped(directory / "numbers.npy")  # (paragraphs,), row -> number

    def __len__(self) -> int:
        return len(self._numbers)

    def narrow(self, question: str, keep: int) -> list[Hop]:
        """The `keep` best paragraphs with a score above 0, best first; ties in corpus order."""
        terms = self._terms(question)
        scores = np.zeros(len(self), dtype=np.float32)
        for term in terms:
            tf = self._tf.take(self._counts[term.postings])
            np.add.at(scores, self._rows[term.postings].astype(np.intp), term.weight * tf)
        rows = np.flatnonzero(scores >= self._floor(scores, terms, keep))
        rows = rows[scores[rows] >= _nth_best(scores[rows], keep)]
        rows = rows[np.argsort(-scores[rows], kind="stable")][:keep]  # ties keep corpus order
        found = zip(self._numbers[rows].tolist(), scores[rows].tolist(), strict=True)
        return [Hop(number, score) for number, score in found]

    def _terms(self, question: str) -> list["_Term"]:
        """The question's terms that weigh anything, heaviest first."""
        _, asked = hashed_ngrams([question], self.config.ngrams, self.config.buckets)
        # in the type of the sorted array, or a search would first convert all of that
        buckets, counts = np.unique(asked.astype(np.uint32), return_counts=True)
        at = np.searchsorted(self._buckets, buckets)
        ends = np.searchsorted(self._buckets, buckets, side="right")  # = at: no such bucket
        firsts, ends = self._starts[at], self._starts[ends]
        weights = np.log1p(counts) * inverse_frequency(len(self), ends - firsts) ** 2
        return [
            _Term(slice(firsts[i], ends[i]), np.float32(weights[i]))
            for i in np.argsort(-weights, kind="stable").tolist()
            if weights[i] > 0 and firsts[i] < ends[i]
        ]

    def _floor(self, scores: NDArray[np.float32], terms: list["_Term"], keep: int) -> float:
        """A score above 0 that the `keep` best surely reach, as so many with one term do.

        The heaviest term with so many is taken: few other paragraphs reach that far.
        """
        for term in terms:
            if term.postings.stop - term.postings.start >= keep:
                return _nth_best(scores[self._rows[term.postings]], keep)
        return _ABOVE_ZERO


class _Term(NamedTuple):
    """Where a term's postings stand, and tf(question) idf^2."""

    postings: slice
    weight: np.float32


def inverse_frequency(paragraphs: int, paragraphs_with: NDArray[np.int64]) -> NDArray[np.float64]:
    """idf of terms that stand in so many of the paragraphs; never below 0: (terms,)"""
    idf = np.log((paragraphs - paragraphs_with + 0.5) / (paragraphs_with + 0.5))
    return np.asarray(np.maximum(idf, 0.0))


def _nth_best(scores: NDArray[np.float32], n: int) -> float:
    """The n-th highest score, or a hair above 0 if there are fewer."""
    if len(scores) < n:
        return _ABOVE_ZERO
    return float(np.partition(scores, len(scores) - n)[len(scores) - n])


def _mapped(path: Path) -> NDArray[Any]:
    """A memory map as a plain array: the subclass costs time at every slice."""
    try:
        return np.asarray(np.load(path, mmap_mode="r"))
    except (OSError, EOFError, ValueError, SyntaxError, TokenError) as error:
        raise ArtifactError(
            f"{path} is damaged ({error}). Delete {path.parent}: it is built again when it is "
            "next asked for."
        ) from error
