"""Text, Markdown, HTML, PDF and Word files → one Document with its title.

Blank lines separate the paragraphs of a Document's text; the items of a list and the rows of a
table are lines of one paragraph.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from muppet.corpus.files import UnreadableError, decode, inner_name, inner_suffix
from muppet.domain import Broken, Document

Extract = Callable[[bytes, str], tuple[str, str]]
"""(bytes of a file, its name for errors) → (title, or "" if it has none; text)."""

_BLOCK, _LINE = "\x1d", "\x1e"  # stand for a paragraph's end and a line's end inside HTML text
_DROPPED = "script, style, nav, footer, header, aside, noscript, template"
_BLOCKS = (
    "address, article, blockquote, dd, div, dl, dt, fieldset, figcaption, figure, form, "
    "h1, h2, h3, h4, h5, h6, hr, main, ol, p, pre, section, table, ul"
)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"""^title:[ \t]*["']?(.+?)["']?[ \t]*$""", re.MULTILINE)
_CHARSET = re.compile(rb"""<meta[^>]+charset=["']?([\w-]+)""", re.IGNORECASE)
_NO_TITLE = re.compile(r"untitled.*|microsoft word\b.*|.*\.\w{2,4}|\W*", re.IGNORECASE)
_HYPHENATED = re.compile(r"(?<=\w)(?:[\ufffe\x02]\n?|[-\u00ad]\n(?=[^\W\d_A-Z]))")
_SENTENCE_END = (".", "!", "?", ":", '."', ".”", ".)")


def read_prose(data: bytes, path: Path, name: str) -> Document | Broken:
    """The Document in the bytes of a file, whose name tells its kind, or why there is none."""
    source = str(path)
    if not data.strip():
        return Broken(source, 1, "is empty")
    try:
        title, text = PROSE[inner_suffix(path)](data, source)
    except UnreadableError as error:
        return Broken(source, max(error.place, 1), error.reason)
    if not text.strip():
        return Broken(source, 1, "has no text")
    return Document(title or inner_name(path).stem, source, 1, text=text, name=name)


def _from_text(data: bytes, source: str) -> tuple[str, str]:
    return "", _plain(data, source)


def _plain(data: bytes, source: str) -> str:
    text = decode(data, source)
    if "\0" in text:
        raise UnreadableError(source, 1, "looks like a binary file, not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _from_markdown(data: bytes, source: str) -> tuple[str, str]:
    from markdown_it import MarkdownIt

    text = _plain(data, source)
    front = _FRONT_MATTER.match(text)
    page = MarkdownIt("commonmark").enable("table").render(text[front.end() :] if front else text)
    named = _FRONT_TITLE.search(front[0]) if front else None
    heading, plain = _html_text(page, "h1, h2, h3, h4, h5, h6")
    return heading or (named[1] if named else ""), plain


def _from_html(data: bytes, source: str) -> tuple[str, str]:
    charset = _CHARSET.search(data[:2048])
    try:
        page = decode(data, source)
    except UnreadableError:
        if charset is None:
            raise
        page = _decode_as(data, charset[1].decode(), source)
    return _html_text(page, "head > title, h1")


def _decode_as(data: bytes, charset: str, source: str) -> str:
    try:
        return data.decode(charset)
    except (LookupError, UnicodeError):
        raise UnreadableError(
            source, 1, f"is not {charset}, as it says: convert it to UTF-8"
        ) from None


def _html_text(page: str, title_selector: str) -> tuple[str, str]:
    """(title, text) of an HTML page."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(page.replace(_BLOCK, " ").replace(_LINE, " "))
    titles = (" ".join(node.text().split()) for node in tree.css(title_selector))
    title = next(filter(None, titles), "")
    if tree.body is None:
        return title, ""
    for node in tree.body.css(_DROPPED):
        node.decompose()
    for selector, mark in ((_BLOCKS, _BLOCK), ("br, li, tr", _LINE), ("td, th", " ")):
        for node in tree.body.css(selector):
            node.insert_before(mark)
            node.insert_after(mark)
    for node in tree.body.css("pre"):
        node.replace_with(_LINE.join(node.text().split("\n")))
    blocks = (_lines(block.split(_LINE)) for block in tree.body.text().split(_BLOCK))
    return title, "\n\n".join(filter(None, blocks))


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


def _from_pdf(data: bytes, source: str) -> tuple[str, str]:
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(data) as pdf:
            pages = [_page_text(page) for page in pdf]
            title = str(pdf.get_metadata_dict().get("Title", "")).strip()
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise UnreadableError(source, 1, "is encrypted: save it without a password") from None
        raise UnreadableError(source, 1, f"is damaged or no PDF ({error})") from None
    if not any(map(str.strip, pages)):
        raise UnreadableError(source, 1, "no text found: a scanned PDF? run OCR first")
    return "" if _NO_TITLE.fullmatch(title) else title, _reflowed("\n".join(pages))


def _page_text(page: Any) -> str:  # noqa: ANN401
    text_page = page.get_textpage()
    text: str = text_page.get_text_range().replace("\r\n", "\n").strip()
    text_page.close()
    page.close()
    *lines, last = text.split("\n")
    return "\n".join(lines) if last.strip().isdecimal() else text  # without the page's number


def _reflowed(text: str) -> str:
    """Lines joined to paragraphs, which end at blank lines and at short last lines."""
    lines = [line.strip() for line in _HYPHENATED.sub("", text).split("\n")]
    lengths = sorted(map(len, filter(None, lines)))
    full = 0.8 * lengths[len(lengths) * 9 // 10]
    paragraphs = [""]
    for line in lines:
        paragraphs[-1] += f" {line}"
        if not line or (len(line) < full and line.endswith(_SENTENCE_END)):
            paragraphs.append("")
    return "\n\n".join(filter(None, map(str.strip, paragraphs)))


def _from_word(data: bytes, source: str) -> tuple[str, str]:
    import docx

    try:
        document = docx.Document(io.BytesIO(data))
        blocks = list(_word_blocks(document))
        title = document.core_properties.title.strip()
    except Exception as error:  # a parser of foreign archives and XML: it fails in many ways
        raise UnreadableError(source, 1, f"is damaged or no Word file ({error})") from error
    headings = (text for style, text in blocks if style.startswith(("Heading", "Title")) and text)
    return title or next(headings, ""), "\n\n".join(text for _, text in blocks if text)


def _word_blocks(document: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """(style, text) of the paragraphs and tables in their order."""
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            yield "Table", _lines(_word_row(row.cells) for row in block.rows)
        else:
            yield (
                block.style.name if block.style is not None else "",
                _lines(block.text.split("\n")),
            )


def _word_row(cells: Iterable[Any]) -> str:
    """The text of a row; a cell that spans columns is listed once for each, but told once."""
    return " ".join({id(cell._tc): cell.text for cell in cells}.values())


PROSE: dict[str, Extract] = {
    ".txt": _from_text,
    ".md": _from_markdown,
    ".html": _from_html,
    ".htm": _from_html,
    ".pdf": _from_pdf,
    ".docx": _from_word,
}
