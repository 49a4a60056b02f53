"""Ctrl-C, kill -9, a second writer, a reader of our output that leaves: nothing is lost."""

import json
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

from command_line import (
    MUPPET,
    animals,
    answers,
    assert_refused,
    make_zoo,
    muppet,
    muppet_process,
    write_rows,
)

from muppet.knowledge.open import KnowledgeBase

ROWS = 1_500
KILLS = 20


@contextmanager
def running(*arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """A command under way; whatever happens, it does not outlive the test."""
    pipe = subprocess.PIPE
    command = [*MUPPET, *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, preexec_fn=_hear_ctrl_c
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _hear_ctrl_c() -> None:
    """As in a terminal: a process started in the background is told to ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(2_000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("It did not happen within 20 seconds")


def staged(kb: Path) -> int:
    """How many documents a run under way has put aside."""
    file = kb / "incoming.sqlite"
    if not file.exists():
        return 0
    with closing(sqlite3.connect(file)) as db:
        try:
            return int(db.execute("SELECT count(*) FROM documents").fetchone()[0])
        except sqlite3.OperationalError:  # the table is about to be made
            return 0


def lines(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def generation(number: int) -> list[dict[str, object]]:
    """The same ids in every generation, each time with other texts."""
    much = ", and nothing else" * 8  # 1,000 rows have to fill the buffers before they are read
    return [
        {
            "id": f"row{row}",
            "title": f"Row {row}",
            "text": f"g{number}r{row} is what it says{much}.",
        }
        for row in range(ROWS)
    ]


def texts(kb: KnowledgeBase) -> dict[str, str]:
    numbers = [number for number, _, _ in kb.store.texts()]
    return {found.id: found.text for found in kb.store.paragraphs(numbers).values()}


def send(stream: IO[bytes] | None, data: bytes) -> None:
    assert stream is not None
    stream.write(data)
    stream.flush()


def interrupt_in_the_middle(kb: Path, rows: list[dict[str, object]]) -> None:
    """Ctrl-C when a part of the rows is read and the rest is still to come."""
    with running("index", "-", "--into", kb) as process:
        send(process.stdin, lines(rows))
        wait_until(lambda: staged(kb) >= 1_000)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert out == b""
    assert err.strip().startswith(b"muppet: interrupted")
    assert err.strip().count(b"\n") == 0


def test_ctrl_c_leaves_the_knowledge_base_as_it_was_and_the_next_run_goes_on(
    tmp_path: Path,
) -> None:
    zoo = make_zoo(tmp_path)
    before = answers(zoo, "zebra", "lion", "g0r7")
    interrupt_in_the_middle(zoo, generation(0))
    assert answers(zoo, "zebra", "lion", "g0r7") == before
    assert muppet("info", zoo, "--json").json["interrupted"] is True

    finished = muppet("index", "-", "--into", zoo, "--json", stdin=lines(generation(0)))
    assert finished.json["added"] == ROWS
    assert answers(zoo, "zebra", "lion")[0][0][0]["paragraph"] == "zebra"
    assert [chain[0]["paragraph"] for chain in answers(zoo, "g0r7")[0]] == ["row7"]
    assert muppet("info", zoo, "--json").json["interrupted"] is False


def test_what_an_interrupted_run_read_does_not_leak_into_another(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    interrupt_in_the_middle(zoo, generation(0))
    source = write_rows(tmp_path / "owl.jsonl", animals("owl"))
    summary = muppet("index", source, "--into", zoo, "--json").json
    assert (summary["added"], summary["documents"]) == (1, 3)
    assert answers(zoo, "g0r7") == [[]]


def test_ctrl_c_before_anything_is_stored_leaves_a_knowledge_base_that_can_be_filled(
    tmp_path: Path,
) -> None:
    kb = tmp_path / "kb"
    interrupt_in_the_middle(kb, generation(0))
    assert_refused(muppet("search", kb, "zebra"), "holds no documents yet")
    summary = muppet("index", "-", "--into", kb, "--json", stdin=lines(generation(0))).json
    assert summary["documents"] == ROWS


def test_two_cannot_write_at_once_but_one_can_read(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    before = answers(zoo, "zebra", "lion")
    source = write_rows(tmp_path / "owl.jsonl", animals("owl"))
    with running("index", "-", "--into", zoo) as first:
        wait_until((zoo / "lock.owner").exists)
        who = f"{zoo} is being written by process {first.pid}"
        assert_refused(muppet_process("index", source, "--into", zoo), who, "Wait")
        assert_refused(muppet("remove", zoo, "lion"), who)
        assert answers(zoo, "zebra", "lion") == before
        assert muppet("info", zoo).code == 0
        _, err = first.communicate(lines(animals("elk")), timeout=20)
    assert (first.returncode, err) == (0, b"")
    assert muppet("index", source, "--into", zoo).code == 0
    assert [len(found) for found in answers(zoo, "elk", "owl")] == [1, 1]


def test_two_cannot_make_one_new_knowledge_base_at_once(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    source = write_rows(tmp_path / "owl.jsonl", animals("owl"))
    with running("index", "-", "--into", kb) as first:
        wait_until((kb / "manifest.json").exists)
        assert_refused(muppet("index", source, "--into", kb), f"by process {first.pid}")
        first.communicate(lines(animals("elk")), timeout=20)
    assert first.returncode == 0
    assert [len(found) for found in answers(kb, "elk", "owl")] == [1, 0]


def test_a_killed_writer_lets_go_of_the_lock(tmp_path: Path) -> None:
    zoo = make_zoo(tmp_path)
    with running("index", "-", "--into", zoo):
        wait_until((zoo / "lock.owner").exists)
    assert (zoo / "lock.owner").exists()  # it had no time to tidy up
    assert muppet("remove", zoo, "lion").code == 0


def test_a_reader_of_our_output_may_leave(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    muppet("index", "-", "--into", kb, stdin=lines(generation(0)))
    with running("search", kb, "row says", "--top", "1000") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(timeout=20) == 0


def assert_whole(directory: Path, old: int, new: int) -> int:
    """All rows are of one generation, and are found by its words alone; which one it is."""
    with KnowledgeBase(directory) as kb:
        stored = texts(kb)
        assert stored.pop("keeper") == "The keeper stays."
        now = next(
            number
            for number in (old, new)
            if stored == {row["id"]: row["text"] for row in generation(number)}
        )
        for row in (0, 7, ROWS - 1):
            hops = kb.narrow(f"g{now}r{row}", 5)
            found = kb.store.paragraphs([hop.paragraph for hop in hops])
            assert [paragraph.id for paragraph in found.values()] == [f"row{row}"]
            other = old + new - now
            assert now == other or kb.narrow(f"g{other}r{row}", 5) == []
        assert len(kb.narrow("keeper", 5)) == 1
    return now


def test_kill_9_at_any_moment_loses_nothing(tmp_path: Path) -> None:
    kb, undisturbed = tmp_path / "kb", tmp_path / "undisturbed"
    keeper = {"id": "keeper", "text": "The keeper stays."}
    muppet("index", "-", "--into", kb, stdin=lines([keeper, *generation(0)]))
    source = write_rows(tmp_path / "rows.jsonl", generation(1))
    began = time.monotonic()
    assert muppet_process("index", source, "--into", kb).code == 0
    full_run = time.monotonic() - began
    rng = random.Random(20)
    moments = [full_run * (part + rng.random()) / KILLS for part in range(KILLS)]
    rng.shuffle(moments)
    now = 1
    for new, moment in enumerate(moments, start=2):
        write_rows(source, generation(new))
        with running("index", source, "--into", kb):
            time.sleep(moment)
        now = assert_whole(kb, old=now, new=new)

    assert muppet_process("index", source, "--into", kb).code == 0
    muppet("index", "-", "--into", undisturbed, stdin=lines([keeper, *generation(KILLS + 1)]))
    with KnowledgeBase(kb) as one, KnowledgeBase(undisturbed) as other:
        assert texts(one) == texts(other)
        assert one.store.count_changes() == 0
        for question in (f"g{KILLS + 1}r7", "keeper", f"Row g{KILLS + 1}r1499 stays"):
            assert found(one, question) == found(other, question) != []


def found(kb: KnowledgeBase, question: str) -> list[str]:
    """The best two; not their scores, in which tantivy still counts what was just forgotten."""
    numbers = [hop.paragraph for hop in kb.narrow(question, 2)]
    paragraphs = kb.store.paragraphs(numbers)
    return [paragraphs[number].id for number in numbers]


def test_kill_9_while_a_knowledge_base_is_being_made_is_mended_by_the_next_run(
    tmp_path: Path,
) -> None:
    source = write_rows(tmp_path / "owl.jsonl", animals("owl"))
    kb = tmp_path / "kb"
    kb.mkdir()
    for name in ("lock", "lock.owner", "corpus.sqlite", "manifest.json.muppet-new"):
        (kb / name).write_bytes(b"hal")  # a half-written file of each kind that is made first
    assert muppet("index", source, "--into", kb).code == 0
    assert len(answers(kb, "owl")[0]) == 1
