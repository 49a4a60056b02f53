"""Whether what is known, the question and the chain so far, names a paragraph by its title.

Documents speak of one another by name, and questions of what they ask about: a hop to a paragraph
that nothing before it has named is less likely right. Not in the paper.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from muppet.domain import Paragraph
from muppet.text.normalise import normalise

_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")


def name_of(title: str) -> str:
    """A title as it is named in a text: without what tells it from others of that name, which
    stands in brackets at its end."""
    return _padded(_IN_BRACKETS.sub("", title))


def known_text(question: str, chain: Iterable[Paragraph]) -> str:
    """A question and what its chain has read, as names are looked for in them."""
    return _padded(with_chain(question, chain))


def with_chain(question: str, chain: Iterable[Paragraph]) -> str:
    """A question and what its chain has read, in one text."""
    return "\n".join([question, *(f"{one.title}. {one.text}" for one in chain)])


def unnamed(names: Sequence[str], known: str) -> NDArray[np.float32]:
    """1 for every name that the known text lacks, 0 for those it has; a title of nothing but
    punctuation is never named: (P,)"""
    return np.array([not name.strip() or name not in known for name in names], dtype=np.float32)


def _padded(text: str) -> str:
    """So that a name is found as whole words alone."""
    return f" {normalise(text)} "
