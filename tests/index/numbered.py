"""Paragraphs in a dictionary, an encoder that makes vectors of their texts, and what comes out.

Run as a program, it encodes slowly into a directory, to be killed:

    python numbered.py DIRECTORY COUNT SECONDS_PER_BATCH [KEYWORD=VALUE ...]
"""

import json
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muppet.domain import Paragraph
from muppet.index.build import EncodeSummary, encode_paragraphs
from muppet.index.vectors import Vectors

DIM = 16
Rows = NDArray[np.float32]


def paragraph(number: int) -> Paragraph:
    """One to five sentences of different lengths, the same ones every time."""
    rng = np.random.default_rng(number)
    words = rng.integers(1, 30, rng.integers(1, 6))
    sentences = tuple(f"{number}.{place} " + "word " * count for place, count in enumerate(words))
    return Paragraph(id=f"p{number}", title=f"Title {number}", sentences=sentences)


class Numbered:
    """A store of paragraphs that are made when they are asked for."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = np.array(sorted(numbers), dtype=np.int64)

    def numbers(self) -> NDArray[np.int64]:
        return self._numbers

    def paragraphs(self, numbers: Sequence[int]) -> dict[int, Paragraph]:
        return {number: paragraph(number) for number in numbers}


def vector(text: str, dim: int = DIM) -> Rows:
    """A vector of length 1 that depends on every character."""
    made = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(dim)
    return (made / np.linalg.norm(made)).astype(np.float32)


def encode(paragraphs: Sequence[Paragraph]) -> list[Rows]:
    return [np.stack([vector(text) for text in some.sentences]) for some in paragraphs]


def slow(seconds: float) -> Callable[[Sequence[Paragraph]], list[Rows]]:
    def encode_slowly(paragraphs: Sequence[Paragraph]) -> list[Rows]:
        time.sleep(seconds)
        return encode(paragraphs)

    return encode_slowly


def rows_of(number: int) -> Rows:
    """What the vectors of a paragraph ought to be: (sentences, dim)"""
    return encode([paragraph(number)])[0]


def build(directory: Path, numbers: Iterable[int], **settings: Any) -> EncodeSummary:  # noqa: ANN401
    """Encode in small blocks and batches, as int8 sentences, unless told otherwise."""
    chosen = {
        "dtype": "int8",
        "dim": DIM,
        "granularity": "sentence",
        "encoder_checksum": "one",
        "block": 16,
        "batch": 4,
        **settings,
    }
    return encode_paragraphs(directory, Numbered(numbers), **{"encode": encode, **chosen})


def contents(directory: Path) -> dict[str, bytes]:
    """Every file below a directory, by its name there."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def assert_right(vectors: Vectors, numbers: Iterable[int], off_by: float = 0.0) -> None:
    """These are the paragraphs with vectors, and each has its own."""
    expected = sorted(numbers)
    assert vectors.numbers.tolist() == expected
    assert len(vectors) == len(expected)
    gathered = vectors.gather(expected)
    right = [rows_of(number) for number in expected]
    assert np.diff(gathered.starts, append=len(gathered.rows)).tolist() == list(map(len, right))
    if expected:
        np.testing.assert_allclose(gathered.rows, np.concatenate(right), atol=off_by, rtol=0)


if __name__ == "__main__":
    where, count, seconds, *rest = sys.argv[1:]
    keywords = {word.partition("=")[0]: json.loads(word.partition("=")[2]) for word in rest}
    build(Path(where), range(1, int(count) + 1), encode=slow(float(seconds)), **keywords)
