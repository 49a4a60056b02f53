"""Killed, interrupted or out of room at any moment: what counted still does, and the same call
then ends byte for byte like one that nothing disturbed."""

import errno
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numbered
import pytest
from numbered import Numbered, Rows, assert_right, build, contents, encode

from muppet.artifact import MANIFEST
from muppet.domain import Paragraph
from muppet.errors import ArtifactError
from muppet.index.compact import compact
from muppet.index.vectors import Vectors

OFF_BY = 0.5001 / 127
KILLS = 12
OLD = range(1, 41)
NEW = [*range(11, 41), *range(45, 80)]
"""Some are removed, some added."""

FILE_OPERATIONS = {
    "open",
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.truncate",
    "shutil.rmtree",
}


def in_a_child(work: Callable[[], object]) -> int:
    """Do the work in a process of its own; the code it leaves with: 0 done, 1 an error."""
    child = os.fork()
    if child == 0:
        code = 1
        with suppress(BaseException):
            work()
            code = 0
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_before(operation: int, directory: Path, work: Callable[[], object]) -> bool:
    """Do the work in a child that dies just before its n-th operation on a file there."""

    def die_in_time() -> None:
        left = operation

        def watch(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal left
            if event in FILE_OPERATIONS and str(arguments[0]).startswith(str(directory)):
                if not left:
                    os._exit(9)
                left -= 1

        sys.addaudithook(watch)
        work()

    code = in_a_child(die_in_time)
    assert code in (0, 9)
    return code == 9


JOBS: dict[str, Callable[[Path], object]] = {
    "add": lambda where: build(where, NEW, block=32),
    "float32": lambda where: build(where, NEW, block=64, dtype="float32", again=True),
    "again": lambda where: build(where, NEW, block=64, encoder_checksum="two", again=True),
    "compact": lambda where: compact(where, Numbered(NEW[:30])),
    "nothing": lambda where: build(where, OLD),
}


def assert_usable(directory: Path) -> None:
    """What is there is what was there before, or all of what was to be."""
    vectors = Vectors(directory)
    assert_right(vectors, vectors.numbers.tolist(), OFF_BY)
    assert set(vectors.numbers.tolist()) in [set(OLD), {*OLD, *NEW}, set(NEW), set(NEW[:30])]


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS)
def test_killed_between_any_two_file_operations_it_ends_like_an_undisturbed_run(
    tmp_path: Path, job: str
) -> None:
    build(tmp_path / "before", OLD)
    shutil.copytree(tmp_path / "before", tmp_path / "undisturbed")
    JOBS[job](tmp_path / "undisturbed")
    right = contents(tmp_path / "undisturbed")
    for operation in range(1_000):
        directory = tmp_path / "vectors"
        shutil.copytree(tmp_path / "before", directory)
        was_killed = killed_before(operation, directory, lambda: JOBS[job](tmp_path / "vectors"))
        assert_usable(directory)
        if was_killed:
            JOBS[job](directory)
        assert contents(directory) == right, f"killed before operation {operation}"
        shutil.rmtree(directory)
        if not was_killed:
            break
    assert operation > (3 if job == "nothing" else 15)


def test_a_first_build_may_be_killed_between_any_two_file_operations_again_and_again(
    tmp_path: Path,
) -> None:
    build(tmp_path / "undisturbed", NEW)
    for step in (3, 11, 17):
        directory = tmp_path / f"vectors{step}"
        operation = step
        while killed_before(operation, directory, lambda where=directory: build(where, NEW)):
            operation += step
            if not (directory / MANIFEST).exists():
                with pytest.raises(ArtifactError, match="no vectors"):
                    Vectors(directory)
        assert contents(directory) == contents(tmp_path / "undisturbed")


def test_what_a_killed_run_wrote_behind_no_rows_at_all_does_not_count(tmp_path: Path) -> None:
    for name in ("vectors", "undisturbed"):
        build(tmp_path / name, [])
    (tmp_path / "vectors" / "rows-1.bin").write_bytes(b"left by a run that was killed")
    assert_right(Vectors(tmp_path / "vectors"), [])
    for name in ("vectors", "undisturbed"):
        build(tmp_path / name, OLD)
    assert contents(tmp_path / "vectors") == contents(tmp_path / "undisturbed")


