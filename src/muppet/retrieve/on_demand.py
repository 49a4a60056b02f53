"""Sentence vectors of paragraphs that have none yet: made when a search looks at them.

Words narrow a question to some hundreds of paragraphs, so a large source can be asked, or a model
be measured on it, long before all of it is encoded; what is found is the same. They are kept in
memory for the next question, and in the form in which they would be stored.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from muppet.domain import Paragraph
from muppet.encode.encoder import TextEncoder
from muppet.index.mips import best_products
from muppet.index.quantise import Packed, inner_products, pack
from muppet.index.vectors import Numbers, Vectors

DTYPE = "int8"


class Searched(Protocol):
    """Vectors, as a search needs them."""

    def newest(self) -> Self: ...

    def has(self, numbers: Numbers) -> NDArray[np.bool_]: ...

    def search(
        self, numbers: Numbers, queries: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]: ...


class Paragraphs(Protocol):
    """Where paragraphs are looked up by their numbers."""

    def paragraphs(self, numbers: Sequence[int]) -> Mapping[int, Paragraph]: ...


class OnDemand:
    """Vectors of every paragraph there is: those on the disk, and the others as they are needed."""

    def __init__(
        self, paragraphs: Paragraphs, encoder: TextEncoder, stored: Vectors | None
    ) -> None:
        self._paragraphs = paragraphs
        self._encoder = encoder
        self._stored = stored
        self._dtype = stored.layout.dtype if stored else DTYPE
        self._made: dict[int, Packed] = {}

    def __len__(self) -> int:
        """How many paragraphs have been encoded here."""
        return len(self._made)

    def newest(self) -> Self:
        """These: what they lack on the disk they make, and what they have made stays right."""
        return self

    def has(self, numbers: Numbers) -> NDArray[np.bool_]:
        """All that words find: (P,) -> (P,)"""
        return np.ones(len(numbers), dtype=bool)

    def search(
        self, numbers: Numbers, queries: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The `best_sentences` of these paragraphs: (P,), (Q, D) -> (Q, P), (Q, P)"""
        numbers = np.asarray(numbers, dtype=np.int64)
        scores = np.empty((len(queries), len(numbers)), dtype=np.float32)
        sentences = np.empty(scores.shape, dtype=np.int64)
        is_stored = self._stored.has(numbers) if self._stored else np.zeros(len(numbers), bool)
        if self._stored and is_stored.any():
            found = self._stored.search(numbers[is_stored], queries)
            scores[:, is_stored], sentences[:, is_stored] = found
        if not is_stored.all():
            packed = self._packed(numbers[~is_stored].tolist())
            counts = np.array([len(one.rows) for one in packed], dtype=np.int64)
            joined = Packed(
                np.concatenate([one.rows for one in packed]),
                np.concatenate([one.scales for one in packed]),
            )
            found = best_products(inner_products(queries, joined), np.cumsum(counts) - counts)
            scores[:, ~is_stored], sentences[:, ~is_stored] = found
        return scores, sentences

    def _packed(self, numbers: Sequence[int]) -> list[Packed]:
        missing = [number for number in numbers if number not in self._made]
        found = self._paragraphs.paragraphs(missing)
        rows = self._encoder.sentences([found[number] for number in missing])
        for number, own in zip(missing, rows, strict=True):
            self._made[number] = pack(own, self._dtype)
        return [self._made[number] for number in numbers]
