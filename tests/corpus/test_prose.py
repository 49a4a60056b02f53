"""Claims about prose: text, Markdown, HTML, PDF and Word files, each one Document."""

import io
from collections.abc import Sequence
from pathlib import Path

import docx
import pytest

from muppet.corpus.prose import read_prose
from muppet.domain import Broken, Document


def read(name: str, data: bytes | str) -> Document:
    found = read_prose(data if isinstance(data, bytes) else data.encode(), Path(name), "a name")
    assert isinstance(found, Document), found
    return found


def why_broken(name: str, data: bytes) -> str:
    found = read_prose(data, Path(name), "a name")
    assert isinstance(found, Broken)
    return str(found)


def pdf(pages: Sequence[Sequence[str]], title: str = "", trailer: str = "") -> bytes:
    """A PDF with these lines on its pages, 14 points apart; an empty line leaves a gap."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids "
        f"[{' '.join(f'{5 + 2 * n} 0 R' for n in range(len(pages)))}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Title ({title}) >>",
    ]
    for number, lines in enumerate(pages):
        shown = "".join(f"({line}) Tj 0 -14 Td\n" for line in lines)
        content = f"BT /F1 10 Tf 50 750 Td\n{shown}ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {6 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    data, offsets = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    return (
        f"{data}xref\n0 {size}\n0000000000 65535 f \n{table}"
        f"trailer << /Size {size} /Root 1 0 R /Info 4 0 R {trailer} >>\n"
        f"startxref\n{len(data)}\n%%EOF\n"
    ).encode()


def word(document: "docx.document.Document") -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def test_a_text_file_is_called_by_its_stem_and_keeps_its_blank_lines() -> None:
    found = read("notes/my day.txt", b"One.\r\n\r\nTwo.\r\n")
    assert found == Document("my day", "notes/my day.txt", 1, text="One.\n\nTwo.\n", name="a name")


def test_a_compressed_text_file_is_called_by_its_inner_stem() -> None:
    assert read("day.txt.gz", "One.").title == "day"


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.pdf", "a.docx"])
def test_an_empty_file_is_told(name: str) -> None:
    assert why_broken(name, b" \n") == f"{name}:1: is empty"


def test_a_binary_file_named_text_is_told() -> None:
    assert why_broken("a.txt", b"PK\x03\x04\x00\x00rest").endswith(
        "looks like a binary file, not text"
    )


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html"])
def test_bytes_that_are_not_utf8_are_told_with_line_and_advice(name: str) -> None:
    told = why_broken(name, b"fine\ncaf\xe9\n")
    assert told.startswith(f"{name}:2: is not UTF-8 (byte 0xe9, number 4 of the line)")
    assert "convert it to UTF-8" in told


def test_markdown_is_read_as_plain_text() -> None:
    found = read(
        "a.md",
        "Before.\n\n## The *Guide*\n\nSee [the site](http://x.org)\nor `run`.\n\n- one\n- two\n\n"
        "```sh\nmake all\nmake it\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    )
    assert found.title == "The Guide"
    assert found.text.split("\n\n") == [
        "Before.",
        "The Guide",
        "See the site or run.",
        "one\ntwo",
        "make all\nmake it",
        "a b\n1 2",
    ]


def test_front_matter_is_dropped_and_names_what_has_no_heading() -> None:
    front = '---\ntitle: "On Bridges"\ntags: [a]\n---\n'
    assert read("a.md", f"{front}\nText.") == Document(
        "On Bridges", "a.md", 1, text="Text.", name="a name"
    )
    assert read("a.md", f"{front}# Heading\n\nText.").title == "Heading"
    assert read("a.md", "Text.\n\n---\n\nMore.").title == "a"


def test_html_keeps_what_is_read_and_drops_what_surrounds_it() -> None:
    found = read(
        "a.html",
        "<!doctype html><html><head><title>The\n Bridge &amp; I</title><style>p {}</style></head>"
        "<body><header>Top</header><nav><a>Menu</a></nav><script>var x;</script>"
        "<h1>Heading</h1>loose<div>in <b>bo</b>ld</div>after<p>One<br>two\n three</p>"
        "<ul><li>first<li>second</ul><table><tr><th>a<th>b<tr><td>1<td>2</table>"
        "<pre>code {\n}</pre><aside>Ad</aside><footer>End</footer></body></html>",
    )
    assert found.title == "The Bridge & I"
    assert found.text.split("\n\n") == [
        "Heading",
        "loose",
        "in bold",
        "after",
        "One\ntwo three",
        "first\nsecond",
        "a b\n1 2",
        "code {\n}",
    ]


def test_html_without_a_title_is_called_by_its_heading_or_its_file() -> None:
    assert read("a.htm", "<title> </title><header><h1>The Heading</h1></header><p>x").title == (
        "The Heading"
    )
    assert read("page.html", "<p>x").title == "page"


def test_html_may_say_its_own_encoding() -> None:
    assert read("a.html", b'<meta charset="latin1"><p>caf\xe9').text == "café"
    assert "is not nonsense, as it says" in why_broken("a.html", b"<meta charset=nonsense><p>\xe9")


def test_html_of_nothing_but_navigation_is_told() -> None:
    assert why_broken("a.html", b"<nav>Menu</nav>").endswith("has no text")


def test_pdf_lines_are_joined_and_words_at_their_ends_repaired() -> None:
    found = read(
        "a.pdf",
        pdf(
            [
                [
                    "The old bridge was built by hand and the con-",
                    "struction took many years of very hard work.",
                    "It is gone.",
                    "Nobody remembers who built it, and nobody has",
                    "1",
                ],
                ["ever asked a question about it until now.", "2"],
            ]
        ),
    )
    assert found.title == "a"
    assert found.text.split("\n\n") == [
        "The old bridge was built by hand and the construction took many years of very hard work. "
        "It is gone.",
        "Nobody remembers who built it, and nobody has ever asked a question about it until now.",
    ]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("On Bridges", "On Bridges"),
        ("Microsoft Word - draft", "a"),
        ("untitled", "a"),
        ("report.docx", "a"),
        ("", "a"),
    ],
)
def test_a_pdf_has_its_own_title_if_it_is_a_sensible_one(title: str, expected: str) -> None:
    assert read("a.pdf", pdf([["Some words."]], title)).title == expected


def test_a_pdf_without_text_asks_for_ocr() -> None:
    told = why_broken("scan.pdf", pdf([[], []]))
    assert told == "scan.pdf:1: no text found: a scanned PDF? run OCR first"


def test_a_pdf_that_is_damaged_or_encrypted_is_told() -> None:
    assert "is damaged or no PDF" in why_broken("a.pdf", b"%PDF-1.4 nothing more")
    key = "00" * 32
    locked = pdf(
        [["Secret."]],
        trailer=f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >> "
        f"/ID [<{key}> <{key}>]",
    )
    assert "is encrypted: save it without a password" in why_broken("a.pdf", locked)


def test_word_paragraphs_and_tables_are_read_in_their_order() -> None:
    document = docx.Document()
    document.add_paragraph("Before.")
    document.add_heading("The Heading", level=1)
    table = document.add_table(rows=2, cols=2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
    table.cell(1, 0).text, table.cell(1, 1).text = "1", "2"
    document.add_paragraph("After.")
    found = read("a.docx", word(document))
    assert found.title == "The Heading"
    assert found.text.split("\n\n") == ["Before.", "The Heading", "wide\n1 2", "After."]


def test_a_word_file_has_its_own_title_or_its_stem() -> None:
    document = docx.Document()
    document.add_paragraph("Words.")
    assert read("a.docx", word(document)).title == "a"
    document.core_properties.title = "On Bridges"
    assert read("a.docx", word(document)).title == "On Bridges"


@pytest.mark.parametrize("data", [b"no archive", b"PK\x03\x04 cut off"])
def test_a_damaged_word_file_is_told(data: bytes) -> None:
    assert "is damaged or no Word file" in why_broken("a.docx", data)


def test_a_word_file_without_words_is_told() -> None:
    assert why_broken("a.docx", word(docx.Document())).endswith("has no text")
