"""Crashes between the paragraphs and the lexical index: opening brings them in step again."""

import shutil
from pathlib import Path

import pytest

from muppet.domain import Document
from muppet.errors import ArtifactError, ConfigError
from muppet.knowledge.lock import write_lock
from muppet.knowledge.open import KnowledgeBase
from muppet.knowledge.write import index_documents

COUNT = 50


def rows(word: str, count: int = COUNT) -> list[Document]:
    return [
        Document(f"Title {row}", "here", row + 1, f"row{row}", f"{word}{row} stands here.")
        for row in range(count)
    ]


def assert_in_step(directory: Path, word: str, gone: str, count: int = COUNT) -> None:
    """Each of the first rows is found once by its own word, and never by the word before."""
    with KnowledgeBase(directory) as kb:
        assert kb.store.count_changes() == 0
        for row in range(count):
            [hop] = kb.narrow(f"{word}{row}", 10)
            assert kb.store.paragraphs([hop.paragraph])[hop.paragraph].id == f"row{row}"
            assert kb.narrow(f"{gone}{row}", 10) == []
        assert len(kb.narrow("stands here", 10 * COUNT)) == COUNT  # nothing is there twice


def forget_that_bm25_knows(directory: Path, changes: list[tuple[int, int]]) -> None:
    with KnowledgeBase(directory) as kb:
        kb.store.connection.executemany("INSERT INTO changes VALUES (?, ?)", changes)


def numbers(directory: Path) -> set[int]:
    with KnowledgeBase(directory) as kb:
        return {number for number, _, _ in kb.store.texts()}


def test_a_lexical_index_that_is_gone_is_built_again(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, rows("new"))
    shutil.rmtree(kb / "bm25")
    assert_in_step(kb, "new", "old")


def test_a_lexical_index_that_was_only_begun_is_built_again(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, rows("new"))
    for path in (kb / "bm25").iterdir():
        if path.name != ".managed.json":
            path.unlink()
    assert_in_step(kb, "new", "old")


def test_a_crash_after_the_paragraphs_are_stored_is_caught_up_with(tmp_path: Path) -> None:
    kb, before = tmp_path / "kb", tmp_path / "before"
    index_documents(kb, rows("old"))
    shutil.copytree(kb, before)
    index_documents(kb, rows("new"))
    shutil.rmtree(kb / "bm25")
    shutil.copytree(before / "bm25", kb / "bm25")
    old, new = numbers(before), numbers(kb)
    forget_that_bm25_knows(kb, [(n, 0) for n in old - new] + [(n, 1) for n in new - old])
    assert_in_step(kb, "new", "old")


def test_a_crash_after_the_lexical_index_learnt_adds_nothing_twice(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, rows("old"))
    old = numbers(kb)
    index_documents(kb, rows("new"))
    new = numbers(kb)
    forget_that_bm25_knows(kb, [(n, 0) for n in old - new] + [(n, 1) for n in new - old])
    assert_in_step(kb, "new", "old")


def test_a_crash_in_the_middle_of_the_lexical_index_s_own_commit_is_mended(tmp_path: Path) -> None:
    kb, before = tmp_path / "kb", tmp_path / "before"
    index_documents(kb, rows("old"))
    index_documents(kb, rows("older", 5))
    shutil.copytree(kb, before)
    index_documents(kb, rows("new", 10))
    for path in (before / "bm25").iterdir():  # all its new files are there, but not its new list
        if path.name == "meta.json" or not (kb / "bm25" / path.name).exists():
            shutil.copy(path, kb / "bm25" / path.name)
    old, new = numbers(before), numbers(kb)
    forget_that_bm25_knows(kb, [(n, 0) for n in old - new] + [(n, 1) for n in new - old])
    assert_in_step(kb, "new", "old", count=10)


def test_healing_waits_while_another_writes(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, rows("new"))
    forget_that_bm25_knows(kb, [(max(numbers(kb)), 1)])
    with write_lock(kb), KnowledgeBase(kb) as base:
        assert base.store.count_changes() == 1
        assert len(base.narrow("new7", 5)) == 1
    assert_in_step(kb, "new", "old")


def test_a_first_index_under_way_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, rows("new"))
    shutil.rmtree(kb / "bm25")
    with (
        write_lock(kb),
        KnowledgeBase(kb) as base,
        pytest.raises(ArtifactError, match="is not built yet"),
    ):
        base.narrow("new7", 5)


def test_a_paragraph_that_is_gone_is_not_shown_by_an_index_that_is_behind(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, rows("new"))
    with KnowledgeBase(kb) as base:
        assert len(base.narrow("new7", 5)) == 1
        base.store.connection.execute("DELETE FROM paragraphs WHERE text LIKE 'new7 %'")
        assert base.narrow("new7", 5) == []


def test_an_unknown_engine_is_refused(tmp_path: Path) -> None:
    index_documents(tmp_path / "kb", rows("new"))
    with (
        KnowledgeBase(tmp_path / "kb") as base,
        pytest.raises(ConfigError, match="known: bm25, tfidf"),
    ):
        base.narrow("new7", 5, "bm52")


def test_readers_do_not_wait_for_a_writer(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, rows("old"))
    with KnowledgeBase(kb) as reader:
        assert len(reader.narrow("old7", 5)) == 1
        index_documents(kb, [Document("Owl", "here", 1, "owl", "Owls hoot.")])
        assert len(reader.narrow("old7", 5)) == 1
        assert reader.store.paragraph("owl") is not None
