"""Wikipedia dumps → one Document a page: HotpotQA's own, and what WikiExtractor writes.

HotpotQA (checklist 2): JSON lines whose `text` is a list of sentences (the abstracts), or a list
of paragraphs that are lists of sentences (whole articles, with the title as first paragraph).
WikiExtractor: JSON lines whose `text` is a string, or `<doc …> … </doc>` blocks; a line of it is
a paragraph. A page is named by its title, as HotpotQA's questions do, not by its number.
"""

import html
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from muppet.corpus.files import Stream, inner_name, not_utf8
from muppet.corpus.rows import Value, json_lines
from muppet.domain import Broken, Document
from muppet.text.sentences import join_ready

_DUMP_NAME = re.compile(r"wiki_\d+")
_DOC_TITLE = re.compile(r'<doc .*\btitle="(.*)">')
_LINK = re.compile(r"</?a\b[^>]*>")
NEEDS = "a page needs `title` and `text`"


def is_dump_name(path: Path) -> bool:
    """Whether a file is called as the parts of a dump are: wiki_00, wiki_00.bz2, …"""
    return _DUMP_NAME.fullmatch(inner_name(path).name) is not None


def is_dump_page(value: object) -> bool:
    """Whether a JSON value is a page of HotpotQA's dump, which has its text in a list."""
    return isinstance(value, dict) and "title" in value and isinstance(value.get("text"), list)


def read_dump(stream: Stream, source: str) -> Iterator[Document | Broken]:
    """The pages of one file of a dump, read line by line."""
    if stream.peek(1).lstrip().startswith(b"<"):
        return _read_blocks(stream, source)
    return read_pages(json_lines(stream, source), source)


def read_pages(values: Iterable[Value], source: str) -> Iterator[Document | Broken]:
    """The pages of JSON lines, of HotpotQA's dump or WikiExtractor's."""
    for place, value in values:
        yield value if type(value) is Broken else _page(value, source, place)


def _page(page: Any, source: str, place: int) -> Document | Broken:  # noqa: ANN401
    if not isinstance(page, dict) or not isinstance(page.get("title"), str):
        return Broken(source, place, f"is not a page of Wikipedia; {NEEDS}")
    title, text = html.unescape(page["title"]), page.get("text")
    if isinstance(text, str):
        return _written(title, text.split("\n"), source, place)
    paragraphs = _paragraphs(text)
    if paragraphs is None:
        return Broken(source, place, "its `text` is neither a string nor lists of sentences")
    if len(paragraphs) > 1 and html.unescape("".join(paragraphs[0])).strip() == title:
        paragraphs = paragraphs[1:]
    return _listed(title, paragraphs, source, place)


def _paragraphs(text: object) -> list[list[str]] | None:
    """The lists of sentences in a page's text; None if it is made of something else."""
    if not isinstance(text, list):
        return None
    paragraphs = [text] if text and isinstance(text[0], str) else text
    if not all(isinstance(paragraph, list) for paragraph in paragraphs):
        return None
    if not all(isinstance(sentence, str) for sentence in chain.from_iterable(paragraphs)):
        return None
    return paragraphs


def _listed(title: str, paragraphs: list[list[str]], source: str, place: int) -> Document | Broken:
    """One paragraph keeps its sentences and their numbers (checklist 4); more become a text."""
    plain = [tuple(map(_without_links, paragraph)) for paragraph in paragraphs]
    if len(plain) == 1 and any(map(str.strip, plain[0])):
        return Document(title, source, place, sentences=plain[0])
    joined = ("".join(join_ready(paragraph)).strip() for paragraph in plain)
    text = "\n\n".join(filter(None, joined))
    return Document(title, source, place, text=text) if text else _empty(title, source, place)


def _written(title: str, lines: list[str], source: str, place: int) -> Document | Broken:
    """A page of WikiExtractor, which repeats the title and has a paragraph a line."""
    paragraphs = [
        _without_links(html.unescape(line)).strip() for line in lines if not line.isspace() and line
    ]
    if paragraphs and paragraphs[0] == title:
        paragraphs = paragraphs[1:]
    text = "\n\n".join(paragraphs)
    return Document(title, source, place, text=text) if text else _empty(title, source, place)


def _empty(title: str, source: str, place: int) -> Broken:
    return Broken(source, place, f"the page {title!r} has no text")


def _without_links(text: str) -> str:
    return _LINK.sub("", text) if "<" in text else text


def _read_blocks(stream: Iterable[bytes], source: str) -> Iterator[Document | Broken]:
    """The pages between `<doc …>` and `</doc>`; each is at the line where it begins."""
    block: list[bytes] = []
    start = 0
    for place, line in enumerate(stream, 1):
        if line.startswith(b"<doc "):
            if block:
                yield Broken(source, start, "the page is not closed by </doc>")
            block, start = [line], place
        elif not block:
            if line.strip():
                yield Broken(source, place, "stands outside of <doc …> and </doc>")
        elif line.strip() == b"</doc>":
            yield _block_page(block, source, start)
            block = []
        else:
            block.append(line)
    if block:
        yield Broken(source, start, "the page is not closed by </doc>: is the file cut off?")


def _block_page(block: list[bytes], source: str, start: int) -> Document | Broken:
    lines: list[str] = []
    for place, line in enumerate(block, start):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError as error:
            return Broken(source, place, not_utf8(error))
    match = _DOC_TITLE.match(lines[0])
    if match is None:
        return Broken(source, start, "its <doc …> has no title")
    return _written(html.unescape(match[1]), lines[1:], source, start)
