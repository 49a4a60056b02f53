"""The best spans of a chain: start + end logit, within one region, of limited length."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from muppet.text.layout import NOWHERE

Floats = NDArray[np.float64]
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Found:
    """Tokens `first` to `last`, both included, and the sum of their logits."""

    first: int
    last: int
    score: float


def best_span(start: Floats, end: Floats, regions: NDArray[np.int64], longest: int) -> Found | None:
    """The best span of at most `longest` tokens, in O(tokens): (T,), (T,), (T,).

    Of equal ones the first to end, and of those the longest. None where no token may be answer.
    """
    found: Found | None = None
    somewhere = regions != NOWHERE
    start, end = (np.where(somewhere, logits, -np.inf) for logits in (start, end))
    for first, past in extents(regions):
        scores = window_maximum(start[first:past], longest) + end[first:past]
        last = first + int(scores.argmax())
        if found is None or scores[last - first] > found.score:
            begin = max(first, last - longest + 1)
            place = begin + int(start[begin : last + 1].argmax())
            found = Found(place, last, float(scores[last - first]))
    return found


def span_scores(
    start: Floats, end: Floats, regions: NDArray[np.int64], longest: int, brevity: float = 0.0
) -> Floats:
    """What every span has, less `brevity` for each token beyond its first; -inf is no span:
    (T,), (T,), (T,) -> (T, longest), by last token and then by first."""
    if not len(start):
        return np.zeros((0, longest))
    own = regions[:, None]
    inside = (_windows(regions, longest, NOWHERE) == own) & (own != NOWHERE)
    more = np.arange(longest)[::-1]  # tokens beyond the first
    return np.where(
        inside, _windows(start, longest, -np.inf) + end[:, None] - brevity * more, -np.inf
    )


def best_spans(scores: Floats, count: int) -> list[Found]:
    """The `count` best of all spans, best first: (T, longest)."""
    longest, flat = scores.shape[1], scores.ravel()
    best = _greatest(flat, count)
    found = [
        Found(int(place // longest + place % longest) - longest + 1, int(place // longest), score)
        for place, score in zip(best.tolist(), flat[best].tolist(), strict=True)
        if score > -np.inf
    ]
    return sorted(found, key=lambda one: -one.score)


def window_maximum(values: Floats, width: int) -> Floats:
    """The greatest of each value and the `width - 1` before it, in O(values): (T,) -> (T,)

    Values are cut into blocks of `width`; a window is the end of one block and the beginning of
    the next, and the maxima of all ends and all beginnings are running ones.
    """
    blocks = -(-len(values) // width)
    filled = np.full((blocks, width), -np.inf)
    filled.flat[: len(values)] = values
    beginnings = np.maximum.accumulate(filled, axis=1).ravel()[: len(values)]
    ends = np.maximum.accumulate(filled[:, ::-1], axis=1)[:, ::-1].ravel()
    beginnings[width - 1 :] = np.maximum(
        beginnings[width - 1 :], ends[: max(len(values) - width + 1, 0)]
    )
    return beginnings


def _windows(values: NDArray[Scalar], width: int, filling: float) -> NDArray[Scalar]:
    """Each value and the `width - 1` before it: (T,) -> (T, width)"""
    before = np.full(width - 1, filling, dtype=values.dtype)
    return sliding_window_view(np.concatenate([before, values]), width)


def _greatest(values: Floats, count: int) -> NDArray[np.intp]:
    """Where the greatest values are; sorting so few of so many would take longer."""
    if count >= len(values):
        return np.arange(len(values))
    return np.argpartition(-values, count)[:count]


def extents(regions: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Where each region begins, and where it is past; tokens that are nowhere may stand inside."""
    for region in np.unique(regions[regions != NOWHERE]):
        places = np.flatnonzero(regions == region)
        yield int(places[0]), int(places[-1]) + 1
