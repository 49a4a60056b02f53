"""A question with a chain → what the reader reads, and where each token of it comes from.

Titles are read, so an answer may stand in one; but a span lies within one title or one
paragraph's text, never across. The full stop that we set behind a title is nobody's answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from muppet.text.batch import padded
from muppet.text.numbers import with_order
from muppet.text.prepare import Prepared, Preparer

NOWHERE = -1
_STOP = len(". ")  # between a title and its paragraph's text


@dataclass(frozen=True, slots=True)
class Layout:
    """T tokens in S sentences of a chain's paragraphs, one paragraph behind another.

    Tokens of one region, a title or a paragraph's text, may be one answer; one of `NOWHERE`
    begins and ends none. Where the question is read in the same text it comes first, as sentence 0,
    and is nowhere.
    """

    segments: NDArray[np.int64]  # (T,), which sentence
    regions: NDArray[np.int64]  # (T,)
    titles: NDArray[np.bool_]  # (T,), True where a token is of a title
    places: NDArray[np.int64]  # (T,), which paragraph of the chain
    tokens: NDArray[np.int64]  # (T,), which token of that paragraph
    present: NDArray[np.bool_]  # (S,), True where a sentence can be support
    sentence_places: NDArray[np.int64]  # (S,), which paragraph of the chain
    sentence_numbers: NDArray[np.int64]  # (S,), which sentence of that paragraph


@dataclass(frozen=True, slots=True)
class Layouts:
    """B chains of up to T tokens and S sentences, padded to one shape."""

    mask: NDArray[np.bool_]  # (B, T)
    segments: NDArray[np.int64]  # (B, T), padding: S
    sentences: NDArray[np.bool_]  # (B, S), True where a sentence can be support
    titles: NDArray[np.bool_]  # (B, T)


@dataclass(frozen=True, slots=True)
class Reading:
    """One question with one chain; `joined` is both in one text, for a network that wants that."""

    question: Prepared
    chain: tuple[Prepared, ...]
    layout: Layout
    joined: Prepared | None

    @property
    def size(self) -> int:
        """What its reading costs."""
        return len(self.joined.pieces) if self.joined else len(self.layout.segments)

    def characters(self, first: int, last: int) -> tuple[int, int, int, bool]:
        """Tokens of one region as characters: paragraph of the chain, start, end, whether of its
        title; they count from the beginning of the paragraph's text, or of its title."""
        place = int(self.layout.places[first])
        text, tokens = self.chain[place], self.layout.tokens
        start, end = text.tokens.starts[tokens[first]], text.tokens.ends[tokens[last]]
        if self.layout.titles[first]:
            return place, start, min(end, text.body - _STOP), True
        return place, start - text.body, end - text.body, False


def reading_apart(question: Prepared, chain: Sequence[Prepared]) -> Reading:
    """Question and paragraphs, each a text of its own."""
    return Reading(question, tuple(chain), _lay_out(chain), None)


def reading_joined(preparer: Preparer, question: Prepared, chain: Sequence[Prepared]) -> Reading:
    """Question and chain in one text; where they are too long for a transformer, the longest
    paragraphs lose their ends, and what was lost is in no answer and no support. Nor does an
    answer begin or end with a token that has no word piece, such as a soft hyphen."""
    compared = with_order(chain, preparer.marks) if preparer.marks else chain
    shown = _fitting([question, *compared], preparer.positions)
    joined = preparer.joined(shown[0], shown[1:])
    layout = _lay_out(chain, question)
    seen = np.isin(np.arange(len(layout.segments)), joined.piece_tokens)
    kept = np.zeros(len(layout.present), dtype=bool)
    kept[layout.segments[seen]] = True
    layout = replace(
        layout,
        regions=np.where(seen, layout.regions, NOWHERE),
        present=layout.present & kept,
    )
    joined = replace(joined, segments=layout.segments, sentences=len(layout.present))
    return Reading(question, tuple(chain), layout, joined)


def pad_layouts(layouts: Sequence[Layout]) -> Layouts:
    sentences = padded([layout.present for layout in layouts], 0)
    return Layouts(
        mask=padded([np.ones(len(layout.segments), dtype=bool) for layout in layouts], 0),
        segments=padded([layout.segments for layout in layouts], sentences.shape[1]),
        sentences=sentences,
        titles=padded([layout.titles for layout in layouts], 0),
    )


def _lay_out(chain: Sequence[Prepared], question: Prepared | None = None) -> Layout:
    """The layout of a chain, perhaps behind the one sentence of a question."""
    lead, before = (len(question.types), 1) if question else (0, 0)
    firsts = before + np.cumsum([0, *(text.sentences for text in chain)])
    counts = np.array([len(text.types) for text in chain], dtype=np.int64)
    places = np.repeat(np.arange(len(chain)), counts)
    segments = [text.segments + first for text, first in zip(chain, firsts, strict=False)]
    titles = [_starts(text) < text.body for text in chain]
    stops = [_is_stop(text) for text in chain]
    of_title = np.concatenate([np.zeros(lead, dtype=bool), *titles])
    regions = _led(lead, NOWHERE, 2 * places) + np.where(of_title, 0, 1)
    nowhere = np.concatenate([np.ones(lead, dtype=bool), *stops])
    present = np.zeros(firsts[-1], dtype=bool)
    present[np.concatenate([np.zeros(0, dtype=np.int64), *segments])] = True
    sentences = np.array([text.sentences for text in chain], dtype=np.int64)
    numbers = [np.arange(count) for count in sentences]
    return Layout(
        segments=_led(lead, 0, *segments),
        regions=np.where(nowhere, NOWHERE, regions),
        titles=of_title,
        places=_led(lead, NOWHERE, places),
        tokens=_led(lead, NOWHERE, *(np.arange(count) for count in counts)),
        present=present,
        sentence_places=_led(before, NOWHERE, np.repeat(np.arange(len(chain)), sentences)),
        sentence_numbers=_led(before, NOWHERE, *numbers),
    )


def _led(lead: int, filling: int, *parts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.full(lead, filling, dtype=np.int64), *parts])


def _starts(text: Prepared) -> NDArray[np.int64]:
    return np.asarray(text.tokens.starts, dtype=np.int64)


def _is_stop(text: Prepared) -> NDArray[np.bool_]:
    """Where the full stop behind the title is: (T,)"""
    starts = _starts(text)
    return (starts >= text.body - _STOP) & (starts < text.body)


def _fitting(texts: Sequence[Prepared], positions: int) -> list[Prepared]:
    """The texts with so many pieces that all of them fit, each ending with its last piece.

    All may have as many as the longest that is not cut; every text but the first leaves out its
    beginning when they are joined.
    """
    lengths = [len(text.pieces) for text in texts]
    room = positions + len(texts) - 1
    most = max(lengths)
    while sum(min(length, most) for length in lengths) > room:
        most -= 1
    return [_cut(text, most) for text in texts]


def _cut(text: Prepared, most: int) -> Prepared:
    if len(text.pieces) <= most:
        return text
    keep = np.r_[: most - 1, len(text.pieces) - 1]
    return replace(text, pieces=text.pieces[keep], piece_tokens=text.piece_tokens[keep])
