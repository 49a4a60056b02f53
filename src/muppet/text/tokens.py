"""Text → tokens that remember their characters.

One tokenizer for everything: words, numbers and single marks, English clitics apart ("did|n't",
"Ferguson|'s") as the published word vectors expect. No Java, no download (checklist 1).
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

# Latin, Greek, Cyrillic, punctuation and Han hold no combining marks; elsewhere look closer.
_MAY_HOLD_MARKS = re.compile("[^\\x00-\u02ff\u0370-\u0482\u048a-\u0590\u1e00-\u20cf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text and where its tokens stand in it: token i is `text[starts[i]:ends[i]]`."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def __len__(self) -> int:
        return len(self.starts)

    def words(self) -> list[str]:
        return [self.text[s:e] for s, e in zip(self.starts, self.ends, strict=True)]

    def slice_text(self, first: int, last: int) -> str:
        """The source's own characters from token `first` to token `last`, both included."""
        return self.text[self.starts[first] : self.ends[last]]


def tokenize(text: str) -> Tokens:
    """The tokens of a text, in order; between them stands nothing but white space."""
    spans = [match.span() for match in _pattern_for(text).finditer(text)]
    return Tokens(text, [start for start, _ in spans], [end for _, end in spans])


def words(text: str) -> list[str]:
    """The tokens' words alone: the same as `tokenize(text).words()`, without the offsets."""
    return _pattern_for(text).findall(text)


def _pattern_for(text: str) -> re.Pattern[str]:
    """Rarer rules cost time on every word, so a text without their characters skips them."""
    marked = _MAY_HOLD_MARKS.search(text) is not None
    return _pattern(marked=marked, negated="n't" in text or "n’t" in text)


@cache
def _pattern(*, marked: bool, negated: bool) -> re.Pattern[str]:
    rules = [
        r"\d+(?:[.,:]\d+)+",  # 1,234.5  12:30
        r"(?:[A-Z]\.){2,}",  # U.S.
        *([r"\w+?(?=n['’]t\b)", r"n['’]t\b"] if negated else []),  # did|n't
        r"(?<=\w)['’](?:s|re|ve|ll|d|m|t)\b",  # Ferguson|'s
        rf"(?:\w|{_mark().pattern})+" if marked else r"\w+",
        r"\S",
    ]
    return re.compile("|".join(rules))


@cache
def _mark() -> re.Pattern[str]:
    """One accent or vowel sign: they belong to their word, but to `re` they are no part of it."""
    marks = {code for code in range(0x20000) if unicodedata.category(chr(code)).startswith("M")}
    ends = [code for code in sorted(marks) if code + 1 not in marks]
    starts = [code for code in sorted(marks) if code - 1 not in marks]
    ranges = (f"{chr(first)}-{chr(last)}" for first, last in zip(starts, ends, strict=True))
    return re.compile(f"[{''.join(ranges)}]")
