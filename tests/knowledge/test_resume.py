"""A run that was stopped: the next one over the same sources goes on, over others forgets it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from muppet.domain import Document
from muppet.knowledge.open import KnowledgeBase
from muppet.knowledge.write import index_documents

COUNT = 2_300


def rows(word: str = "first", source: str = "here") -> list[Document]:
    return [
        Document(f"Row {row}", source, row + 1, f"row{row}", f"{word}{row} is row {row}.")
        for row in range(COUNT)
    ]


def stopped(documents: list[Document], after: int) -> Iterator[Document]:
    """The documents, until somebody presses Ctrl-C."""
    yield from documents[:after]
    raise KeyboardInterrupt


def stop_in_the_middle(kb: Path, documents: list[Document], after: int = 2_100) -> None:
    with pytest.raises(KeyboardInterrupt):
        index_documents(kb, stopped(documents, after))
    assert (kb / "incoming.sqlite").exists()


def contents(directory: Path) -> dict[str, tuple[str, str]]:
    with KnowledgeBase(directory) as kb:
        numbers = [number for number, _, _ in kb.store.texts()]
        found = kb.store.paragraphs(numbers).values()
        return {paragraph.id: (paragraph.text, paragraph.source) for paragraph in found}


def answers(directory: Path, *questions: str) -> list[list[tuple[str, float]]]:
    with KnowledgeBase(directory) as kb:
        return [
            [
                (kb.store.paragraphs([hop.paragraph])[hop.paragraph].id, hop.score)
                for hop in kb.narrow(question, 5)
            ]
            for question in questions
        ]


def test_a_resumed_run_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    stop_in_the_middle(tmp_path / "kb", rows())
    assert contents(tmp_path / "kb") == {}
    summary = index_documents(tmp_path / "kb", rows())
    assert (summary.added, summary.unchanged, summary.documents) == (COUNT, 0, COUNT)
    index_documents(tmp_path / "undisturbed", rows())
    assert contents(tmp_path / "kb") == contents(tmp_path / "undisturbed")
    questions = ("first7", "first2299", "first1 first2000")
    assert answers(tmp_path / "kb", *questions) == answers(tmp_path / "undisturbed", *questions)
    assert not (tmp_path / "kb" / "incoming.sqlite").exists()


def test_a_stopped_run_changes_nothing(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, rows("old"))
    before = contents(kb), answers(kb, "old7", "new7")
    stop_in_the_middle(kb, rows("new"))
    assert (contents(kb), answers(kb, "old7", "new7")) == before


def test_what_a_resumed_run_had_read_is_not_split_again(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    stop_in_the_middle(kb, rows())
    size = (kb / "incoming.sqlite").stat().st_size
    assert size > 100_000
    stop_in_the_middle(kb, rows())
    assert (kb / "incoming.sqlite").stat().st_size <= size * 1.1


def test_a_run_over_other_sources_does_not_take_in_what_a_stopped_one_read(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    stop_in_the_middle(kb, rows())
    index_documents(kb, [Document("Owl", "there", 1, "owl", "Owls hoot.")])
    assert contents(kb) == {"owl": ("Owls hoot.", "there")}
    assert answers(kb, "first7") == [[]]


def test_a_document_that_changed_while_the_run_was_stopped_is_taken_as_it_is_now(
    tmp_path: Path,
) -> None:
    kb = tmp_path / "kb"
    stop_in_the_middle(kb, rows())
    later = rows()
    later[7] = replace(later[7], text="Something else.")
    index_documents(kb, later)
    assert contents(kb)["row7"] == ("Something else.", "here")
    assert answers(kb, "first7") == [[]]


def test_a_change_that_was_taken_back_while_the_run_was_stopped_is_not_made(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    index_documents(kb, rows("old"))
    stop_in_the_middle(kb, rows("new"))
    taken_back = [*rows("old"), Document("Owl", "here", COUNT + 1, "owl", "Owls hoot.")]
    summary = index_documents(kb, taken_back)
    assert (summary.added, summary.replaced, summary.unchanged) == (1, 0, COUNT)
    assert contents(kb)["row7"] == ("old7 is row 7.", "here")
    assert answers(kb, "new7") == [[]]


def test_a_file_that_moved_while_the_run_was_stopped_has_its_new_source(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    stop_in_the_middle(kb, rows(source="old"))
    index_documents(kb, rows(source="new"))
    assert {source for _, source in contents(kb).values()} == {"new"}


def test_a_run_stopped_after_it_published_leaves_nothing_to_do_again(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    stop_in_the_middle(kb, rows())
    incoming = (kb / "incoming.sqlite").read_bytes()
    index_documents(kb, rows(source="new"))
    with KnowledgeBase(kb) as base:
        numbers = [number for number, _, _ in base.store.texts()]
    (kb / "incoming.sqlite").write_bytes(incoming)  # as if killed before it was deleted
    owl = Document("Owl", "new", COUNT + 1, "owl", "Owls hoot.")
    index_documents(kb, [*rows(source="new"), owl])
    with KnowledgeBase(kb) as base:
        assert [number for number, _, _ in base.store.texts()][:-1] == numbers
    assert {source for _, source in contents(kb).values()} == {"new"}