def test_whoever_has_vectors_open_goes_on_when_damaged_ones_are_built_again(tmp_path: Path) -> None:
    def build_again_under_a_reader() -> None:
        build(tmp_path / "vectors", OLD)
        reader = Vectors(tmp_path / "vectors")
        (tmp_path / "vectors" / MANIFEST).write_text("rubbish")
        build(tmp_path / "vectors", [1, 2], again=True)
        assert_right(reader, OLD, OFF_BY)
        assert_right(Vectors(tmp_path / "vectors"), [1, 2], OFF_BY)

    assert in_a_child(build_again_under_a_reader) == 0  # to cut its file would kill the reader


def run_slowly(directory: Path, count: int, seconds: float) -> "subprocess.Popen[bytes]":
    """Encode in a process of its own, which hears Ctrl-C as in a terminal."""
    return subprocess.Popen(
        [sys.executable, numbered.__file__, str(directory), str(count), str(seconds)],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    )


def wait_for_blocks(directory: Path, process: "subprocess.Popen[bytes]", blocks: int) -> None:
    while len(list(directory.glob("pending/*.npz"))) < blocks and process.poll() is None:
        time.sleep(0.002)


@pytest.mark.slow
def test_kill_9_at_random_moments_loses_nothing(tmp_path: Path) -> None:
    rng = random.Random(4)
    build(tmp_path / "undisturbed", range(1, 256))
    kills = builds = 0
    while kills < KILLS:
        directory = tmp_path / f"vectors{builds}"
        while True:
            blocks = len(list(directory.glob("pending/*.npz")))
            with run_slowly(directory, 255, 0.02) as process:
                if blocks < 16:  # all of them: let it write the rest
                    wait_for_blocks(directory, process, min(blocks + rng.randrange(1, 6), 16))
                    time.sleep(rng.uniform(0, 0.06))
                    process.kill()
            if process.returncode == 0:
                break
            assert process.returncode == -signal.SIGKILL
            kills += 1
        builds += 1
        assert contents(directory) == contents(tmp_path / "undisturbed")


