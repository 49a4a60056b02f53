"""Paragraphs → the files of a TF-IDF index, in shards of bounded memory (checklist 5).

Each shard of paragraphs is counted by itself and kept as (bucket, row, count)
sorted by bucket. When all are counted, every bucket's place is known and the shards are poured
into the final arrays one after another, so rows stay in order within a bucket.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muppet.artifact import Manifest, new_artifact
from muppet.config import TfidfConfig
from muppet.domain import Progress
from muppet.lexical.ngrams import hashed_ngrams
from muppet.lexical.tfidf import FORMAT, KIND

SHARD = 20_000
"""Paragraphs counted at once."""

Text = tuple[int, str, str]
"""A paragraph's number, title and text."""


class Postings(NamedTuple):
    """Three arrays of one length, sorted by bucket and then by row."""

    buckets: NDArray[np.int64]
    rows: NDArray[np.int64]
    counts: NDArray[np.int64]


def build_tfidf(
    directory: Path,
    texts: Iterable[Text],
    total: int,
    *,
    config: TfidfConfig,
    made_from: Mapping[str, str],
    progress: Progress,
) -> None:
    """Write the index of `total` paragraphs into `directory`, whole or not at all."""
    manifest = Manifest(KIND, FORMAT, asdict(config), dict(made_from))
    with new_artifact(directory, manifest) as partial:
        shards: list[Path] = []
        numbers: list[int] = []
        paragraphs_with = np.zeros(config.buckets, dtype=np.int64)
        iterator = iter(texts)
        while shard := list(islice(iterator, SHARD)):
            postings = _count(shard, config)
            path = partial / f"shard-{len(shards)}.npy"
            rows = postings.rows + len(numbers)
            np.save(path, np.stack([postings.buckets, rows, postings.counts]).astype(np.uint32))
            firsts, lengths = _runs(postings.buckets)
            paragraphs_with[postings.buckets[firsts]] += lengths
            shards.append(path)
            numbers += [number for number, _, _ in shard]
            progress("tf-idf", len(numbers), total)
        np.save(partial / "numbers.npy", np.array(numbers, dtype=np.int64))
        _pour(partial, shards, paragraphs_with)


def _count(shard: list[Text], config: TfidfConfig) -> Postings:
    texts = (f"{title}\n{text}" if config.title else text for _, title, text in shard)
    rows, buckets = hashed_ngrams(texts, config.ngrams, config.buckets)
    keys = buckets * SHARD + rows  # sorts by bucket, then by row
    unique, counts = np.unique(keys, return_counts=True)
    return Postings(unique // SHARD, unique % SHARD, counts)


def _pour(directory: Path, shards: list[Path], paragraphs_with: NDArray[np.int64]) -> None:
    """The final arrays: each shard's postings go behind those of the shards before it."""
    used = np.flatnonzero(paragraphs_with)
    starts = np.concatenate([[0], np.cumsum(paragraphs_with[used], dtype=np.int64)])
    np.save(directory / "buckets.npy", used.astype(np.uint32))
    np.save(directory / "starts.npy", starts)
    next_free = starts[:-1].copy()
    largest = max((int(_part(path, 2).max(initial=0)) for path in shards), default=0)
    np.save(directory / "tf.npy", np.log1p(np.arange(largest + 1)).astype(np.float32))
    kind = np.min_scalar_type(largest)  # uint8 unless a word stands in one paragraph 256 times
    rows = _new_array(directory / "rows.npy", np.dtype(np.uint32), int(starts[-1]))
    counts = _new_array(directory / "counts.npy", kind, int(starts[-1]))
    for path in shards:
        buckets = _part(path, 0)
        firsts, lengths = _runs(buckets)
        at = np.searchsorted(used, buckets[firsts])
        places = np.arange(len(buckets)) + np.repeat(next_free[at] - firsts, lengths)
        rows[places] = _part(path, 1)
        counts[places] = _part(path, 2)
        next_free[at] += lengths
        path.unlink()
    for array in (rows, counts):
        if isinstance(array, np.memmap):
            array.flush()


def _runs(buckets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each bucket's postings begin in a sorted array, and how many they are."""
    firsts = np.flatnonzero(np.diff(buckets, prepend=-1))
    return firsts, np.diff(firsts, append=len(buckets))


def _part(shard: Path, row: int) -> NDArray[np.int64]:
    return np.asarray(np.load(shard, mmap_mode="r")[row], dtype=np.int64)


def _new_array(path: Path, kind: np.dtype[np.generic], length: int) -> NDArray[np.generic]:
    """An array on disk to fill; a memory map cannot be empty, so an empty one is just saved."""
    if length == 0:
        np.save(path, np.zeros(0, dtype=kind))
        return np.zeros(0, dtype=kind)
    return np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=(length,))
