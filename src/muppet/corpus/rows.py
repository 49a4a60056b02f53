"""JSONL, JSON, CSV and TSV → one Document a row.

A row has `text`, or `sentences` (a list; in CSV and TSV written as JSON), and may have `title` and
`id`. Also understood: `_id` for id; `contents`, `body` and `paragraph_text` for text. A row
without a title is called by its id, or else by its file and number.
"""

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from muppet.corpus.files import (
    STDIN,
    Stream,
    UnreadableError,
    decode,
    inner_name,
    inner_suffix,
    not_utf8,
)
from muppet.domain import Broken, Document

Value = tuple[int, Any]
"""A place, counted from 1, and the JSON value found there, or Broken."""

LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
IDS = ("id", "_id")
TEXTS = ("text", "contents", "body", "paragraph_text")
NEEDS = "a row needs `text` or `sentences`, and may have `title` and `id`"
LARGEST_FIELD = 1 << 26  # of a CSV file; bounded, since a forgotten quote makes one field of a file


def json_values(stream: Stream, source: str) -> Iterator[Value]:
    """The values of a JSON array, or of JSON lines; a whole object is one value.

    Lines are read one by one; what cannot be parsed comes as Broken, and reading goes on.
    """
    path = Path(source)
    is_array = stream.peek(1).lstrip().startswith(b"[")
    if not is_array and (path == STDIN or inner_suffix(path) in LINE_SUFFIXES):
        return json_lines(stream, source)
    return _whole(stream.read(), source)


def read_rows(values: Iterable[Value], source: str) -> Iterator[Document | Broken]:
    """One Document, or the reason why not, for each JSON value."""
    for place, value in values:
        yield value if type(value) is Broken else row_document(value, source, place)


def read_table(stream: Stream, source: str, delimiter: str) -> Iterator[Document | Broken]:
    """One Document a row of a CSV or TSV file, whose first row names the columns."""
    csv.field_size_limit(max(csv.field_size_limit(), LARGEST_FIELD))
    lines = _Lines(stream)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    rows = _table_rows(reader, lines, source)
    place, names = next(rows, (1, Broken(source, 1, "is empty")))
    if isinstance(names, Broken):
        yield names
        return
    names = [name.strip() for name in names]
    if not {*TEXTS, "sentences"} & {*names}:
        yield Broken(source, place, f"its first line names the columns {_list(names)}; {NEEDS}")
        return
    for place, cells in rows:
        yield cells if isinstance(cells, Broken) else _cells_document(names, cells, source, place)


def row_document(row: Any, source: str, place: int) -> Document | Broken:  # noqa: ANN401
    """The Document of one parsed row."""
    if not isinstance(row, dict):
        return Broken(source, place, f"is {_kind(row)} where an object was expected; {NEEDS}")
    id_ = _first(row, IDS)
    title = row.get("title")
    if title is None or title == "":
        title = f"{inner_name(Path(source)).stem} {place}" if id_ is None else id_
    if row.get("sentences") is not None:
        return _sentences_document(row["sentences"], title, id_, source, place)
    text = _first(row, TEXTS)
    if not isinstance(text, str) or text.isspace():
        return Broken(source, place, _no_text(row))
    return Document(str(title), source, place, None if id_ is None else str(id_), text)


def _first(row: dict[str, Any], keys: tuple[str, ...]) -> Any:  # noqa: ANN401
    """The value of the first of the keys that has one."""
    for key in keys:
        value = row.get(key)
        if value is not None and value != "":
            return value
    return None


def _no_text(row: dict[str, Any]) -> str:
    text = _first(row, TEXTS)
    if text is not None and not isinstance(text, str):
        return f"its text is {_kind(text)} where a string was expected"
    if not row.keys().isdisjoint(TEXTS):
        return "its text is empty"
    return f"has only {_list(row)}; {NEEDS}"


def _sentences_document(
    sentences: object, title: object, id_: object, source: str, place: int
) -> Document | Broken:
    if not isinstance(sentences, list) or not all(isinstance(one, str) for one in sentences):
        return Broken(source, place, "its `sentences` are not a list of strings")
    if not any(map(str.strip, sentences)):
        return Broken(source, place, "its sentences are empty")
    id_ = None if id_ is None else str(id_)
    return Document(str(title), source, place, id_, sentences=tuple(sentences))


def parse_json(text: str) -> Any:  # noqa: ANN401
    """The value of a JSON text; ValueError also for half a character (a lone surrogate)."""
    value = json.loads(text)
    if "\\" in text and ("\\ud" in text or "\\uD" in text):  # the first test is much faster
        json.dumps(value, ensure_ascii=False).encode()
    return value


def json_lines(lines: Iterable[bytes], source: str) -> Iterator[Value]:
    for place, line in enumerate(lines, 1):
        try:
            value = parse_json(line.rstrip().decode())
        except (ValueError, RecursionError) as error:
            if line.strip():
                yield place, Broken(source, place, _why(error))
        else:
            yield place, value


def _whole(data: bytes, source: str) -> Iterator[Value]:
    try:
        value = parse_json(decode(data, source))
    except UnreadableError as error:
        value = Broken(source, error.place, error.reason)
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data":
            yield from json_lines(data.split(b"\n"), source)  # JSON lines in a .json file
            return
        value = Broken(source, getattr(error, "lineno", 1), _why(error))
    yield from enumerate(value, 1) if isinstance(value, list) else [(1, value)]


def _why(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return not_utf8(error)
    if isinstance(error, UnicodeEncodeError):
        return "has half a character (a lone surrogate such as \\ud83d): remove it"
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {error.msg} (column {error.colno})"
    return f"is not JSON that can be read: {error}"


class _Lines:
    """Decoded lines, counted; one that is not UTF-8 raises, and the next can still be had."""

    def __init__(self, stream: Iterable[bytes]) -> None:
        self._lines = iter(stream)
        self.number = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        return line.decode()


def _table_rows(
    reader: Iterator[list[str]], lines: _Lines, source: str
) -> Iterator[tuple[int, list[str] | Broken]]:
    """Each row with the number of its first line; empty lines are passed over."""
    while True:
        place = lines.number + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except UnicodeDecodeError as error:
            yield lines.number, Broken(source, lines.number, not_utf8(error))
        except csv.Error as error:
            reason = f'is not a row: {error} (a quote inside a quoted field is written "")'
            yield place, Broken(source, place, reason)
        else:
            if cells:
                yield place, cells


def _cells_document(
    names: list[str], cells: list[str], source: str, place: int
) -> Document | Broken:
    if len(cells) != len(names):
        return Broken(source, place, f"has {len(cells)} columns, the first line {len(names)}")
    row: dict[str, Any] = dict(zip(names, cells, strict=True))
    if row.get("sentences") == "":
        del row["sentences"]
    elif "sentences" in row:
        try:
            row["sentences"] = parse_json(row["sentences"])
        except (ValueError, RecursionError):
            return Broken(source, place, "its `sentences` are not a JSON list of strings")
    return row_document(row, source, place)


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return "null" if value is None else kinds.get(type(value), "a number")
