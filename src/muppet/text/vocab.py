"""Words and characters ⇄ ids.

A lexicon knows word *types*, not a fixed vocabulary: any word may come along, and gets its row of
the pretrained vectors (0, the zero vector, if it has none; checklist 8) and its characters
(checklist 9).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from muppet.errors import ArtifactError

PADDING = 0
RARE = 1
"""Characters seen too seldom to have an id of their own share this one (checklist 9)."""


@dataclass(frozen=True, slots=True)
class Alphabet:
    """The characters with an id of their own; the first has the id 2."""

    characters: str
    longest: int = 14

    def __len__(self) -> int:
        return len(self.characters) + 2

    def ids(self, word: str) -> NDArray[np.int64]:
        """The word's first characters as ids, padded: (longest,)"""
        found = [self.characters.find(character) + 2 for character in word[: self.longest]]
        row = np.full(self.longest, PADDING, dtype=np.int64)
        row[: len(found)] = [id_ if id_ >= 2 else RARE for id_ in found]
        return row


def read_alphabet(path: Path, longest: int, remedy: str) -> Alphabet:
    """The one that a model's file holds; `remedy` is what helps where that is damaged."""
    try:
        return Alphabet(path.read_bytes().decode("utf-8"), longest)
    except UnicodeDecodeError as error:
        raise ArtifactError(
            f"The {path.name} of {path.parent} is damaged ({error}). {remedy}"
        ) from error


def alphabet_of(words: Iterable[str], *, at_least: int = 50, longest: int = 14) -> Alphabet:
    """The characters seen at least so often, in the order of their frequency."""
    counts: Counter[str] = Counter()
    for word in words:
        counts.update(word)
    kept = [character for character, count in counts.most_common() if count >= at_least]
    return Alphabet("".join(kept), longest)


class Lexicon:
    """Word types met so far, with what the network needs of each; grows as texts come along."""

    def __init__(self, alphabet: Alphabet, vector_row: Callable[[str], int]) -> None:
        self._alphabet = alphabet
        self._vector_row = vector_row
        self._ids: dict[str, int] = {}
        self._words: list[str] = []
        self._rows: list[int] = []
        self._characters: list[NDArray[np.int64]] = []
        self._growing = Lock()
        self._type("")  # type 0: what padding is

    def types(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The type of each word: (words,)"""
        return np.array([self._type(word) for word in words], dtype=np.int64)

    def words(self, types: NDArray[np.int64]) -> tuple[str, ...]:
        """How each type is spelled: (types,)"""
        return tuple(self._words[type_] for type_ in types.tolist())

    def vector_rows(self, types: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of the vector matrix, in which row 0 is the zero vector: (types,)"""
        return np.array([self._rows[type_] for type_ in types.tolist()], dtype=np.int64)

    def characters(self, types: NDArray[np.int64]) -> NDArray[np.int64]:
        """Character ids of each type: (types, longest)"""
        rows = [self._characters[type_] for type_ in types.tolist()]
        return np.stack(rows) if rows else np.zeros((0, self._alphabet.longest), dtype=np.int64)

    def _type(self, word: str) -> int:
        known = self._ids.get(word)
        if known is not None:
            return known
        with self._growing:
            if word not in self._ids:
                self._words.append(word)
                self._rows.append(self._vector_row(word) + 1)
                self._characters.append(self._alphabet.ids(word))
                self._ids[word] = len(self._rows) - 1  # last: others may look it up from now on
            return self._ids[word]
