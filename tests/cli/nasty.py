"""Inputs that nobody means well, as hypothesis draws them: texts, files, folders, settings.

A drawn path is a description. `place` writes it to a fresh directory and gives the argument that
names it, so that what failed can be read off the failure.
"""

import bz2
import gzip
import io
import json
import lzma
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, get_args, get_origin, get_type_hints

import docx
import tomli_w
import zstandard
from hypothesis import strategies as st

from muppet.config import Config
from muppet.train.reader_recipe import ReaderRecipe
from muppet.train.recipe import EncoderRecipe

Texts = st.SearchStrategy[str]
Bytes = st.SearchStrategy[bytes]

NASTY = (
    "", " ", "\n", "-", "--", ".", "\t\x1b[2J\x07\x7f", "caf\udce9", "\u202e\u2028", "💥", '"', "(",
    "a" * 300, "'; DROP TABLE documents; --", "\\", "[", "*", "title:zebra AND (", "%s {} {0}",
    "NaN", "-1", "0", "1e999", "0x10", "9" * 40, "١", "1_000", "auto", "~",
    "nowhere/at/all", "the of", "zebra " * 2_000,
)  # fmt: skip
"""Texts that a shell can give: no NUL, and of half characters only those of bytes. None begins
with a slash: what is given may be where a command writes to."""
NAMES = ("a", "naïve", "new\nline", "caf\udce9", "it's", '"', "-x", " ", "%s", "💥", "\x1b[2J")
KNOWN_QUESTIONS = ("zebra", "Where does the zebra live?", "Who founded Grytviken?", "qqqq")

ROW = {"id": "owl", "title": "Owl", "text": "Owls sleep by day. They hunt at night."}
SENTENCES = {"title": "Owl", "sentences": ["Owls sleep.", "", "They hunt."]}
PAGE = {"id": 1, "title": "Owl", "text": [["Owl"], ["Owls sleep.", " They hunt."]]}
PLAIN = {"question": "Where does the zebra live?", "answers": ["zebrahouse"]}
HOTPOT = {
    "_id": "q1",
    "question": "Where does the zebra live?",
    "answer": "zebrahouse",
    "type": "bridge",
    "supporting_facts": [["Zebra", 0], ["Lion", 0]],
    "context": [["Zebra", ["The zebra lives."]], ["Lion", ["The lion lives."]]],
}
MUSIQUE = {
    "id": "2hop__1",
    "question": "Where does the zebra live?",
    "answer": "zebrahouse",
    "answer_aliases": ["house"],
    "question_decomposition": [{"paragraph_support_idx": 0}, {"paragraph_support_idx": 1}],
    "paragraphs": [
        {"title": "Zebra", "paragraph_text": "The zebra lives."},
        {"title": "Lion", "paragraph_text": "The lion lives."},
    ],
}
ARTICLE = {
    "title": "Zebra",
    "paragraphs": [
        {
            "context": "The zebra lives.",
            "qas": [{"id": "1", "question": "Who lives?", "answers": [{"text": "zebra"}]}],
        }
    ],
}
SQUAD = {"data": [ARTICLE]}
PREDICTIONS = {"answer": {"q1": "house"}, "sp": {"q1": [["Zebra", 0]]}}
MANIFEST = {"kind": "knowledge base", "format": 1, "config": {}, "made_from": {}}
RECORDS: tuple[Mapping[str, Any], ...] = (
    ROW, SENTENCES, PAGE, PLAIN, HOTPOT, MUSIQUE, ARTICLE, SQUAD, PREDICTIONS, MANIFEST,
)  # fmt: skip
KEYS = sorted({key for record in RECORDS for key in record} | {"contents", "qas", "path", "sp"})

texts: Texts = st.sampled_from(NASTY) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(st.characters(), max_size=6),  # half characters and NUL as well
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def spoiled(draw: st.DrawFn, record: Any) -> Any:  # noqa: ANN401 (JSON)
    """A record with one of its values, somewhere inside, replaced or left out."""
    if isinstance(record, dict) and record and draw(st.integers(0, 4)):
        key = draw(st.sampled_from(sorted(record)))
        rest = {name: value for name, value in record.items() if name != key}
        return rest if draw(st.booleans()) else rest | {key: draw(spoiled(record[key]))}
    if isinstance(record, list) and record and draw(st.integers(0, 2)):
        place = draw(st.integers(0, len(record) - 1))
        return [*record[:place], draw(spoiled(record[place])), *record[place + 1 :]]
    return draw(json_values)


records = st.sampled_from(RECORDS).flatmap(lambda one: st.just(one) | spoiled(one))


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """Bytes that were whole: cut off, or with some of them replaced."""
    place = draw(st.integers(0, len(whole)))
    if draw(st.booleans()):
        return whole[:place]
    wrong = draw(st.binary(max_size=8))
    return whole[:place] + wrong + whole[place + draw(st.integers(0, len(wrong))) :]


def _word() -> bytes:
    document, file = docx.Document(), io.BytesIO()
    document.add_heading("Owl")
    document.add_paragraph("Owls sleep by day.")
    document.save(file)
    return file.getvalue()


