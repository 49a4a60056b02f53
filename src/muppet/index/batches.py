"""Paragraphs → their vectors, on all cores: similar lengths together, the longest first.

A batch takes as long as its longest paragraph, and the last batches to finish are short ones.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import numpy as np
from numpy.typing import NDArray

from muppet.domain import Paragraph

Encode = Callable[[Sequence[Paragraph]], Sequence[NDArray[np.float32]]]
"""Paragraphs -> for each an array (sentences, dim); called from several threads at once."""


class Workers:
    """Threads that encode; leaving the `with` block, whatever the reason, ends their work."""

    def __init__(self, encode: Encode, threads: int, batch: int) -> None:
        self._encode = encode
        self._batch = batch
        self._pool = ThreadPoolExecutor(threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def encode(
        self, paragraphs: Sequence[Paragraph], report: Callable[[int], None]
    ) -> list[NDArray[np.float32]]:
        """The vectors of each paragraph, in their order, whichever batch was done first.

        `report` is told of each batch how many paragraphs it had.
        """
        lengths = [sum(map(len, paragraph.sentences)) for paragraph in paragraphs]
        order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable").tolist()
        batches = [order[at : at + self._batch] for at in range(0, len(order), self._batch)]
        running = [
            self._pool.submit(self._encode, [paragraphs[place] for place in batch])
            for batch in batches
        ]
        vectors: dict[int, NDArray[np.float32]] = {}
        for batch, encoded in zip(batches, running, strict=True):
            vectors |= zip(batch, encoded.result(), strict=True)
            report(len(batch))
        return [vectors[place] for place in range(len(paragraphs))]
