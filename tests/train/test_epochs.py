"""Which questions an epoch asks, how often, and in which batches (checklist 17, 18, 34)."""

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from muppet.domain import Paragraph
from muppet.errors import ConfigError
from muppet.train.examples import TrainingData, TrainingQuestion, draw_epoch


def bag(lengths: dict[str, list[int]]) -> TrainingData:
    """Questions of these datasets whose gold has these many words."""
    every = [(name, words) for name, many in lengths.items() for words in many]
    return TrainingData(
        tuple(
            TrainingQuestion("q", "Who?", name, (row,), (), is_ordered=False)
            for row, (name, _) in enumerate(every)
        ),
        tuple(Paragraph("T", "T", ("word " * words,)) for _, words in every),
    )


def spread(data: TrainingData, batches: list[tuple[int, ...]]) -> float:
    """The mean difference between the longest and the shortest text of a batch."""
    lengths = [[len(data.paragraphs[n].text) for n in batch] for batch in batches]
    return float(np.mean([max(some) - min(some) for some in lengths]))


def flat(batches: list[tuple[int, ...]]) -> Iterator[int]:
    return (number for batch in batches for number in batch)


def test_at_weight_one_every_question_comes_exactly_once_an_epoch() -> None:
    data = bag({"hotpotqa": list(range(40, 143)), "squad": list(range(20, 70))})
    batches = draw_epoch(data, {"hotpotqa": 1.0, "squad": 1.0}, np.random.default_rng(0), 8)
    assert sorted(flat(batches)) == list(range(153))
    assert [len(batch) for batch in batches].count(8) == 19


def test_a_batch_holds_similar_lengths_and_neither_batches_nor_pools_come_sorted() -> None:
    lengths = np.random.default_rng(3).integers(10, 400, size=2000).tolist()
    data = bag({"squad": lengths})
    batches = draw_epoch(data, {"squad": 1.0}, np.random.default_rng(0), 10)
    shuffled = np.random.default_rng(4).permutation(2000).reshape(-1, 10).tolist()
    assert spread(data, batches) < 0.1 * spread(data, shuffled)
    means = [np.mean([lengths[n] for n in batch]) for batch in batches]
    assert abs(np.corrcoef(means[:-1], means[1:])[0, 1]) < 0.3
    again = draw_epoch(data, {"squad": 1.0}, np.random.default_rng(1), 10)
    assert len({*map(frozenset, batches)} & {*map(frozenset, again)}) < 10


def test_in_pools_of_one_batch_all_lengths_meet() -> None:
    data = bag({"squad": [20] * 160, "hotpotqa": [200] * 40})
    batches = draw_epoch(
        data, {"squad": 1.0, "hotpotqa": 1.0}, np.random.default_rng(0), 20, pool_batches=1
    )
    assert all(
        {data.questions[n].dataset for n in batch} == {"squad", "hotpotqa"} for batch in batches
    )


def test_weights_draw_a_random_half_or_everything_twice_but_never_twice_in_a_batch() -> None:
    data = bag({"squad": [50] * 100, "musique": [50] * 30, "2wiki": [50] * 10})
    weights = {"squad": 0.5, "musique": 2.0, "2wiki": 0.0}
    batches = draw_epoch(data, weights, np.random.default_rng(0), 8)
    counts = Counter(flat(batches))
    assert sum(number < 100 for number in counts) == 50
    assert [counts[number] for number in range(100, 130)] == [2] * 30
    assert not any(number >= 130 for number in counts)
    assert all(len(set(batch)) == len(batch) for batch in batches)
    other = set(flat(draw_epoch(data, weights, np.random.default_rng(1), 8)))
    assert other != set(counts)


def test_a_broken_weight_still_never_puts_a_question_into_a_batch_twice() -> None:
    data = bag({"squad": [50] * 37, "musique": [50] * 11})
    batches = draw_epoch(data, {"squad": 1.4, "musique": 3.3}, np.random.default_rng(0), 16)
    assert all(len(set(batch)) == len(batch) for batch in batches)
    assert sum(map(len, batches)) == 52 + 36


def test_one_seed_gives_one_epoch() -> None:
    data = bag({"squad": list(range(300))})
    first, second, other = (
        draw_epoch(data, {"squad": 1.5}, np.random.default_rng(seed), 9) for seed in (1, 1, 2)
    )
    assert first == second != other


@pytest.mark.parametrize("weights", [{}, {"hotpot": 1.0}, {"squad": -1.0}, {"squad": math.nan}])
def test_a_dataset_without_a_weight_is_an_error_that_names_it(weights: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="squad"):
        draw_epoch(bag({"squad": [5]}), weights, np.random.default_rng(0), 2)
