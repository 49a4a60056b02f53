"""Our pages as tests read them: the blocks in them, and the commands in those."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
SHELLS = ("sh", "console")

_BLOCK = re.compile(r"^```(\w*)(?: title=\"([^\"\n]+)\")?\n(.*?)^```$", re.M | re.S)
_INLINE = re.compile(r"(?<!`)`(muppet [^`]+)`(?!`)")
_VARIABLE = re.compile(r"[A-Z_]+=\S*")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the file it is to be (or ""), its text, its first line."""

    language: str
    title: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Command:
    """A command as a page shows it; `shown` are the lines that it is said to print."""

    place: str
    text: str
    shown: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """Program and arguments, without comment, variables before it and redirections."""
        words = self._split()
        while words and _VARIABLE.fullmatch(words[0]):
            words = words[1:]
        return words[: min((words.index(one) for one in "<>" if one in words), default=len(words))]

    @property
    def program(self) -> str:
        return self.words[0].removeprefix(".venv/bin/")

    def redirected(self, sign: str) -> str | None:
        """The file behind < or >."""
        words = self._split()
        return words[words.index(sign) + 1] if sign in words else None

    def _split(self) -> list[str]:
        lexer = shlex.shlex(self.text, posix=True, punctuation_chars="<>|;&()")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        words = list(lexer)
        unknown = {*words} & {"|", ";", "&", "&&", "||", "(", ")", ">>", "<<"}
        assert not unknown, f"{self.place}: tests know no {unknown} in a command"
        return words


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(one[1], one[2] or "", one[3], text.count("\n", 0, one.start(3)) + 1)
        for one in _BLOCK.finditer(text)
    ]


def commands(page: Path) -> list[Command]:
    """The commands of a page's blocks, in their order; in a console they stand behind a $."""
    found: list[Command] = []
    for block in blocks(page):
        if block.language in SHELLS:
            found += _in_block(block, name_of(page))
    return found


def _in_block(block: Block, page: str) -> Iterator[Command]:
    lines = block.text.replace("\\\n", "  ").splitlines()
    starts = [
        number
        for number, line in enumerate(lines)
        if (line.startswith("$ ") if block.language == "console" else line.split("#")[0].strip())
    ]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        shown = lines[start + 1 : end] if block.language == "console" else ()
        place = f"{page}:{block.line + start}"
        yield Command(place, lines[start].removeprefix("$ "), tuple(filter(None, shown)))


def mentions(page: Path) -> list[str]:
    """The commands of ours that a page names in its sentences."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(one.split()) for one in _INLINE.findall(text)]
