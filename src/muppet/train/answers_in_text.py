"""Where a gold answer stands in a text: every exact match counts (checklist 24).

Words are compared in lower case, without punctuation and in one Unicode form; words of which
nothing is left, and articles, may stand between the words of a match, but not at its ends.
"""

import string
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from muppet.text.tokens import words

ARTICLES = frozenset({"a", "an", "the"})

Place = tuple[int, int]
"""The first and the last word of a match."""


def answer_places(text: Sequence[str], answers: Iterable[str]) -> list[Place]:
    """Every match of any answer among the words of a text, each once, in order."""
    bare = [_bare(word) for word in text]
    found = {place for answer in answers for place in _places(bare, answer)}
    return sorted(found)


def _places(text: list[str], answer: str) -> Iterator[Place]:
    every = [_bare(word) for word in words(answer)]
    wanted = [word for word in every if word and word not in ARTICLES]
    ignored = {"", *ARTICLES} if wanted else {""}  # an answer may be nothing but an article
    wanted = wanted or [word for word in every if word]
    if not wanted:
        return
    for first, word in enumerate(text):
        if word == wanted[0]:
            last = _last(text, first, wanted, ignored)
            if last is not None:
                yield first, last


def _last(text: list[str], first: int, wanted: list[str], ignored: set[str]) -> int | None:
    """Where a match that begins here ends, if it is one."""
    matched = 0
    for place in range(first, len(text)):
        if text[place] == wanted[matched]:
            matched += 1
            if matched == len(wanted):
                return place
        elif text[place] not in ignored:
            return None
    return None


@cache
def _bare(word: str) -> str:
    lower = unicodedata.normalize("NFC", word.lower())
    return "".join(character for character in lower if not _is_punctuation(character))


def _is_punctuation(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character).startswith("P")
