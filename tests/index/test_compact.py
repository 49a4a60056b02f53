"""Compacting drops removed paragraphs from the disk, and from nobody who is reading."""

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numbered import Numbered, assert_right, build, contents, vector

from muppet.errors import ArtifactError
from muppet.index.compact import compact
from muppet.index.vectors import Vectors

OFF_BY = 0.5001 / 127


@settings(max_examples=15)
@given(
    kept=st.sets(st.integers(1, 60)),
    dtype=st.sampled_from(["int8", "float16", "float32"]),
)
def test_what_is_kept_is_what_would_be_built_of_it(
    tmp_path_factory: pytest.TempPathFactory, kept: set[int], dtype: str
) -> None:
    where = tmp_path_factory.mktemp("compact")
    build(where / "vectors", range(1, 61), dtype=dtype)
    summary = compact(where / "vectors", Numbered(kept))
    assert (summary.kept, summary.dropped) == (len(kept), 60 - len(kept))
    assert_right(Vectors(where / "vectors"), kept, OFF_BY)
    assert summary.bytes_after == Vectors(where / "vectors").bytes
    build(where / "anew", kept, dtype=dtype)
    sizes = [sorted(map(len, contents(where / name).values())) for name in ("vectors", "anew")]
    assert sizes[0][:-1] == sizes[1][:-1]  # all but the manifest, where the numbers differ
    build(where / "vectors", [*kept, *range(61, 70)], dtype=dtype)
    assert_right(Vectors(where / "vectors"), [*kept, *range(61, 70)], OFF_BY)


def test_where_nothing_was_removed_nothing_is_written(tmp_path: Path) -> None:
    build(tmp_path / "vectors", range(1, 61))
    before = contents(tmp_path / "vectors")
    summary = compact(tmp_path / "vectors", Numbered(range(1, 70)))
    assert (summary.kept, summary.dropped) == (60, 0)
    assert summary.bytes_before == summary.bytes_after
    assert contents(tmp_path / "vectors") == before


def test_the_disk_has_room_again(tmp_path: Path) -> None:
    build(tmp_path / "vectors", range(1, 61))
    summary = compact(tmp_path / "vectors", Numbered(range(1, 31)))
    assert summary.bytes_after < 0.7 * summary.bytes_before
    files = list((tmp_path / "vectors").glob("*.bin"))
    assert sum(path.stat().st_size for path in files) == summary.bytes_after


def test_who_has_the_vectors_open_goes_on_reading_them(tmp_path: Path) -> None:
    directory = tmp_path / "vectors"
    build(directory, range(1, 61))
    reader = Vectors(directory)
    compact(directory, Numbered(range(1, 31)))
    assert_right(reader, range(1, 61), OFF_BY)
    build(directory, [*range(1, 31), *range(61, 99)])
    build(directory, range(100, 120), again=True)
    assert_right(reader, range(1, 61), OFF_BY)
    assert sum(len(numbers) for numbers, _ in reader.chunks(8)) == 60


def test_readers_come_and_go_while_a_writer_writes(tmp_path: Path) -> None:
    directory = tmp_path / "vectors"
    build(directory, [1])
    is_over, opened, failures = threading.Event(), [0], []

    def read() -> None:
        while not is_over.is_set():
            try:
                vectors = Vectors(directory)
                scores, _ = vectors.search(vectors.numbers, vector("anything")[None])
                assert np.isfinite(scores).all()
                opened[0] += 1
            except Exception as error:
                failures.append(error)
                return

    reader = threading.Thread(target=read)
    reader.start()
    for last in range(10, 200, 10):
        build(directory, range(last - 5, last + 5))
        compact(directory, Numbered(range(last, last + 5)))
    is_over.set()
    reader.join()
    assert failures == []
    assert opened[0] > 10


def test_there_must_be_vectors_to_compact(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"no vectors in .* `muppet encode KB`"):
        compact(tmp_path, Numbered([1]))
