"""Claims about opening files: compressed, damaged, half written, in another encoding."""

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from muppet.corpus.files import UnreadableError, decode, inner_name, inner_suffix, open_file

LINES = b"".join(b"line %d of a file\n" % number for number in range(20_000))
PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}
COMPRESSED = pytest.mark.parametrize("suffix", PACK)


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def read(path: Path) -> bytes:
    with open_file(path) as stream:
        return stream.read()


def read_lines(path: Path, lines: list[bytes]) -> None:
    """Add the lines of a file, as many as can be read."""
    with open_file(path) as stream:
        for line in stream:
            lines.append(line)


@COMPRESSED
def test_a_compressed_file_reads_like_the_plain_one(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, f"a.txt{suffix}", PACK[suffix](LINES))
    with open_file(path) as stream:
        assert list(stream) == LINES.splitlines(keepends=True)


@COMPRESSED
def test_streams_that_follow_each_other_in_one_file_are_all_read(
    tmp_path: Path, suffix: str
) -> None:
    data = PACK[suffix](b"one\n") + PACK[suffix](b"") + PACK[suffix](b"two\n")
    assert read(write(tmp_path, f"a{suffix}", data)) == b"one\ntwo\n"


def test_zeros_after_the_last_stream_are_no_damage(tmp_path: Path) -> None:
    assert read(write(tmp_path, "a.xz", lzma.compress(LINES) + bytes(70_000))) == LINES


@COMPRESSED
def test_a_cut_off_file_gives_its_first_lines_and_then_its_name(
    tmp_path: Path, suffix: str
) -> None:
    whole = PACK[suffix](b"good\n" * 100)
    path = write(tmp_path, f"cut.jsonl{suffix}", whole + whole[:-3])
    lines: list[bytes] = []
    with pytest.raises(UnreadableError, match=r"cut\.jsonl.*ends too early"):
        read_lines(path, lines)
    assert lines[:100] == [b"good\n"] * 100


@COMPRESSED
def test_lines_before_the_damage_are_read(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, f"a{suffix}", PACK[suffix](LINES) + b"no compressed data")
    lines: list[bytes] = []
    with pytest.raises(UnreadableError, match="damaged"):
        read_lines(path, lines)
    assert b"".join(lines) == LINES


@COMPRESSED
def test_a_file_that_is_not_compressed_but_named_so_is_damaged(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(UnreadableError, match="damaged"):
        open_file(write(tmp_path, f"a{suffix}", b"plain text"))


@COMPRESSED
def test_position_counts_bytes_on_disk(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, f"a{suffix}", PACK[suffix](LINES))
    with open_file(path) as stream:
        stream.read()
        assert stream.position == path.stat().st_size < len(LINES)


def test_position_grows_while_a_plain_file_is_read(tmp_path: Path) -> None:
    with open_file(write(tmp_path, "a.txt", LINES)) as stream:
        stream.readline()
        early = stream.position
        stream.read()
        assert 0 < early < stream.position == len(LINES)


def test_an_empty_compressed_file_is_empty(tmp_path: Path) -> None:
    assert read(write(tmp_path, "a.gz", b"")) == b""


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Path) -> None:
    assert read(write(tmp_path, "a.txt.gz", gzip.compress(b"\xef\xbb\xbfHello"))) == b"Hello"


def test_a_missing_file_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"gone\.txt: cannot be opened: No such file"):
        open_file(tmp_path / "gone.txt")


def test_standard_input_stays_open_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"a\nb\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read(Path("-")) == b"a\nb\n"
    assert not stdin.buffer.closed


@pytest.mark.parametrize(
    ("name", "inner", "suffix"),
    [
        ("x.jsonl.xz", "x.jsonl", ".jsonl"),
        ("x.CSV.GZ", "x.CSV", ".csv"),
        ("wiki_00.bz2", "wiki_00", ""),
        ("x.txt", "x.txt", ".txt"),
    ],
)
def test_the_inner_name_is_what_the_file_holds(name: str, inner: str, suffix: str) -> None:
    assert inner_name(Path("folder") / name) == Path(inner)
    assert inner_suffix(Path("folder") / name) == suffix


def test_bytes_that_are_not_utf8_are_told_with_line_and_byte() -> None:
    with pytest.raises(UnreadableError, match=r"0xe9, number 4 of the line.*iconv") as caught:
        decode("één\nzwei\ncaf".encode() + b"\xe9\nrest", "a.txt")
    assert caught.value.place == 3


def test_utf16_is_recognised_by_its_mark() -> None:
    with pytest.raises(UnreadableError, match="UTF-16"):
        decode("Hello".encode("utf-16"), "a.txt")
