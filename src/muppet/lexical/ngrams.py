"""Texts → hashed n-grams, the terms of the paper's TF-IDF (checklist 5)."""

import unicodedata
from collections.abc import Iterable

import mmh3
import numpy as np
from numpy.typing import NDArray

from muppet.text.stopwords import STOP_WORDS
from muppet.text.tokens import words

_DROPPED = -1


def hashed_ngrams(
    texts: Iterable[str], longest: int, buckets: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The text and the bucket of every 1- to `longest`-gram: two arrays, (grams,) each.

    NFD, tokens, lower case; an n-gram with a stop word or a punctuation mark in it is dropped;
    bucket = unsigned murmurhash3-32 (seed 0) of its words joined by a space, mod `buckets`.
    """
    vocabulary = _Vocabulary()
    flat: list[int] = []
    ends: list[int] = []
    for text in texts:
        flat += map(vocabulary.__getitem__, words(unicodedata.normalize("NFD", text)))
        flat.append(_DROPPED)  # no n-gram reaches into the next text
        ends.append(len(flat))
    ids = np.array(flat, dtype=np.int64)  # (tokens,)
    text_of = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))  # (tokens,)
    grams, names = ids, vocabulary.words
    found_texts, found_buckets = [], []
    for length in range(1, longest + 1):
        if length > 1:
            grams, names = _lengthened(grams, names, ids[length - 1 :], vocabulary.words)
        kept = np.flatnonzero(grams != _DROPPED)
        hashes = np.array([mmh3.hash(name, 0, signed=False) for name in names], dtype=np.int64)
        found_texts.append(text_of[kept])
        found_buckets.append(hashes[grams[kept]] % buckets)
    return np.concatenate(found_texts), np.concatenate(found_buckets)


class _Vocabulary(dict[str, int]):
    """Token → id of its lower-case word; stop words and punctuation have none."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._ids: dict[str, int] = {}

    def __missing__(self, token: str) -> int:
        word = token.lower()
        id_ = self._ids.get(word)
        if id_ is None:
            id_ = _DROPPED if _is_dropped(word) else len(self.words)
            self._ids[word] = id_
            if id_ != _DROPPED:
                self.words.append(word)
        self[token] = id_
        return id_


def _is_dropped(word: str) -> bool:
    return word in STOP_WORDS or all(unicodedata.category(c).startswith("P") for c in word)


def _lengthened(
    grams: NDArray[np.int64], names: list[str], next_words: NDArray[np.int64], words_: list[str]
) -> tuple[NDArray[np.int64], list[str]]:
    """Every gram with the word behind it: ids, and the distinct longer grams they stand for."""
    grams = grams[: len(next_words)]
    kept = (grams != _DROPPED) & (next_words != _DROPPED)
    keys = grams[kept] * max(len(words_), 1) + next_words[kept]
    distinct, which = np.unique(keys, return_inverse=True)
    longer = np.full(len(grams), _DROPPED, dtype=np.int64)
    longer[kept] = which
    pairs = zip(*(part.tolist() for part in np.divmod(distinct, max(len(words_), 1))), strict=True)
    return longer, [f"{names[gram]} {words_[word]}" for gram, word in pairs]
