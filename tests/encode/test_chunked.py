"""Texts in chunks: whatever the chunks and threads are, each result belongs to its text."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from muppet.encode.chunked import AT_ONCE, Chunked


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 200])
def test_results_are_in_the_texts_own_order(threads: int, count: int) -> None:
    sizes = np.random.default_rng(count).integers(1, 300, count).tolist()

    def run(some: Sequence[int]) -> list[int]:
        return [size + 1 for size in some]

    assert Chunked(threads).run(sizes, int, run) == [size + 1 for size in sizes]


def test_no_chunk_has_more_tokens_than_are_read_at_once() -> None:
    seen: list[Sequence[int]] = []
    Chunked(1).run([100] * 50 + [3000], int, lambda some: [seen.append(some)] * len(some))
    assert all(len(some) * max(some) <= AT_ONCE or len(some) == 1 for some in seen)
    assert sum(map(len, seen)) == 51


def test_a_few_texts_are_work_for_every_thread() -> None:
    """Each of two runs waits until the other has begun: one after the other would never end."""
    both = threading.Barrier(2, timeout=20)

    def run(some: Sequence[int]) -> Sequence[int]:
        both.wait()
        return some

    assert Chunked(2).run([50, 50, 50, 50], int, run) == [50, 50, 50, 50]


def test_what_goes_wrong_in_a_thread_is_told() -> None:
    def run(some: Sequence[int]) -> Sequence[int]:
        raise ValueError(str(some))

    with pytest.raises(ValueError, match="7"):
        Chunked(2).run([7, 7], int, run)
