"""Claims about sources: what a user names is found, recognised, counted and read."""

import io
import json
import lzma
import sys
from pathlib import Path

import pytest

from muppet.corpus.sources import Sources
from muppet.domain import Broken, Document
from muppet.errors import CorpusError

SHARED = Path(__file__).parents[3] / "shared" / "data"
QUESTION = {"_id": "q", "question": "Who?", "context": [["Ada", ["Ada wrote.", " She died."]]]}


def write(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def documents(*paths: Path) -> list[Document]:
    found = list(Sources(paths))
    assert all(isinstance(one, Document) for one in found), found
    return [one for one in found if isinstance(one, Document)]


def test_a_folder_is_read_in_the_order_of_names_with_ids_below_it(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    for name in ("b.txt", "a/z.md", "a/deep/y.html", "c.txt"):
        write(folder / name, "Words.")
    found = documents(folder)
    expected = ["docs/a/deep/y.html", "docs/a/z.md", "docs/b.txt", "docs/c.txt"]
    assert [one.name for one in found] == expected
    assert found[0].source == str(folder / "a" / "deep" / "y.html")


def test_a_file_has_the_same_id_by_itself_as_in_its_folder(tmp_path: Path) -> None:
    (found,) = documents(write(tmp_path / "deep" / "a.txt", "Words."))
    assert found.name == "deep/a.txt"
    assert found.place == 1


def test_two_folders_may_both_have_a_readme(tmp_path: Path) -> None:
    paths = [write(tmp_path / name / "README.md", f"Of {name}.").parent for name in ("a", "b")]
    assert [one.name for one in documents(*paths)] == ["a/README.md", "b/README.md"]


def test_the_order_in_which_paths_are_given_is_kept(tmp_path: Path) -> None:
    b, a = write(tmp_path / "b.txt", "B."), write(tmp_path / "a.txt", "A.")
    assert [one.text for one in documents(b, a)] == ["B.", "A."]


def test_a_source_can_be_opened_from_any_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "notes" / "a.jsonl", '{"text": "x"}')
    monkeypatch.chdir(tmp_path)
    (found,) = documents(Path("notes"))
    assert Path(found.source) == tmp_path.resolve() / "notes" / "a.jsonl"


def test_a_knowledge_base_inside_the_folder_is_not_read_as_documents(tmp_path: Path) -> None:
    """`muppet index . --into kb` has to work a second time."""
    write(tmp_path / "a.txt", "Words.")
    write(tmp_path / "kb" / "corpus.sqlite", "")
    write(tmp_path / "kb" / "bm25" / "meta.json", "{}")
    (found,) = documents(tmp_path)
    assert found.title == "a"


def test_files_of_other_kinds_are_listed_and_hidden_ones_are_not(tmp_path: Path) -> None:
    for name in ("a.txt", "b.png", "c", ".d.png", ".git/e.txt", "~$f.docx", "sub/g.exe"):
        write(tmp_path / name, "Words.")
    sources = Sources([tmp_path])
    assert [one.source for one in sources] == [str(tmp_path / "a.txt")]
    assert sources.skipped == [tmp_path / "b.png", tmp_path / "c", tmp_path / "sub" / "g.exe"]


def test_a_link_back_to_its_own_folder_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "Words.")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    sources = Sources([tmp_path])
    assert len(list(sources)) == 1
    assert sources.skipped == [tmp_path / "loop"]


def test_a_missing_path_is_told(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"gone\.txt does not exist"):
        Sources([tmp_path / "gone.txt"])


@pytest.mark.parametrize("name", ["a.png", "a.png.gz", "README", "a.doc"])
def test_a_file_of_another_kind_is_told_with_what_is_read(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, "x")
    with pytest.raises(CorpusError, match=r"kind that is not read\. Supported are \.csv .*\.zst"):
        Sources([path])


def test_a_folder_with_nothing_to_read_is_told(tmp_path: Path) -> None:
    write(tmp_path / "a.png", "x")
    with pytest.raises(CorpusError, match="has no file that can be read"):
        Sources([tmp_path])


