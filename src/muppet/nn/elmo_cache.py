"""ELMo's vectors without context, of frequent words, computed once (checklist 10)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from muppet.artifact import Manifest, new_artifact, read_manifest
from muppet.errors import ArtifactError
from muppet.nn.elmo import Elmo
from muppet.text.tokens import words as words_of

CACHE_KIND, CACHE_FORMAT = "elmo-tokens", 1
REMAKE = "muppet train elmo KB ELMO"
UNKNOWN = "<UNK>"  # spelt as in the published vocabulary


def frequent_words(texts: Iterable[tuple[str, str]], at_least: int) -> list[str]:
    """Of (title, text) pairs the words of titles, and those that come so often (in the paper 5)."""
    in_titles, counts = dict[str, None](), Counter[str]()
    for title, text in texts:
        own = words_of(title)
        in_titles |= dict.fromkeys(own)
        counts.update(own)
        counts.update(words_of(text))
    often = (word for word, count in counts.items() if count >= at_least)
    return list(in_titles | dict.fromkeys(often))


class TokenCache:
    """Vectors without context, of frequent words, computed once; other words share one vector.

    Row 0 is padding, row 1 the unknown word, then the words. An unknown word is a token like any
    other: it has a row of its own, so that no sequence gets shorter by it (checklist 10).
    """

    PADDING_ROW, UNKNOWN_ROW, FIRST_ROW = range(3)

    def __init__(self, words: Sequence[str], vectors: NDArray[np.float32]) -> None:
        self.words = words
        self._vectors = vectors  # (2 + U, P)
        self._rows = {word: row for row, word in enumerate(words, start=self.FIRST_ROW)}

    @classmethod
    def build(cls, elmo: Elmo, words: Iterable[str]) -> Self:
        """The vectors of these words; a word may come more than once."""
        distinct = list(dict.fromkeys(words))
        vectors = elmo.token_vectors([UNKNOWN, *distinct])
        return cls(distinct, pad(vectors, (0, 0, 1, 0)).detach().cpu().numpy())

    @classmethod
    def open(cls, directory: Path, elmo: Elmo) -> Self:
        """A saved cache, memory-mapped, refused if its vectors are not those of this ELMo."""
        read_manifest(directory, CACHE_KIND, CACHE_FORMAT, remake=REMAKE)
        vectors = np.load(directory / "vectors.npy", mmap_mode="r")
        lines = (directory / "words.txt").read_bytes().decode("utf-8").split("\n")[:-1]
        unknown = elmo.token_vectors([UNKNOWN])[0].detach().cpu().numpy()  # (P,)
        shape = (cls.FIRST_ROW + len(lines), len(unknown))
        if vectors.shape != shape or not np.allclose(vectors[cls.UNKNOWN_ROW], unknown, atol=1e-4):
            raise ArtifactError(
                f"{directory} is damaged or of another ELMo. Build it again with `{REMAKE}`."
            )
        return cls(lines, vectors)

    def save(self, directory: Path) -> None:
        """Two files, `vectors.npy` and `words.txt`, in one artifact."""
        with new_artifact(directory, Manifest(CACHE_KIND, CACHE_FORMAT)) as partial:
            np.save(partial / "vectors.npy", self._vectors, allow_pickle=False)
            (partial / "words.txt").write_bytes("".join(f"{w}\n" for w in self.words).encode())

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """As many rows as words, none of them padding."""
        return np.array([self._rows.get(word, self.UNKNOWN_ROW) for word in words], dtype=np.int64)

    def vectors(self, rows: NDArray[np.int64]) -> Tensor:
        """Rows of any shape (...) -> (..., P)"""
        return torch.from_numpy(np.array(self._vectors[rows]))
