"""The search over everything finds what going over every row finds, or nearly so, and says how."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numbered import Numbered, build, rows_of, vector
from numpy.typing import NDArray

from muppet.errors import ArtifactError, ConfigError
from muppet.index import vectors as vectors_module
from muppet.index import whole as module
from muppet.index.compact import compact
from muppet.index.vectors import Vectors
from muppet.index.whole import has_whole, open_whole, search_exactly

NUMBERS = [*range(5, 400), *range(600, 900)]
QUERIES = np.stack([vector(f"question {number}") for number in range(40)])
KINDS = {"exact": (10**6, 10**6), "graph": (0, 10**6), "cells": (0, 0)}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    build(tmp_path / "vectors", NUMBERS, block=1_000)
    return tmp_path / "vectors"


def choose(patch: pytest.MonkeyPatch, kind: str) -> None:
    """Have an index of this kind, few as the rows are."""
    for name, rows in zip(("EXACT", "GRAPH"), KINDS[kind], strict=True):
        patch.setattr(module, name, rows)


def by_hand(query: NDArray[np.float32], keep: int) -> list[int]:
    best = {number: float((rows_of(number) @ query).max()) for number in NUMBERS}
    return sorted(best, key=lambda number: -best[number])[:keep]


def test_going_over_every_row_in_chunks_finds_the_best(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = Vectors(directory)
    scores, sentences = vectors.search(NUMBERS, QUERIES)
    monkeypatch.setattr(vectors_module.Vectors.chunks, "__defaults__", (100,))
    for query, found in enumerate(search_exactly(vectors, QUERIES, 10)):
        order = np.argsort(-scores[query], kind="stable")[:10]
        assert found.numbers.tolist() == [NUMBERS[place] for place in order]
        assert np.allclose(found.scores, scores[query, order])
        assert found.sentences.tolist() == sentences[query, order].tolist()
    unpacked = by_hand(QUERIES[0], 10)
    assert len({*search_exactly(vectors, QUERIES[:1], 10)[0].numbers.tolist()} & {*unpacked}) >= 9


@pytest.mark.parametrize(("kind", "least"), [("exact", 0.99), ("graph", 0.95), ("cells", 0.3)])
def test_an_index_finds_most_of_the_best_and_knows_how_many(
    directory: Path, monkeypatch: pytest.MonkeyPatch, kind: str, least: float
) -> None:
    choose(monkeypatch, kind)
    vectors = Vectors(directory)
    whole = open_whole(vectors)
    right, found = search_exactly(vectors, QUERIES, 8), whole.search(QUERIES, 8)
    shares = [len({*a.numbers} & {*b.numbers}) / 8 for a, b in zip(right, found, strict=True)]
    assert whole.recall(QUERIES, 8) == pytest.approx(np.mean(shares))
    assert np.mean(shares) >= least


@pytest.mark.parametrize("kind", KINDS)
def test_what_an_index_finds_is_scored_by_our_own_rows(
    directory: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    choose(monkeypatch, kind)
    vectors = Vectors(directory)
    for query, found in zip(QUERIES, open_whole(vectors).search(QUERIES, 12), strict=True):
        scores, sentences = vectors.search(found.numbers, query[None])
        assert len(set(found.numbers.tolist())) == 12
        np.testing.assert_allclose(found.scores, scores[0], rtol=1e-5)
        assert found.sentences.tolist() == sentences[0].tolist()
        assert found.scores.tolist() == sorted(found.scores.tolist(), reverse=True)


@pytest.mark.parametrize("kind", KINDS)
def test_paragraphs_that_may_not_be_found_make_room_for_others(
    directory: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    choose(monkeypatch, kind)
    vectors = Vectors(directory)
    whole = open_whole(vectors)
    monkeypatch.setattr(module, "CELLS_VISITED", 1)
    allowed = np.array([5, 99, 640, 641])
    for found in open_whole(vectors).search(QUERIES, 3, lambda some: np.isin(some, allowed)):
        assert len(found.numbers) == 3
        assert set(found.numbers.tolist()) <= set(allowed.tolist())
    assert all(len(some.numbers) == 0 for some in whole.search(QUERIES, 3, lambda n: n < 0))


def test_more_paragraphs_than_there_are_cannot_be_found(directory: Path) -> None:
    vectors = Vectors(directory)
    for found in open_whole(vectors).search(QUERIES[:2], 10_000):
        assert sorted(found.numbers.tolist()) == NUMBERS
    assert open_whole(vectors).search(QUERIES[:0], 5) == []
    assert open_whole(vectors).search(QUERIES[:1], 0)[0].numbers.tolist() == []


def test_an_index_over_nothing_finds_nothing(tmp_path: Path) -> None:
    build(tmp_path / "vectors", [])
    whole = open_whole(Vectors(tmp_path / "vectors"))
    assert whole.search(QUERIES[:1], 5)[0].numbers.tolist() == []
    assert whole.recall(QUERIES, 5) == 1


def named(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.glob("whole-*"))


def test_an_index_is_built_once_and_again_when_the_rows_are_others(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = Vectors(directory)
    assert not has_whole(vectors)
    open_whole(vectors)
    rows = vectors.commit.rows
    assert named(directory) == [f"whole-1-{rows}.faiss"]
    build(directory, NUMBERS[9:])  # of removed paragraphs the rows are still there
    assert has_whole(Vectors(directory))
    with monkeypatch.context() as patch:
        patch.setattr(module, "_build", None)
        open_whole(Vectors(directory))
    build(directory, [*NUMBERS, 900])
    assert named(directory) == []
    assert not has_whole(Vectors(directory))
    open_whole(Vectors(directory))
    assert named(directory) == [f"whole-1-{Vectors(directory).commit.rows}.faiss"]
    compact(directory, Numbered(NUMBERS[9:]))
    assert named(directory) == []


def test_whoever_has_the_index_open_goes_on_when_the_vectors_change(directory: Path) -> None:
    whole = open_whole(Vectors(directory))
    before = [found.numbers.tolist() for found in whole.search(QUERIES, 8)]
    compact(directory, Numbered(NUMBERS[300:]))
    assert [found.numbers.tolist() for found in whole.search(QUERIES, 8)] == before


def test_progress_counts_rows(directory: Path) -> None:
    told: list[tuple[int, int | None]] = []
    open_whole(Vectors(directory), lambda _stage, done, total, _note="": told.append((done, total)))
    rows = Vectors(directory).commit.rows
    assert told[-1] == (rows, rows)


@pytest.mark.parametrize("content", [b"", b"rubbish" * 99])
def test_a_damaged_index_is_refused(directory: Path, content: bytes) -> None:
    vectors = Vectors(directory)
    (directory / vectors.commit.whole_file).write_bytes(content)
    with pytest.raises(ArtifactError, match=r"is damaged .* Delete it"):
        open_whole(vectors)


def test_without_faiss_it_says_what_to_install(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ConfigError, match=r"needs faiss, .* '\.\[faiss\]'"):
        open_whole(Vectors(directory))
    assert len(search_exactly(Vectors(directory), QUERIES, 3)) == len(QUERIES)
