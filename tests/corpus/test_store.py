"""Paragraphs out of SQLite: by number, id and title."""

from pathlib import Path

import numpy as np
import pytest

from muppet.config import CorpusConfig
from muppet.corpus.store import Store, create_store
from muppet.corpus.writer import Staging, remove_documents
from muppet.domain import Document
from muppet.errors import ArtifactError

DOCUMENTS = [
    Document("Owl", "birds.txt", 1, "owl", "Owls hoot.\n\nOwls sleep.\n\nOwls eat mice."),
    Document("C#", "languages.txt", 1, "C#", "A language."),
    Document("Owl", "films.txt", 1, "film", sentences=("A film.", "", " It is 90′ long.")),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    create_store(tmp_path / "corpus.sqlite")
    config = CorpusConfig(min_words=1, max_words=50)
    staging = Staging(tmp_path / "corpus.sqlite", tmp_path / "incoming.sqlite", config)
    assert staging.add(DOCUMENTS) == []
    staging.publish()
    return tmp_path / "corpus.sqlite"


@pytest.fixture
def store(path: Path) -> Store:
    return Store(path)


def test_a_document_s_paragraphs_are_found_by_their_ids(store: Store) -> None:
    texts = {"owl": "Owls hoot.", "owl#2": "Owls sleep.", "owl#3": "Owls eat mice."}
    for id_, text in texts.items():
        paragraph = store.paragraph(id_)
        assert paragraph is not None
        assert (paragraph.id, paragraph.text, paragraph.title) == (id_, text, "Owl")
        assert (paragraph.document, paragraph.source) == ("owl", "birds.txt")
    store.close()


def test_a_paragraph_remembers_where_it_stood(store: Store) -> None:
    paragraph = store.paragraph("owl#3")
    assert paragraph is not None
    assert DOCUMENTS[0].text[paragraph.start :] == paragraph.text
    assert paragraph.position == 2
    store.close()


def test_an_id_may_itself_hold_the_sign_of_a_paragraph(store: Store) -> None:
    paragraph = store.paragraph("C#")
    assert paragraph is not None
    assert paragraph.text == "A language."
    store.close()


@pytest.mark.parametrize(
    "id_", ["", "#", "#2", "elk", "owl#4", "owl#0", "owl#x", "owl#" + "9" * 30]
)
def test_an_id_that_nobody_has_finds_nothing(store: Store, id_: str) -> None:
    assert store.paragraph(id_) is None
    store.close()


def test_given_sentences_keep_their_numbers(store: Store) -> None:
    paragraph = store.paragraph("film")
    assert paragraph is not None
    assert [sentence.strip() for sentence in paragraph.sentences] == [
        "A film.",
        "",
        "It is 90′ long.",
    ]
    store.close()


def test_paragraphs_are_found_by_title_and_number(store: Store) -> None:
    by_title = store.by_title("Owl")
    assert [paragraph.id for paragraph in by_title.values()] == ["owl", "owl#2", "owl#3", "film"]
    assert store.by_title("owl") == {}
    assert store.paragraphs([*by_title, 999]) == by_title
    assert store.paragraphs(list(by_title) * 1_000) == by_title  # more than SQLite takes at once
    store.close()


def test_the_store_counts_what_it_holds(store: Store) -> None:
    assert (store.count_documents(), store.count_paragraphs()) == (3, 5)
    assert not store.is_empty()
    assert store.sources() == [("birds.txt", 1), ("films.txt", 1), ("languages.txt", 1)]
    assert [number for number, _, _ in store.texts()] == [1, 2, 3, 4, 5]
    store.close()


def test_the_numbers_of_all_paragraphs_are_there_in_order(path: Path, store: Store) -> None:
    assert store.numbers().tolist() == [1, 2, 3, 4, 5]
    assert store.numbers().dtype == np.int64
    remove_documents(path, ["C#"])
    assert store.numbers().tolist() == [1, 2, 3, 5]
    remove_documents(path, ["owl", "film"])
    assert store.numbers().tolist() == []
    store.close()


def test_the_lexical_index_is_told_what_to_learn_in_portions(store: Store) -> None:
    assert [number for number, _, _ in store.added_changes(2)] == [1, 2]
    store.settle_changes(up_to=2)
    assert [number for number, _, _ in store.added_changes(9)] == [3, 4, 5]
    assert store.removed_changes() == []
    store.close()


def test_a_store_that_is_missing_or_damaged_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"corpus\.sqlite is missing"):
        Store(tmp_path / "corpus.sqlite")
    for rubbish in (b"", b"rubbish" * 1_000):
        (tmp_path / "corpus.sqlite").write_bytes(rubbish)
        with pytest.raises(ArtifactError, match=r"corpus\.sqlite is damaged"):
            Store(tmp_path / "corpus.sqlite")


def test_text_that_is_none_is_a_damage_not_a_traceback(store: Store) -> None:
    store.connection.execute("UPDATE paragraphs SET text = CAST(x'4fff' AS TEXT) WHERE number = 2")
    with pytest.raises(ArtifactError, match=r"corpus\.sqlite is damaged .*utf-8"):
        store.paragraphs([1, 2, 3])
    assert set(store.paragraphs([1, 3])) == {1, 3}
    store.close()
