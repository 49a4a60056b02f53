"""Disks that are full, and directories that cannot be written: real ones, where we may mount."""

import resource
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from command_line import (
    animals,
    answers,
    assert_refused,
    make_zoo,
    muppet,
    muppet_process,
    write_rows,
)
from nasty import HOTPOT

from random_model import Demo

Mount = Callable[..., Path]


@pytest.fixture
def mount() -> Iterator[Mount]:
    """`mount(options, what, where)` until the test ends; only the administrator may do so."""
    mounted: list[Path] = []

    def call(*options: str, what: object, where: Path) -> Path:
        command = ["mount", *options, str(what), str(where)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"This needs the right to mount a disk: {done.stderr.strip()}")
        if where not in mounted:
            mounted.append(where)
        return where

    yield call
    for where in reversed(mounted):
        subprocess.run(["umount", "-l", str(where)], check=True)


def tiny_disk(mount: Mount, where: Path, size: str) -> Path:
    where.mkdir(exist_ok=True)
    return mount("-t", "tmpfs", "-o", f"size={size}", what="tmpfs", where=where)


def fill(disk: Path) -> Path:
    """Use up the last byte of a disk; the file to delete to have room again."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as stream, pytest.raises(OSError, match="No space left"):
        while True:
            stream.write(b"x" * 4096)
    return filler


def many_rows(path: Path) -> Path:
    """About a megabyte, with words of its own in every row."""
    return write_rows(
        path,
        (
            {"id": f"row{row}", "text": " ".join(f"w{row}x{word}" for word in range(20))}
            for row in range(4_000)
        ),
    )


def no_file_above(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [50_000, 300_000, 600_000])
def test_a_file_that_may_not_grow_ends_the_run_and_changes_nothing(
    tmp_path: Path, size: int
) -> None:
    zoo = make_zoo(tmp_path)
    before = answers(zoo, "zebra", "lion", "w7x7")
    rows = many_rows(tmp_path / "rows.jsonl")
    outcome = muppet_process("index", rows, "--into", zoo, before=no_file_above(size))
    assert_refused(outcome, "is full", "as it was before", "run the same command again")
    assert answers(zoo, "zebra", "lion", "w7x7") == before
    assert muppet("index", rows, "--into", zoo, "--json").json["added"] == 4_000
    assert [len(found) for found in answers(zoo, "zebra", "w7x7")] == [1, 1]


@pytest.mark.parametrize("size", ["400k", "1m", "3m"])
def test_a_full_disk_ends_the_run_and_changes_nothing(
    tmp_path: Path, mount: Mount, size: str
) -> None:
    disk = tiny_disk(mount, tmp_path / "disk", size)
    zoo = disk / "zoo"
    shutil.copytree(make_zoo(tmp_path), zoo)
    before = answers(zoo, "zebra", "lion", "w7x7")
    rows = many_rows(tmp_path / "rows.jsonl")
    assert_refused(muppet("index", rows, "--into", zoo), "is full")
    assert answers(zoo, "zebra", "lion", "w7x7") == before
    mount("-o", "remount,size=40m", what="tmpfs", where=disk)
    assert muppet("index", rows, "--into", zoo, "--json").json["added"] == 4_000
    assert [len(found) for found in answers(zoo, "zebra", "w7x7")] == [1, 1]


def test_a_knowledge_base_on_a_disk_without_one_free_byte_still_answers(
    tmp_path: Path, mount: Mount
) -> None:
    disk = tiny_disk(mount, tmp_path / "disk", "1m")
    zoo = disk / "zoo"
    shutil.copytree(make_zoo(tmp_path), zoo)
    before = answers(zoo, "zebra", "lion")
    filler = fill(disk)
    assert answers(zoo, "zebra", "lion") == before
    assert muppet("info", zoo).code == 0
    assert_refused(muppet("index", tmp_path / "zoo.jsonl", "--into", zoo), "full")
    assert_refused(muppet("remove", zoo, "lion"), "full")
    assert_refused(muppet("index", tmp_path / "zoo.jsonl", "--into", disk / "new"), "full")
    filler.unlink()
    assert answers(zoo, "zebra", "lion") == before
    assert muppet("index", tmp_path / "zoo.jsonl", "--into", disk / "new").code == 0


def test_a_disk_that_fills_up_at_the_lexical_stage_leaves_what_opens_and_heals(
    tmp_path: Path, mount: Mount
) -> None:
    zoo = make_zoo(tmp_path)
    (zoo / "bm25").rename(zoo / "aside")
    tiny_disk(mount, zoo / "bm25", "150k")
    shutil.copytree(zoo / "aside", zoo / "bm25", dirs_exist_ok=True)
    shutil.rmtree(zoo / "aside")
    rows = many_rows(tmp_path / "rows.jsonl")
    outcome = muppet_process("index", rows, "--into", zoo)
    assert_refused(outcome, "is full", "The paragraphs are stored")
    assert len(answers(zoo, "zebra")[0]) == 1
    mount("-o", "remount,size=40m", what="tmpfs", where=zoo / "bm25")
    assert [len(found) for found in answers(zoo, "zebra", "w7x7", "w3999x0")] == [1, 1, 1]


def test_no_room_for_the_first_lexical_index_is_said_and_not_taken_for_no_answer(
    tmp_path: Path, mount: Mount
) -> None:
    zoo = make_zoo(tmp_path)
    shutil.rmtree(zoo / "bm25")
    disk = tiny_disk(mount, zoo / "bm25", "16k")
    fill(disk).write_bytes(b"x" * 4_000)  # leaves room for an empty index, not for a full one
    outcome = muppet("search", zoo, "zebra")
    assert_refused(outcome, "The lexical index of", "Wait or make room")
    mount("-o", "remount,size=1m", what="tmpfs", where=disk)
    assert len(answers(zoo, "zebra")[0]) == 1


def test_scores_are_told_though_there_is_no_room_for_the_predictions(
    demo: Demo, tmp_path: Path
) -> None:
    """Every question had been asked: what was found out is not to be lost."""
    questions = write_rows(tmp_path / "q.jsonl", [HOTPOT])
    place = tmp_path / "predictions.json"
    command = ("evaluate", demo.kb, questions, "--reader", demo.reader, "--predictions", place)
    outcome = muppet_process(*command, before=no_file_above(10))
    assert outcome.code == 2
    assert "joint" in outcome.out
    assert f"Cannot write predictions to {place}" in outcome.err
    assert not place.exists()


@pytest.fixture
def read_only_zoo(tmp_path: Path, mount: Mount) -> Path:
    """The two animals, as a volume that cannot be written (mode bits do not stop root)."""
    zoo = make_zoo(tmp_path)
    volume = tmp_path / "volume"
    volume.mkdir()
    mount("--bind", what=zoo, where=volume)
    return mount("-o", "remount,bind,ro", what=zoo, where=volume)


def test_a_read_only_knowledge_base_can_be_read(tmp_path: Path, read_only_zoo: Path) -> None:
    expected = answers(tmp_path / "zoo", "zebra", "lion", "owl")
    assert answers(read_only_zoo, "zebra", "lion", "owl") == expected
    assert muppet("info", read_only_zoo, "--json").json["documents"] == 2


def test_a_read_only_knowledge_base_cannot_be_written(tmp_path: Path, read_only_zoo: Path) -> None:
    source = write_rows(tmp_path / "owl.jsonl", animals("owl"))
    refused = "cannot be written: Read-only file system"
    assert_refused(muppet("index", source, "--into", read_only_zoo), refused)
    assert_refused(muppet("remove", read_only_zoo, "lion"), refused)
    assert_refused(muppet("search", read_only_zoo, "lion", "--retriever", "tfidf"), refused)


def test_a_read_only_knowledge_base_that_a_crash_left_behind_still_answers(
    tmp_path: Path, read_only_zoo: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "zoo" / "corpus.sqlite")) as db, db:
        db.execute("INSERT INTO changes SELECT number, 1 FROM paragraphs")
    assert [len(found) for found in answers(read_only_zoo, "zebra", "lion")] == [1, 1]
