"""Prepared texts → one padded batch: the only place where there is padding."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from muppet.text.prepare import Prepared
from muppet.text.vocab import Lexicon

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Batch:
    """B texts of up to T tokens, S sentences and P word pieces; U distinct words in all.

    Distinct words are embedded once and looked up by `words`; padding has the mask False.
    """

    words: NDArray[np.int64]  # (B, T), which of the U distinct words
    mask: NDArray[np.bool_]  # (B, T)
    lengths: NDArray[np.int64]  # (B,)
    segments: NDArray[np.int64]  # (B, T), which sentence; padding: S
    sentences: NDArray[np.bool_]  # (B, S), True where a sentence has tokens
    spellings: tuple[str, ...]  # (U,)
    vector_rows: NDArray[np.int64]  # (U,)
    characters: NDArray[np.int64]  # (U, characters)
    pieces: NDArray[np.int64]  # (B, P)
    piece_mask: NDArray[np.bool_]  # (B, P)
    piece_tokens: NDArray[np.int64]  # (B, P), which token; -1: none
    frozen: NDArray[np.float32] | None = None  # (B, T, L, D), contextual layers if precomputed

    def __len__(self) -> int:
        return len(self.words)


def chunks(sizes: Sequence[int], tokens: int) -> list[slice]:
    """Texts of ascending or descending size, cut into runs that are read together: each has, with
    its padding, at most so many tokens, or is one text."""
    found, first = [], 0
    for past in range(1, len(sizes) + 1):
        if past == len(sizes) or max(sizes[first], sizes[past]) * (past + 1 - first) > tokens:
            found.append(slice(first, past))
            first = past
    return found


def make_batch(texts: Sequence[Prepared], lexicon: Lexicon) -> Batch:
    """Pad texts to one shape."""
    lengths = np.array([max(len(text.types), 1) for text in texts], dtype=np.int64)
    types = padded([text.types for text in texts], 0)
    distinct, words = np.unique(types, return_inverse=True)
    mask = np.arange(types.shape[1]) < np.array([[len(text.types)] for text in texts])
    most = max(text.sentences for text in texts)
    segments = padded([text.segments for text in texts], most)
    sentences = np.zeros((len(texts), most + 1), dtype=bool)
    np.put_along_axis(sentences, segments, values=True, axis=1)
    pieces = padded([text.pieces for text in texts], 0)
    return Batch(
        words=words.reshape(types.shape),
        mask=mask,
        lengths=lengths,
        segments=segments,
        sentences=sentences[:, :most],
        spellings=lexicon.words(distinct),
        vector_rows=lexicon.vector_rows(distinct),
        characters=lexicon.characters(distinct),
        pieces=pieces,
        piece_mask=np.arange(pieces.shape[1]) < np.array([[len(text.pieces)] for text in texts]),
        piece_tokens=padded([text.piece_tokens for text in texts], -1),
        frozen=_padded_layers([text.frozen for text in texts], types.shape[1]),
    )


def padded(rows: Sequence[NDArray[Scalar]], filling: int) -> NDArray[Scalar]:
    """Rows of their own lengths as one array, (N, width of the widest): at least 1 wide."""
    width = max([1, *map(len, rows)])
    whole = np.full((len(rows), width), filling, dtype=rows[0].dtype if rows else np.int64)
    for row, values in zip(whole, rows, strict=True):
        row[: len(values)] = values
    return whole


def _padded_layers(
    rows: Sequence[NDArray[np.float16] | None], width: int
) -> NDArray[np.float32] | None:
    some = next((row for row in rows if row is not None), None)
    if some is None:
        return None
    padded = np.zeros((len(rows), width, *some.shape[1:]), dtype=np.float32)
    for place, values in enumerate(rows):
        if values is not None:
            padded[place, : len(values)] = values
    return padded
