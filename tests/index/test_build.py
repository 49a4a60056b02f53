"""Encoding does what is to be done and no more: new paragraphs, in good batches, all or nothing."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numbered import (
    DIM,
    Numbered,
    Rows,
    assert_right,
    build,
    contents,
    encode,
    paragraph,
    vector,
)

from muppet.config import CorpusConfig
from muppet.corpus.store import Store, create_store
from muppet.corpus.writer import Staging
from muppet.domain import Document, Paragraph
from muppet.errors import ArtifactError
from muppet.index.build import EncodeSummary, encode_paragraphs
from muppet.index.vectors import Vectors

OFF_BY = 0.5001 / 127


class Watched:
    """An encoder that remembers what it was given."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.threads: set[int] = set()

    def __call__(self, paragraphs: Sequence[Paragraph]) -> list[Rows]:
        self.batches.append([one.id for one in paragraphs])
        self.threads.add(threading.get_ident())
        time.sleep(0.001)
        return encode(paragraphs)

    @property
    def ids(self) -> list[str]:
        return sorted(id_ for batch in self.batches for id_ in batch)


def counts(summary: EncodeSummary) -> tuple[int, int, int]:
    return summary.encoded, summary.unchanged, summary.removed


def test_only_new_paragraphs_are_encoded(tmp_path: Path) -> None:
    directory, watched = tmp_path / "vectors", Watched()
    assert counts(build(directory, range(1, 51))) == (50, 0, 0)
    assert counts(build(directory, range(1, 61), encode=watched)) == (10, 50, 0)
    assert watched.ids == sorted(f"p{number}" for number in range(51, 61))
    assert_right(Vectors(directory), range(1, 61), OFF_BY)
    before = contents(directory)
    assert counts(build(directory, range(1, 61), encode=watched)) == (0, 60, 0)
    assert contents(directory) == before
    assert len(watched.ids) == 10


def test_removed_paragraphs_are_counted_and_stay_until_the_vectors_are_compacted(
    tmp_path: Path,
) -> None:
    build(tmp_path / "vectors", range(1, 51))
    changed = [*range(1, 30), *range(51, 60)]
    assert counts(build(tmp_path / "vectors", changed)) == (9, 29, 21)
    assert counts(build(tmp_path / "vectors", changed)) == (0, 38, 21)
    assert_right(Vectors(tmp_path / "vectors"), range(1, 60), OFF_BY)


@settings(max_examples=15)
@given(
    steps=st.lists(st.sets(st.integers(0, 6), max_size=7), min_size=1, max_size=5),
    dtype=st.sampled_from(["int8", "float16", "float32"]),
)
def test_after_any_additions_every_paragraph_has_its_vectors(
    tmp_path_factory: pytest.TempPathFactory, steps: list[set[int]], dtype: str
) -> None:
    directory = tmp_path_factory.mktemp("steps") / "vectors"
    numbers: list[int] = []
    for step, some in enumerate(steps):
        numbers += [10 * step + one for one in sorted(some)]
        summary = build(directory, numbers, dtype=dtype, block=4)
        assert (summary.encoded, summary.unchanged) == (len(some), len(numbers) - len(some))
        assert_right(Vectors(directory), numbers, OFF_BY)
        assert summary.rows == Vectors(directory).commit.rows


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("batch", [1, 4, 64])
def test_neither_threads_nor_batches_change_the_result(
    tmp_path: Path, threads: int, batch: int
) -> None:
    build(tmp_path / "plain", range(1, 90), threads=1, batch=64)
    rng = np.random.default_rng(1)

    def untimely(paragraphs: Sequence[Paragraph]) -> list[Rows]:
        time.sleep(rng.uniform(0, 0.002))
        return encode(paragraphs)

    build(tmp_path / "other", range(1, 90), threads=threads, batch=batch, encode=untimely)
    assert contents(tmp_path / "other") == contents(tmp_path / "plain")


def test_batches_are_of_similar_lengths_and_the_longest_go_first(tmp_path: Path) -> None:
    watched = Watched()
    build(tmp_path / "vectors", range(1, 65), encode=watched, block=1_000, batch=8, threads=1)
    assert [len(batch) for batch in watched.batches] == [8] * 8
    lengths = [len(paragraph(int(id_[1:])).text) for batch in watched.batches for id_ in batch]
    assert lengths == sorted(lengths, reverse=True)


def test_the_work_is_shared_by_threads(tmp_path: Path) -> None:
    watched = Watched()
    build(tmp_path / "vectors", range(1, 65), encode=watched, batch=1, threads=2)
    assert len(watched.threads) == 2


