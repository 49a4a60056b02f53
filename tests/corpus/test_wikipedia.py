"""Claims about Wikipedia dumps: every shape HotpotQA and WikiExtractor write (checklist 2)."""

import bz2
import json
from pathlib import Path

import pytest

from muppet.corpus.files import open_file
from muppet.corpus.wikipedia import is_dump_name, is_dump_page, read_dump
from muppet.domain import Broken, Document


def read(folder: Path, *lines: object) -> list[Document | Broken]:
    """The pages of a part of a dump; what is not a string is written as JSON."""
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path = folder / "wiki_00.bz2"
    path.write_bytes(bz2.compress(text.encode("utf-8", "surrogateescape")))
    with open_file(path) as stream:
        return list(read_dump(stream, "wiki_00.bz2"))


def page(title: str, text: object) -> dict[str, object]:
    return {"id": "12", "url": "u", "title": title, "text": text, "charoffset": []}


def test_an_abstract_keeps_its_sentences_and_their_numbers_checklist_4(tmp_path: Path) -> None:
    found = read(tmp_path, page("Ada", ["Ada wrote.", "", " She died."]))
    assert found == [Document("Ada", "wiki_00.bz2", 1, sentences=("Ada wrote.", "", " She died."))]


def test_a_list_with_one_list_is_an_abstract_too(tmp_path: Path) -> None:
    (found,) = read(tmp_path, page("Ada", [["Ada wrote.", " She died."]]))
    assert isinstance(found, Document)
    assert found.sentences == ("Ada wrote.", " She died.")
    assert found.text == ""


def test_a_whole_article_is_a_text_of_paragraphs_without_its_title(tmp_path: Path) -> None:
    text = [["Ada"], ["Ada wrote.", " She died."], [], ["Legacy."], ["A language", "is named so."]]
    (found,) = read(tmp_path, page("Ada", text))
    assert isinstance(found, Document)
    assert found.text == "Ada wrote. She died.\n\nLegacy.\n\nA language is named so."
    assert found.sentences == ()


def test_an_article_of_one_paragraph_keeps_its_sentences(tmp_path: Path) -> None:
    (found,) = read(tmp_path, page("Q&amp;A", [["Q&amp;A"], ["One.", " Two."]]))
    assert found == Document("Q&A", "wiki_00.bz2", 1, sentences=("One.", " Two."))


def test_links_are_read_as_their_text(tmp_path: Path) -> None:
    (found,) = read(tmp_path, page("A", ['See <a href="B%20C">B</a> if 1 < 2.']))
    assert isinstance(found, Document)
    assert found.sentences == ("See B if 1 < 2.",)


def test_extracted_json_has_a_paragraph_a_line(tmp_path: Path) -> None:
    line = {
        "id": "1",
        "revid": "2",
        "url": "u",
        "title": "Ada",
        "text": "Ada\n\nOne.\nTwo &amp; 3.",
    }
    assert read(tmp_path, line) == [Document("Ada", "wiki_00.bz2", 1, text="One.\n\nTwo & 3.")]


def test_extracted_blocks_are_read_one_by_one(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        '<doc id="1" url="u" title="The "Ada" &amp; Co">',
        'The "Ada" & Co',
        "",
        "One.",
        "Two.",
        "</doc>",
        "",
        '<doc id="2" revid="9" url="u" title="Bob">',
        "Three.",
        "</doc>",
    )
    assert found == [
        Document('The "Ada" & Co', "wiki_00.bz2", 1, text="One.\n\nTwo."),
        Document("Bob", "wiki_00.bz2", 8, text="Three."),
    ]


def test_a_block_that_is_not_closed_is_told_where_it_begins(tmp_path: Path) -> None:
    opened = '<doc id="1" url="u" title="{}">'
    found = read(tmp_path, opened.format("A"), "x", opened.format("B"), "y", "</doc>", "z", opened)
    assert [(type(one), one.place) for one in found] == [
        (Broken, 1),
        (Document, 3),
        (Broken, 6),
        (Broken, 7),
    ]


def test_a_block_that_is_not_utf8_is_told_by_line(tmp_path: Path) -> None:
    block = [
        '<doc id="1" url="u" title="A">',
        "fine",
        b"caf\xe9".decode("utf-8", "surrogateescape"),
    ]
    (found,) = read(tmp_path, *block, "</doc>")
    assert isinstance(found, Broken)
    assert found.place == 3
    assert "0xe9" in found.reason


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (page("Ada", []), "the page 'Ada' has no text"),
        (page("Ada", ["", " "]), "the page 'Ada' has no text"),
        (page("Ada", "Ada\n\n"), "the page 'Ada' has no text"),
        (page("Ada", 3), "its `text` is neither a string nor lists of sentences"),
        (page("Ada", ["a", ["b"]]), "its `text` is neither a string nor lists of sentences"),
        (page("Ada", [["a"], [1]]), "its `text` is neither a string nor lists of sentences"),
        ({"text": ["a"]}, "is not a page of Wikipedia; a page needs `title` and `text`"),
        (["a"], "is not a page of Wikipedia; a page needs `title` and `text`"),
        ('{"title": ', "is not JSON: Expecting value (column 10)"),
    ],
)
def test_a_page_that_cannot_be_read_is_told_and_the_next_is_read(
    tmp_path: Path, line: object, reason: str
) -> None:
    found = read(tmp_path, page("A", ["a"]), line, page("C", ["c"]))
    assert found[1] == Broken("wiki_00.bz2", 2, reason)
    assert isinstance(found[2], Document)
    assert found[2].place == 3


@pytest.mark.parametrize(
    ("name", "expected"),
    [("wiki_00", True), ("AA/wiki_17.bz2", True), ("wiki_a", False), ("wiki_00.txt", False)],
)
def test_parts_of_a_dump_are_known_by_name(name: str, expected: bool) -> None:
    assert is_dump_name(Path(name)) is expected


def test_pages_of_the_dump_are_told_from_rows_by_their_list() -> None:
    assert is_dump_page(page("Ada", ["One."]))
    assert not is_dump_page(page("Ada", "One."))
    assert not is_dump_page({"title": "T", "sentences": ["One."]})
