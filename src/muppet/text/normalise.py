"""Answers as the official evaluations compare them (checklist 29)."""

import re
import string

_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:the|an|a)\b")


def normalise(text: str) -> str:
    """Lower case, then no ASCII punctuation, then no articles, then single spaces."""
    bare = text.lower().translate(_WITHOUT_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", bare).split())