def test_json_is_recognised_by_what_is_in_it(tmp_path: Path) -> None:
    squad = {"data": [{"title": "S", "paragraphs": [{"context": "One. Two.", "qas": []}]}]}
    write(tmp_path / "1.json", json.dumps([QUESTION]))
    write(tmp_path / "2.jsonl", json.dumps(QUESTION))
    write(tmp_path / "3.json", json.dumps(squad))
    write(tmp_path / "4.jsonl", json.dumps({"id": "1", "title": "W", "text": ["One.", " Two."]}))
    write(tmp_path / "5.ndjson", json.dumps({"id": "1", "title": "R", "text": "One. Two."}))
    found = documents(tmp_path)
    assert [(one.title, one.id) for one in found] == [
        ("Ada", None),
        ("Ada", None),
        ("S", None),
        ("W", None),
        ("R", "1"),
    ]
    assert [len(one.sentences) for one in found] == [2, 2, 2, 2, 0]


def test_a_broken_first_line_does_not_hide_what_the_file_is(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", f"{{broken\n{json.dumps(QUESTION)}\n")
    found = list(Sources([path]))
    assert [(type(one), one.place) for one in found] == [(Broken, 1), (Document, 2)]


def test_questions_that_bring_no_paragraphs_are_nothing_to_read(tmp_path: Path) -> None:
    (found,) = Sources([write(tmp_path / "q.jsonl", '{"question": "Who?", "answer": "I"}')])
    assert isinstance(found, Broken)
    assert "has only `question`, `answer`; a row needs `text`" in found.reason


def test_tables_and_dumps_are_read_too(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "title,text\nA,one\n")
    write(tmp_path / "b.tsv", "title\ttext\nB\ttwo\n")
    write(tmp_path / "wiki_00", '<doc id="1" url="u" title="C">\nthree\n</doc>\n')
    write(tmp_path / "wiki_01.xz", lzma.compress(b'{"title": "D", "text": ["four"]}'))
    assert [one.title for one in documents(tmp_path)] == ["A", "B", "C", "D"]


def test_standard_input_has_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"title": "T", "text": "x"}\n'))
    )
    assert documents(Path("-")) == [Document("T", "-", 1, None, "x")]


def test_a_cut_off_file_is_told_with_its_last_line_and_the_next_is_read(tmp_path: Path) -> None:
    good = lzma.compress(b'{"text": "a"}\n{"text": "b"}\n')
    write(tmp_path / "a.jsonl.xz", good + good[:-20])
    write(tmp_path / "b.txt", "Words.")
    *_, broken, last = Sources([tmp_path])
    assert isinstance(broken, Broken)
    assert broken.place >= 3
    assert str(broken).startswith(f"{tmp_path / 'a.jsonl.xz'}:")
    assert "ends too early" in broken.reason
    assert isinstance(last, Document)


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "wiki_00", "a.json.xz"])
def test_an_empty_file_is_told(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, b"")
    assert list(Sources([path])) == [Broken(str(path), 1, "is empty")]


def test_a_file_that_disappears_is_told_and_the_next_is_read(tmp_path: Path) -> None:
    gone = write(tmp_path / "a.txt", "A.")
    write(tmp_path / "b.txt", "B.")
    sources = Sources([tmp_path])
    gone.unlink()
    broken, found = sources
    assert isinstance(broken, Broken)
    assert "cannot be opened" in broken.reason
    assert isinstance(found, Document)


def test_position_rises_to_the_total_of_bytes_on_disk(tmp_path: Path) -> None:
    lines = b'{"text": "some words"}\n' * 20_000
    write(tmp_path / "a.jsonl.xz", lzma.compress(lines))
    write(tmp_path / "b.jsonl", lines)
    sources = Sources([tmp_path])
    assert sources.total_bytes == sum(path.stat().st_size for path in tmp_path.iterdir())
    assert sources.position == 0
    positions = [sources.position for _ in sources]
    assert positions == sorted(positions)
    assert len(set(positions)) > 5
    assert sources.position == sources.total_bytes


def test_sources_can_be_read_again(tmp_path: Path) -> None:
    sources = Sources([write(tmp_path / "a.txt", "Words.")])
    assert list(sources) == list(sources)
    assert sources.position == sources.total_bytes


@pytest.mark.slow
def test_the_real_folder_of_musique_is_read_as_contexts() -> None:
    folder = SHARED / "musique"
    if not folder.exists():
        pytest.skip(f"{folder} is not on this machine")
    assert len(documents(folder)) == 4_228