def test_progress_counts_paragraphs(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []

    def tell(stage: str, done: int, total: int | None, note: str = "") -> None:
        assert not note
        told.append((stage, done, total))

    build(tmp_path / "vectors", range(1, 41), progress=tell)
    assert {(stage, total) for stage, _, total in told} == {("encoding", 40)}
    done = [done for _, done, _ in told]
    assert (done[0], done[-1], done) == (0, 40, sorted(done))


@pytest.mark.parametrize(
    "other",
    [
        {"encoder_checksum": "two"},
        {"dtype": "float16"},
        {"granularity": "paragraph"},
        {"dim": 8, "encode": lambda some: [rows[:, :8] for rows in encode(some)]},
    ],
    ids=lambda other: next(iter(other)),
)
def test_vectors_of_another_kind_are_not_mixed_but_built_again_if_one_says_so(
    tmp_path: Path, other: dict[str, object]
) -> None:
    directory = tmp_path / "vectors"
    build(directory, range(1, 51))
    before, reader = contents(directory), Vectors(directory)
    with pytest.raises(ArtifactError, match=r"another encoder, .* `muppet encode KB --again`"):
        build(directory, range(1, 61), **other)
    assert contents(directory) == before
    assert counts(build(directory, range(1, 61), again=True, **other)) == (60, 0, 0)
    assert counts(build(directory, range(1, 61), **other)) == (0, 60, 0)
    build(tmp_path / "anew", range(1, 61), **other)
    new, anew = Vectors(directory), Vectors(tmp_path / "anew")
    assert np.array_equal(new.gather(range(1, 61)).rows, anew.gather(range(1, 61)).rows)
    assert new.layout == anew.layout != reader.layout
    assert_right(reader, range(1, 51), OFF_BY)  # who was reading goes on


def test_building_again_leaves_removed_paragraphs_out(tmp_path: Path) -> None:
    build(tmp_path / "vectors", range(1, 51))
    assert counts(build(tmp_path / "vectors", range(11, 51), again=True)) == (40, 0, 0)
    assert_right(Vectors(tmp_path / "vectors"), range(11, 51), OFF_BY)
    names = {path.name for path in (tmp_path / "vectors").iterdir()}
    assert names == {"manifest.json", "rows-2.bin", "scales-2.bin", "table-2.bin", "pending"}


def test_paragraphs_of_another_knowledge_base_are_refused(tmp_path: Path) -> None:
    build(tmp_path / "vectors", [1, 2, 7])
    with pytest.raises(ArtifactError, match=r"made from other paragraphs: number 3 .*--again"):
        build(tmp_path / "vectors", [1, 2, 3, 7, 8])
    build(tmp_path / "vectors", [1, 2, 3, 7, 8], again=True)
    assert_right(Vectors(tmp_path / "vectors"), [1, 2, 3, 7, 8], OFF_BY)


def test_a_directory_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("Chapter 1")
    for again in (False, True):
        with pytest.raises(ArtifactError, match=r"holds thesis\.txt"):
            build(tmp_path, [1], again=again)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    "rows", [np.ones((0, DIM)), np.ones((2, DIM + 1)), np.ones(DIM), np.full((1, DIM), np.nan)]
)
def test_an_encoder_that_does_not_keep_its_promise_is_a_bug(tmp_path: Path, rows: Rows) -> None:
    with pytest.raises(ValueError, match="The encoder gave"):
        build(tmp_path / "vectors", [1], encode=lambda some: [rows.astype(np.float32)] * len(some))
    with pytest.raises(ValueError, match="zip"):
        build(tmp_path / "vectors", [1], encode=lambda _some: [])


def test_a_store_is_a_place_where_paragraphs_live(tmp_path: Path) -> None:
    path = tmp_path / "corpus.sqlite"
    create_store(path)
    staging = Staging(path, tmp_path / "incoming.sqlite", CorpusConfig())
    staging.add([Document("Owl", "birds", n, f"owl{n}", f"Owls hoot. {n} times.") for n in (1, 2)])
    staging.publish()
    store = Store(path)
    summary = encode_paragraphs(
        tmp_path / "vectors",
        store,
        encode,
        dtype="float32",
        dim=DIM,
        granularity="sentence",
        encoder_checksum="one",
    )
    assert counts(summary) == (2, 0, 0)
    gathered = Vectors(tmp_path / "vectors").gather(store.numbers())
    assert np.array_equal(gathered.rows[2], vector(store.paragraphs([2])[2].sentences[0]))
    store.close()


def test_numbers_that_are_far_apart_are_no_burden(tmp_path: Path) -> None:
    numbers = [5_000_000, 5_000_001, 5_900_000]
    build(tmp_path / "vectors", numbers)
    assert_right(Vectors(tmp_path / "vectors"), numbers, OFF_BY)
    assert Numbered(numbers).numbers().tolist() == numbers
