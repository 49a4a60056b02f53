"""Claims about rows: JSONL, JSON, CSV and TSV, good, sparse and broken."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from muppet.corpus.files import open_file
from muppet.corpus.rows import json_values, read_rows, read_table
from muppet.domain import Broken, Document

SHARED = Path(__file__).parents[3] / "shared" / "data" / "corpus"


def read_json(folder: Path, text: str | bytes, name: str = "a.jsonl") -> list[Document | Broken]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with open_file(path) as stream:
        return list(read_rows(json_values(stream, name), name))


def read_csv(folder: Path, data: bytes, delimiter: str = ",") -> list[Document | Broken]:
    path = folder / "a.csv"
    path.write_bytes(data)
    with open_file(path) as stream:
        return list(read_table(stream, "a.csv", delimiter))


def reasons(found: list[Document | Broken]) -> list[tuple[int, str]]:
    return [(one.place, one.reason) for one in found if isinstance(one, Broken)]


def test_a_line_is_a_document(tmp_path: Path) -> None:
    line = json.dumps({"id": "p7", "title": "Ada", "text": "She wrote.\n\nNotes."})
    assert read_json(tmp_path, line) == [
        Document("Ada", "a.jsonl", 1, "p7", "She wrote.\n\nNotes.")
    ]


def test_an_empty_sentence_keeps_its_number_checklist_4(tmp_path: Path) -> None:
    (found,) = read_json(tmp_path, '{"title": "T", "sentences": ["One.", "", " Three."]}')
    assert isinstance(found, Document)
    assert found.sentences == ("One.", "", " Three.")


def test_a_broken_line_is_told_and_the_next_is_read(tmp_path: Path) -> None:
    found = read_json(tmp_path, '{"text": "a"}\n\n{"text": \n{"text": "d"}\n')
    assert [type(one) for one in found] == [Document, Broken, Document]
    assert found[1].place == 3
    assert found[2].place == 4
    assert str(found[1]).startswith("a.jsonl:3: is not JSON: Expecting value (column 9)")


def test_a_line_that_is_not_utf8_is_told_and_the_next_is_read(tmp_path: Path) -> None:
    found = read_json(tmp_path, b'{"text": "a"}\n{"text": "\xff"}\n{"text": "c"}\n')
    assert [one.place for one in found if isinstance(one, Document)] == [1, 3]
    assert reasons(found)[0][0] == 2
    assert "0xff, number 11 of the line" in reasons(found)[0][1]


def test_half_a_character_is_told_since_it_could_not_be_stored(tmp_path: Path) -> None:
    found = read_json(tmp_path, '{"text": "\\ud83d"}\n{"text": "\\ud83d\\ude00"}\n')
    assert "half a character" in reasons(found)[0][1]
    assert isinstance(found[1], Document)
    assert found[1].text == "😀"


def test_json_nested_too_deep_is_one_broken_row(tmp_path: Path) -> None:
    found = read_json(tmp_path, "[" * 200_000 + "\n", name="a.json")
    assert [type(one) for one in found] == [Broken]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            '{"title": "T", "url": "u"}',
            "has only `title`, `url`; a row needs `text` or `sentences`",
        ),
        ("{}", "has only nothing; a row needs"),
        ('{"text": "  "}', "its text is empty"),
        ('{"text": null, "title": "T"}', "its text is empty"),
        ('{"text": 3}', "its text is a number where a string was expected"),
        ('{"sentences": "One."}', "its `sentences` are not a list of strings"),
        ('{"sentences": ["a", 1]}', "its `sentences` are not a list of strings"),
        ('{"sentences": ["", " "]}', "its sentences are empty"),
        ('["a"]', "is a list where an object was expected"),
        ("null", "is null where an object was expected"),
    ],
)
def test_a_row_without_text_says_what_it_has_and_needs(
    tmp_path: Path, row: str, reason: str
) -> None:
    ((place, told),) = reasons(read_json(tmp_path, f'{{"text": "fine"}}\n{row}'))
    assert place == 2
    assert told.startswith(reason)


@pytest.mark.parametrize("key", ["text", "contents", "body", "paragraph_text"])
def test_obvious_names_for_text_and_id_are_understood(tmp_path: Path, key: str) -> None:
    found = read_json(tmp_path, json.dumps({"_id": 12, "title": "T", key: "Words."}))
    assert found == [Document("T", "a.jsonl", 1, "12", "Words.")]


def test_without_a_title_the_id_or_the_place_names_the_document(tmp_path: Path) -> None:
    rows = '{"id": "x1", "text": "a"}\n{"title": "", "text": "b"}\n{"id": 0, "text": "c"}'
    found = read_json(tmp_path, rows, name="notes.jsonl")
    assert [one.title for one in found if isinstance(one, Document)] == ["x1", "notes 2", "0"]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_an_array_is_read_whatever_its_suffix(tmp_path: Path, name: str) -> None:
    found = read_json(tmp_path, '[\n {"text": "a"},\n {"none": 1}, {"text": "c"}]', name=name)
    assert [(type(one), one.place) for one in found] == [(Document, 1), (Broken, 2), (Document, 3)]


def test_one_object_over_several_lines_is_one_document(tmp_path: Path) -> None:
    found = read_json(tmp_path, '{\n "title": "T",\n "text": "a"\n}', name="a.json")
    assert found == [Document("T", "a.json", 1, None, "a")]


def test_lines_in_a_file_called_json_are_read_as_lines(tmp_path: Path) -> None:
    found = read_json(tmp_path, '{"text": "a"}\n{"text": "b"}\n', name="a.json")
    assert [one.text for one in found if isinstance(one, Document)] == ["a", "b"]


def test_a_broken_array_is_told_with_its_line(tmp_path: Path) -> None:
    ((place, reason),) = reasons(read_json(tmp_path, '[{"text": "a"},\n{"text" "b"}]', "a.json"))
    assert place == 2
    assert reason.startswith("is not JSON: Expecting ':' delimiter")


def test_csv_fields_may_hold_commas_quotes_and_newlines(tmp_path: Path) -> None:
    data = b'id,title,text\n1,"A, B","He said ""no"".\n\nThen left."\n2,C,plain\n'
    assert read_csv(tmp_path, data) == [
        Document("A, B", "a.csv", 2, "1", 'He said "no".\n\nThen left.'),
        Document("C", "a.csv", 5, "2", "plain"),
    ]


def test_tsv_is_read_with_a_byte_order_mark_and_windows_lines(tmp_path: Path) -> None:
    found = read_csv(tmp_path, b"\xef\xbb\xbftext\ttitle\r\nWords, more.\tT\r\n", "\t")
    assert found == [Document("T", "a.csv", 2, None, "Words, more.")]


def test_a_field_may_be_larger_than_csv_allows_by_itself(tmp_path: Path) -> None:
    (found,) = read_csv(tmp_path, b"text\n" + b"word " * 100_000 + b"\n")
    assert isinstance(found, Document)
    assert len(found.text) == 500_000
    assert csv.field_size_limit() >= 500_000


def test_sentences_in_csv_are_a_json_list_checklist_4(tmp_path: Path) -> None:
    data = b'title,sentences\nT,"[""One."", """", ""Three.""]"\nU,One. Two.\n'
    found = read_csv(tmp_path, data)
    assert found[0] == Document("T", "a.csv", 2, sentences=("One.", "", "Three."))
    assert reasons(found) == [(3, "its `sentences` are not a JSON list of strings")]


