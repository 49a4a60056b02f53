"""Which of a chain's numbers is the lesser, said in word pieces beside them.

A transformer reads 1867 and 1859 as pieces, and does not learn from some thousand questions which
is less: "who was born first?" stays a guess. So we compare for it. The first year of a paragraph is
compared with the other paragraphs' first, the second with their second, and so on, which in an
encyclopedia's openings is birth with birth and death with death; other numbers likewise. Behind a
number that is below all those it is compared with stands one word more, behind one that is above
them another. These pieces belong to no token: an answer never holds them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from muppet.text.prepare import Marks, Pieces, Prepared

MARKS = {"year": ("earlier", "later"), "count": ("fewer", "more")}
"""The words behind the lesser and the greater, by the kind of number."""
COMPARED = 4
"""So many numbers of a kind are compared, from the beginning of each paragraph."""

_YEAR = re.compile(r"1\d{3}|20\d{2}")
_COUNT = re.compile(r"(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,9})?")
_LARGE = frozenset(("hundred", "thousand", "million", "billion", "trillion", "BC", "BCE"))
"""Behind these a number is not what its digits say."""
_MONTH = re.compile(
    "January|February|March|April|May|June|July|August|September|October|November|December"
)

Numbers = dict[str, list[tuple[int, float]]]
"""kind -> which token, its value"""


def order_marks(pieces: Pieces) -> Marks:
    """The words of `MARKS` in a transformer's pieces."""
    return {kind: (pieces.of(less), pieces.of(more)) for kind, (less, more) in MARKS.items()}


def with_order(chain: Sequence[Prepared], marks: Marks) -> list[Prepared]:
    """The paragraphs of a chain, with the marks' pieces behind their numbers."""
    numbers = [_numbers(text) for text in chain]
    behind: list[dict[int, Sequence[int]]] = [{} for _ in chain]
    for kind, (less, more) in marks.items():
        for same in zip_longest(*(found.get(kind, ()) for found in numbers)):
            for place, token, order in _ordered(same):
                behind[place][token] = less if order < 0 else more
    return [_inserted(text, own) for text, own in zip(chain, behind, strict=True)]


def _ordered(same: Sequence[tuple[int, float] | None]) -> Iterator[tuple[int, int, int]]:
    """Of numbers that are compared, one a paragraph, the least (-1) and the greatest (1)."""
    there = [(place, *number) for place, number in enumerate(same) if number is not None]
    for place, token, value in there:
        others = [other for another, _, other in there if another != place]
        if others and value < min(others):
            yield place, token, -1
        elif others and value > max(others):
            yield place, token, 1


def _numbers(text: Prepared) -> Numbers:
    """A paragraph's first years and its first other numbers of up to fifteen digits, without those
    of its title. The day of a date is none of them, nor is one before "million" or "BC"."""
    words = text.tokens.words()
    found: Numbers = {kind: [] for kind in MARKS}
    for token, (word, start) in enumerate(zip(words, text.tokens.starts, strict=True)):
        is_scaled = not _LARGE.isdisjoint(words[token + 1 : token + 2])
        if start < text.body or is_scaled or not (word[0].isdecimal() and word.isascii()):
            continue
        if _YEAR.fullmatch(word):
            found["year"].append((token, float(word)))
        elif _COUNT.fullmatch(word) and not _is_day(words, token):
            found["count"].append((token, float(word.replace(",", ""))))
    return {kind: some[:COMPARED] for kind, some in found.items()}


def _is_day(words: Sequence[str], token: int) -> bool:
    could_be = len(words[token]) <= 2 and int(words[token]) <= 31
    return could_be and any(map(_MONTH.fullmatch, words[max(token - 1, 0) : token + 2]))


def _inserted(text: Prepared, behind: Mapping[int, Sequence[int]]) -> Prepared:
    """A text with pieces behind some tokens; a token that lost its own pieces gets none."""
    if not behind:
        return text
    pieces: list[NDArray[np.int64]] = []
    owners: list[NDArray[np.int64]] = []
    first = 0
    for token, more in sorted(behind.items()):
        own = np.flatnonzero(text.piece_tokens == token)
        if len(own):
            past = int(own[-1]) + 1
            pieces += [text.pieces[first:past], np.asarray(more, dtype=np.int64)]
            owners += [text.piece_tokens[first:past], np.full(len(more), -1, dtype=np.int64)]
            first = past
    return replace(
        text,
        pieces=np.concatenate([*pieces, text.pieces[first:]]),
        piece_tokens=np.concatenate([*owners, text.piece_tokens[first:]]),
    )
