"""Open a file, compressed or not, as bytes; know how far it was read and where it is damaged."""

import bz2
import codecs
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, Protocol

import zstandard

from muppet.errors import CorpusError

BLOCK = 1 << 16
STDIN = Path("-")
CONVERT = "convert it to UTF-8, e.g. with `iconv -f LATIN1 -t UTF-8`"


class UnreadableError(CorpusError):
    """A file that cannot be read, or not to its end; `place` is 0 where no line is known."""

    def __init__(self, source: str, place: int, reason: str) -> None:
        super().__init__(f"{source}:{place}: {reason}" if place else f"{source}: {reason}")
        self.source = source
        self.place = place
        self.reason = reason


class Decompressor(Protocol):
    """What the decompressors of gzip, bzip2, xz and zstandard have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


DECOMPRESSORS: dict[str, Callable[[], Decompressor]] = {
    ".gz": lambda: zlib.decompressobj(wbits=31),
    ".xz": lzma.LZMADecompressor,
    ".bz2": bz2.BZ2Decompressor,
    ".zst": lambda: zstandard.ZstdDecompressor().decompressobj(),
}
DAMAGE = (OSError, ValueError, zlib.error, lzma.LZMAError, zstandard.ZstdError)


class Stream(io.BufferedReader):
    """The uncompressed bytes of a file, without a byte order mark.

    `position` is how many bytes of the file on disk they have taken so far.
    """

    def __init__(self, raw: io.RawIOBase, disk: IO[bytes] | None) -> None:
        super().__init__(raw, BLOCK)
        self._disk = disk
        if self.peek(3).startswith(codecs.BOM_UTF8):
            self.read(3)

    @property
    def position(self) -> int:
        return self._disk.tell() if self._disk is not None and not self._disk.closed else 0


class _Disk(io.FileIO):
    """A file on a disk, which may fail in the middle of it."""

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]
        with self._reading():
            return super().readinto(buffer)

    def read(self, size: int | None = -1) -> bytes | None:  # type: ignore[override]
        with self._reading():
            return super().read(size)

    def readall(self) -> bytes:
        with self._reading():
            return super().readall() or b""

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UnreadableError(
                str(self.name), 0, f"cannot be read to its end: {error.strerror}"
            ) from None


class _Borrowed(io.RawIOBase):
    """Standard input, which stays open when its reader closes."""

    def __init__(self, lender: BinaryIO) -> None:
        self._lender = lender

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = self._lender.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)


class _Unpacked(io.RawIOBase):
    """The bytes of one or more compressed streams that follow each other in a file."""

    def __init__(self, disk: IO[bytes], path: Path, start: Callable[[], Decompressor]) -> None:
        self._disk = disk
        self._path = path
        self._start = start
        self._running: Decompressor | None = None
        self._packed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._disk.close()
        super().close()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            if not self._unpack():
                return 0
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _unpack(self) -> bool:
        """Unpack one more block; False at the end of the file."""
        packed = self._packed or self._disk.read(BLOCK)
        self._packed = b""
        if not packed and self._running is not None:
            raise UnreadableError(
                str(self._path), 0, "ends too early, as if cut off: copy or download it again"
            )
        if not packed:
            return False
        if self._running is None:
            packed = packed.lstrip(b"\0")  # the space between streams may be filled with zeros
        if packed:
            self._decompress(packed)
        return True

    def _decompress(self, packed: bytes) -> None:
        running = self._running or self._start()
        try:
            self._ready = memoryview(running.decompress(packed))
        except DAMAGE as error:
            raise UnreadableError(
                str(self._path), 0, f"is damaged ({error}): copy or download it again"
            ) from None
        self._packed = running.unused_data if running.eof else b""
        self._running = None if running.eof else running


def open_file(path: Path) -> Stream:
    """Open a file, unpacked when its name ends in .gz, .xz, .bz2 or .zst; `-` is standard input."""
    if path == STDIN:
        return Stream(_Borrowed(sys.stdin.buffer), None)
    try:
        disk = _Disk(path)
    except OSError as error:
        raise UnreadableError(str(path), 0, f"cannot be opened: {error.strerror}") from None
    start = DECOMPRESSORS.get(path.suffix.lower())
    raw = disk if start is None else _Unpacked(disk, path, start)
    try:
        return Stream(raw, disk)
    except BaseException:
        raw.close()
        raise


def inner_name(path: Path) -> Path:
    """The file's name without what says how it is compressed: `x.jsonl.xz` → `x.jsonl`."""
    return Path(path.stem if path.suffix.lower() in DECOMPRESSORS else path.name)


def inner_suffix(path: Path) -> str:
    """The suffix that says what is in the file, in lower case: `x.JSONL.xz` → `.jsonl`."""
    return inner_name(path).suffix.lower()


def decode(data: bytes, source: str) -> str:
    """The text of a whole file; UnreadableError names the line that is not UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableError(source, 1, "is UTF-16: convert it with `iconv -f UTF-16 -t UTF-8`")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line_start = data.rfind(b"\n", 0, error.start) + 1
        place = data.count(b"\n", 0, line_start) + 1
        raise UnreadableError(source, place, not_utf8(error, line_start)) from None


def not_utf8(error: UnicodeDecodeError, line_start: int = 0) -> str:
    """Why a line was not decoded, in a user's words."""
    byte = error.object[error.start]
    where = error.start - line_start + 1
    return f"is not UTF-8 (byte 0x{byte:02x}, number {where} of the line): {CONVERT}"