def test_broken_csv_rows_are_told_by_line_and_the_next_is_read(tmp_path: Path) -> None:
    data = b'title,text\nA,one\nB\nC,"x" y\nD,caf\xe9\n\nE,five\n'
    found = read_csv(tmp_path, data)
    assert [one.title for one in found if isinstance(one, Document)] == ["A", "E"]
    assert [one.place for one in found] == [2, 3, 4, 5, 7]
    told = [reason for _, reason in reasons(found)]
    assert told[0] == "has 1 columns, the first line 2"
    assert told[1].startswith("is not a row: ',' expected after '\"'")
    assert told[2].startswith("is not UTF-8 (byte 0xe9")


def test_a_quote_that_is_never_closed_is_told(tmp_path: Path) -> None:
    ((place, reason),) = reasons(read_csv(tmp_path, b'title,text\nA,"never\nclosed\n'))
    assert place == 2
    assert "unexpected end of data" in reason


def test_a_table_without_a_text_column_is_told_once(tmp_path: Path) -> None:
    ((place, reason),) = reasons(read_csv(tmp_path, b"name,age\nAda,36\nBob,3\n"))
    assert place == 1
    assert "names the columns `name`, `age`; a row needs `text`" in reason


def test_lines_are_not_read_before_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "some words"}\n' * 100_000)
    with open_file(path) as stream:
        next(read_rows(json_values(stream, "a.jsonl"), "a.jsonl"))
        assert stream.position < path.stat().st_size / 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count", "has_text"),
    [
        ("hotpot-paragraphs.jsonl.xz", 48_031, lambda document: any(document.sentences)),
        ("wiki-intros.jsonl.xz", 459_492, lambda document: bool(document.text)),
    ],
)
def test_the_real_corpora_have_no_broken_row(
    name: str, count: int, has_text: Callable[[Document], bool]
) -> None:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")
    with open_file(path) as stream:
        found = sum(
            isinstance(one, Document) and has_text(one)
            for one in read_rows(json_values(stream, name), name)
        )
    assert found == count
