"""Many texts through a graph: in chunks of similar size, some of them at the same time.

A graph runs on one thread, and several runs go on beside each other: two threads in one run would
wait for each other at every layer.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from muppet.text.batch import chunks

AT_ONCE = 1024
"""Tokens of texts of similar length that are read together: what a core's cache holds."""

ALONE = 1
"""For graphs that know no padding: each text by itself."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Chunked:
    """Runs over texts on so many threads."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def run(
        self,
        items: Sequence[Item],
        size: Callable[[Item], int],
        run: Callable[[Sequence[Item]], Sequence[Result]],
        at_once: int = AT_ONCE,
    ) -> list[Result]:
        """Run on chunks, longest first; the results in the items' own order. At once are read so
        many tokens, or one text."""
        sizes = [size(item) for item in items]
        order = sorted(range(len(items)), key=lambda place: -sizes[place])
        share = -(-sum(sizes) // self._threads)  # few texts, too, are work for every thread
        parts = [
            order[part] for part in chunks([sizes[place] for place in order], min(at_once, share))
        ]
        runs = [[items[place] for place in part] for part in parts]
        found = map(run, runs) if self._pool is None else self._pool.map(run, runs)
        results: dict[int, Result] = {}
        for part, some in zip(parts, found, strict=True):
            results.update(zip(part, some, strict=True))
        return [results[place] for place in range(len(items))]