WORD = _word()
PDF = (
    b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
    b"2 0 obj\n<< /Type /Pages /Count 1 /Kids [3 0 R] >>\nendobj\n"
    b"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R >>\nendobj\n"
    b"4 0 obj\n<< /Length 32 >>\nstream\nBT /F1 9 Tf 9 9 Td (Owl) Tj ET  \nendstream\nendobj\n"
    b"trailer << /Size 5 /Root 1 0 R >>\n%%EOF\n"
)
CHARSETS = ("latin-1", "utf-7", "undefined", "idna", "punycode", "hex", "unicode_escape", "x")
HTML = [b'<meta charset="%s"><p>\\d Owls \xe9 \xff' % name.encode() for name in CHARSETS]
RUBBISH = (
    b"", b" \n", b"\0" * 99, b"\xef\xbb\xbf", b"\xff\xfeo\0w\0l\0", b"a" * 200_000, b"[" * 50_000,
    b'{"a":' * 50_000, b'"\n' * 99, b'\\ud800 "\\ud800"', b"\xed\xa0\x80", b"1" * 5_000, b"<" * 999,
    b"a = " + b"1" * 5_000, b"a = " + b"[" * 50_000, b'title,text\n"Owl,Owls\n', b"\r\r\r",
    b"---\ntitle: [\n---\n# ", b'<doc id="1" title="',
)  # fmt: skip
rubbish: Bytes = (
    st.sampled_from(RUBBISH)
    | st.binary(max_size=60)
    | st.text(max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass"))
)


def _json_bytes(value: object) -> bytes:
    return json.dumps(value).encode()


json_bytes: Bytes = (
    records.map(_json_bytes)
    | st.lists(records, max_size=3).map(_json_bytes)
    | records.map(_json_bytes).flatmap(damaged)
    | rubbish
)
json_lines: Bytes = st.lists(json_bytes, max_size=3).map(b"\n".join)
tables: Bytes = st.lists(st.lists(texts, max_size=3), max_size=3).map(
    lambda rows: "\n".join(map(",".join, [["title", "text"], *rows])).encode(
        "utf-8", "surrogatepass"
    )
)
CONTENTS: dict[str, Bytes] = {
    ".jsonl": json_lines,
    ".json": json_bytes,
    ".csv": tables | rubbish,
    ".tsv": rubbish,
    ".txt": rubbish,
    ".md": rubbish,
    ".html": st.sampled_from(HTML) | rubbish,
    ".pdf": damaged(PDF) | rubbish,
    ".docx": damaged(WORD) | rubbish,
    ".d/wiki_00": damaged(b'<doc id="1" title="Owl">\nOwl\n\nOwls sleep.\n</doc>\n') | json_lines,
    ".txt.gz": damaged(gzip.compress(b"Owls sleep.", mtime=0)) | rubbish,
    ".jsonl.xz": damaged(lzma.compress(_json_bytes(ROW))) | rubbish,
    ".json.bz2": damaged(bz2.compress(_json_bytes(ROW))) | rubbish,
    ".csv.zst": damaged(zstandard.compress(b"title,text\nOwl,Owls sleep.\n")) | rubbish,
    ".png": rubbish,
}
EXTREME: dict[object, st.SearchStrategy[Any]] = {
    int: st.sampled_from([-(2**70), -1, 0, 1, 2, 2**31, 2**40, 2**63, 2**70]) | st.integers(),
    float: st.floats() | st.sampled_from([-1.0, 0.0, 1e-300, 1e300]),
    str: texts | st.just("a\0b"),
    bool: st.booleans(),
}
"""Settings of the right type, and yet."""
OTHER = st.sampled_from(
    [-1, 0.5, "x", True, [], [[]], ["x", 1], {}, {"x": 1}, datetime(2026, 1, 1, tzinfo=UTC)]
)


@st.composite
def settings_tables(draw: st.DrawFn, kind: type) -> dict[str, Any]:
    """A few settings of a dataclass, each wrong in type or extreme in value, or unknown."""
    hints = get_type_hints(kind)
    names = draw(st.lists(st.sampled_from([field.name for field in fields(kind)]), max_size=3))
    table = {name: draw(_setting(hints[name])) for name in names}
    if not draw(st.integers(0, 9)):
        table[draw(texts)] = draw(OTHER)
    return table


def _setting(hint: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 (a type)
    if not isinstance(hint, type) and get_origin(hint) is not tuple:  # such as int | str
        return st.one_of(*(EXTREME.get(one, OTHER) for one in get_args(hint)), OTHER)
    if get_origin(hint) is tuple:
        return st.lists(EXTREME.get(get_args(hint)[0], OTHER), max_size=3) | OTHER
    if is_dataclass(hint):
        return settings_tables(hint)
    return EXTREME.get(hint, OTHER) if hint is not Path else texts


@st.composite
def one_setting(draw: st.DrawFn) -> dict[str, Any]:
    """A setting of a knowledge base, of the right type, and yet."""
    stages = get_type_hints(Config)
    stage = draw(st.sampled_from(sorted(stages)))
    hints = get_type_hints(stages[stage])
    name = draw(st.sampled_from(sorted(hints)))
    return {stage: {name: draw(_setting(hints[name]))}}


toml: Bytes = (
    one_setting() | st.sampled_from([Config, EncoderRecipe, ReaderRecipe]).flatmap(settings_tables)
).map(lambda table: tomli_w.dumps(table).encode("utf-8", "surrogatepass"))
toml |= toml.flatmap(damaged) | rubbish


class Desk(Protocol):
    """Where a drawn path is written to, and what stands elsewhere by name."""

    directory: Path
    known: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class Said:
    """An argument as it is."""

    text: str

    def place(self, _desk: Desk) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Known:
    """One of the good ones."""

    name: str

    def place(self, desk: Desk) -> str:
        return str(desk.known[self.name])


@dataclass(frozen=True, slots=True)
class File:
    """A file, at a place of its own."""

    name: str
    data: bytes

    def place(self, desk: Desk) -> str:
        path = desk.directory / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_dir():
            path.write_bytes(self.data)
        return str(path)


@dataclass(frozen=True, slots=True)
class Folder:
    """A directory of files."""

    name: str
    files: tuple[File, ...]

    def place(self, desk: Desk) -> str:
        path = desk.directory / f"{self.name}.d"
        path.mkdir(exist_ok=True)
        for file in self.files:
            (path / file.name.replace("/", "-")).write_bytes(file.data)
        return str(path)


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link; to nothing, or to itself."""

    name: str
    target: str

    def place(self, desk: Desk) -> str:
        path = desk.directory / self.name
        if not path.is_symlink() and not path.exists():
            path.symlink_to(self.target)
        return str(path)


@dataclass(frozen=True, slots=True)
class Hurt:
    """A copy of a good directory in which one file is gone, or holds something else."""

    name: str
    which: int
    data: bytes | None

    def place(self, desk: Desk) -> str:
        copy = desk.directory / f"hurt-{self.name}"
        if not copy.exists():
            shutil.copytree(desk.known[self.name], copy)
        every = sorted(path for path in copy.rglob("*") if path.is_file())
        if every:
            path = every[self.which % len(every)]
            path.unlink() if self.data is None else path.write_bytes(self.data)
        return str(copy)


Placed = Said | Known | File | Folder | Link | Hurt
Paths = st.SearchStrategy[Placed]


@st.composite
def files_of(draw: st.DrawFn, suffixes: Sequence[str]) -> File:
    suffix = draw(st.sampled_from(suffixes))
    return File(draw(st.sampled_from(NAMES)) + suffix, draw(CONTENTS[suffix]))


any_file = files_of(sorted(CONTENTS))
settings_files = st.builds(File, st.sampled_from(["a.toml", "caf\udce9.toml"]), toml)
bad_paths: Paths = (
    st.sampled_from(NAMES).map(lambda name: Said(f"{name}/nowhere"))
    | st.builds(Link, st.just("link.json"), st.sampled_from(["nowhere", "link.json"]))
    | st.builds(Folder, st.sampled_from(NAMES), st.just(()))
    | st.builds(File, st.sampled_from(NAMES), st.just(b"\0rubbish"))
)
"""Paths that no command can read anything from."""
any_path: Paths = (
    texts.map(Said)
    | any_file
    | settings_files
    | st.builds(Folder, st.sampled_from(NAMES), st.lists(any_file, max_size=3).map(tuple))
    | bad_paths
)


def hurt(name: str) -> Paths:
    data = st.none() | rubbish | json_bytes
    return st.builds(Hurt, st.just(name), st.integers(0, 30), data)


GOOD: dict[str, Paths] = {
    "kb": st.sampled_from([Known("zoo"), Known("demo")]),
    "model": st.just(Known("encoder")),
    "reader": st.just(Known("reader")),
    "config_file": st.just(File("good.toml", b"[retrieve]\nkeep = 9\n")),
    "sources": st.just(File("owl.json", _json_bytes(ROW))),
    "questions": st.just(Known("questions")),
    "gold": st.just(Known("questions")),
    "predictions": st.just(File("told.json", _json_bytes(PREDICTIONS))),
    "file": st.just(File("asked.txt", b"Where is the zebra?\nWho founded Grytviken?\n")),
    "question": st.sampled_from(KNOWN_QUESTIONS).map(Said),
    "ids": st.sampled_from(["zebra", "lion"]).map(Said),
}
"""What a command's parameters want, by their names; all other paths are new."""
BAD: dict[str, Paths] = {
    "kb": hurt("zoo") | hurt("demo"),
    "model": hurt("encoder") | hurt("reader"),
    "reader": hurt("reader") | hurt("encoder"),
    "config_file": settings_files,
    "recipe": settings_files,
    "sources": any_file,
    "questions": files_of([".json", ".jsonl"]),
    "gold": files_of([".json", ".jsonl"]),
    "predictions": files_of([".json"]),
    "file": files_of([".txt", ".jsonl"]),
}
"""What comes near to it; any path and any text are tried as well."""