@pytest.mark.slow
def test_ctrl_c_ends_it_and_the_next_run_goes_on(tmp_path: Path) -> None:
    build(tmp_path / "undisturbed", range(1, 201))
    with run_slowly(tmp_path / "vectors", 200, 0.05) as process:
        wait_for_blocks(tmp_path / "vectors", process, 3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode in (130, -signal.SIGINT)
    assert b"KeyboardInterrupt" in errors
    assert 3 <= len(list((tmp_path / "vectors").glob("pending/*.npz"))) < 13
    build(tmp_path / "vectors", range(1, 201))
    assert contents(tmp_path / "vectors") == contents(tmp_path / "undisturbed")


class Stopping:
    """An encoder that somebody stops after so many batches, and that counts its paragraphs."""

    def __init__(self, batches: int = 1_000) -> None:
        self.left = batches
        self.paragraphs = 0

    def __call__(self, paragraphs: Sequence[Paragraph]) -> list[Rows]:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        self.paragraphs += len(paragraphs)
        return encode(paragraphs)


def stop_in_the_middle(directory: Path, **settings: object) -> None:
    """Some blocks are finished, others are not."""
    with pytest.raises(KeyboardInterrupt):
        build(directory, range(1, 101), encode=Stopping(12), threads=1, **settings)
    assert 1 < len(list(directory.glob("pending/*.npz"))) < 6


def test_finished_blocks_are_not_encoded_again_and_progress_says_so(tmp_path: Path) -> None:
    stop_in_the_middle(tmp_path / "vectors")
    told: list[int] = []
    rest = Stopping()
    build(
        tmp_path / "vectors",
        range(1, 101),
        encode=rest,
        progress=lambda _stage, done, _total, _note="": told.append(done),
    )
    assert 50 < rest.paragraphs < 80
    assert (told[0], told[-1]) == (100 - rest.paragraphs, 100)


@pytest.mark.parametrize(
    "other", [{"encoder_checksum": "two"}, {"dtype": "float16"}, {"block": 32}], ids=str
)
def test_blocks_of_another_run_are_not_used(tmp_path: Path, other: dict[str, object]) -> None:
    stop_in_the_middle(tmp_path / "vectors")
    watched = Stopping()
    build(tmp_path / "vectors", range(1, 101), encode=watched, **other)
    assert watched.paragraphs == 100
    build(tmp_path / "undisturbed", range(1, 101), **other)
    assert contents(tmp_path / "vectors") == contents(tmp_path / "undisturbed")


def test_paragraphs_that_changed_meanwhile_are_encoded_as_they_are_now(tmp_path: Path) -> None:
    stop_in_the_middle(tmp_path / "vectors")
    changed = [*range(1, 5), *range(7, 101), 101, 102]
    build(tmp_path / "vectors", changed)
    build(tmp_path / "undisturbed", changed)
    assert contents(tmp_path / "vectors") == contents(tmp_path / "undisturbed")


@pytest.mark.parametrize("content", [b"", b"rubbish" * 99, None])
def test_a_block_that_cannot_be_read_is_encoded_again(
    tmp_path: Path, content: bytes | None
) -> None:
    stop_in_the_middle(tmp_path / "vectors")
    block = tmp_path / "vectors" / "pending" / "block-000000.npz"
    block.write_bytes(block.read_bytes()[:-30] if content is None else content)
    build(tmp_path / "vectors", range(1, 101))
    build(tmp_path / "undisturbed", range(1, 101))
    assert contents(tmp_path / "vectors") == contents(tmp_path / "undisturbed")


def test_building_again_is_resumed_too_while_the_old_vectors_answer(tmp_path: Path) -> None:
    build(tmp_path / "vectors", OLD)
    stop_in_the_middle(tmp_path / "vectors", encoder_checksum="two", again=True)
    assert_right(Vectors(tmp_path / "vectors", {"encoder": "one"}), OLD, OFF_BY)
    rest = Stopping()
    build(tmp_path / "vectors", range(1, 101), encoder_checksum="two", again=True, encode=rest)
    assert rest.paragraphs < 80
    assert_right(Vectors(tmp_path / "vectors", {"encoder": "two"}), range(1, 101), OFF_BY)


def test_vectors_are_not_compacted_under_a_stopped_run(tmp_path: Path) -> None:
    build(tmp_path / "vectors", OLD)
    stop_in_the_middle(tmp_path / "vectors")
    before = contents(tmp_path / "vectors")
    with pytest.raises(ArtifactError, match=r"stopped in the middle.*`muppet encode KB`"):
        compact(tmp_path / "vectors", Numbered(NEW))
    assert contents(tmp_path / "vectors") == before


def no_file_above(size: int, work: Callable[[], object]) -> None:
    """Do the work where no file may grow larger; that must fail as a full disk does."""

    def try_it() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        with pytest.raises(OSError, match="File too large") as failure:
            work()
        assert failure.value.errno == errno.EFBIG

    assert in_a_child(try_it) == 0


FAR_APART = [*range(1, 200), 9_000]
"""The table of these is the largest of their files, 72 kB; the rows take 9 kB, a block 2 kB."""


@pytest.mark.parametrize("size", [100, 1_000, 3_000, 8_000, 10_000, 70_000])
def test_a_full_disk_is_an_error_and_the_run_goes_on_when_there_is_room(
    tmp_path: Path, size: int
) -> None:
    build(tmp_path / "undisturbed", FAR_APART)
    directory = tmp_path / "vectors"
    no_file_above(size, lambda: build(directory, FAR_APART))
    assert not list(directory.rglob("*.npz.partial"))  # it makes no use of what room there is
    blocks = list(directory.glob("pending/*.npz"))
    assert len(blocks) == (14 if size >= 3_000 else 0)
    build(directory, FAR_APART)
    assert contents(directory) == contents(tmp_path / "undisturbed")


@pytest.mark.parametrize("size", [500, 1_200])
@pytest.mark.parametrize("job", ["add", "compact", "again"])
def test_a_full_disk_takes_nothing_away(tmp_path: Path, job: str, size: int) -> None:
    build(tmp_path / "before", OLD)
    shutil.copytree(tmp_path / "before", tmp_path / "undisturbed")
    shutil.copytree(tmp_path / "before", tmp_path / "vectors")
    no_file_above(size, lambda: JOBS[job](tmp_path / "vectors"))
    assert_right(Vectors(tmp_path / "vectors"), OLD, OFF_BY)
    for directory in (tmp_path / "vectors", tmp_path / "undisturbed"):
        JOBS[job](directory)
    assert contents(tmp_path / "vectors") == contents(tmp_path / "undisturbed")


def test_an_error_of_the_encoder_comes_out_and_stops_the_others(tmp_path: Path) -> None:
    given = []

    def fails(paragraphs: Sequence[Paragraph]) -> list[Rows]:
        given.append(len(paragraphs))
        time.sleep(0.01)
        raise RuntimeError("no such model")

    with pytest.raises(RuntimeError, match="no such model"):
        build(tmp_path / "vectors", range(1, 1_001), encode=fails, block=1_000)
    assert len(given) < 100  # of 250 batches
