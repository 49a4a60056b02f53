"""Documents are staged, then published in one go; what cannot be stored is given back."""

from dataclasses import replace
from pathlib import Path

import pytest

from muppet.config import CorpusConfig
from muppet.corpus.store import Store, create_store
from muppet.corpus.writer import Staging, remove_documents
from muppet.domain import Document
from muppet.errors import CorpusError

OWL = Document("Owl", "birds", 1, "owl", "Owls hoot.")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    create_store(tmp_path / "corpus.sqlite")
    return tmp_path / "corpus.sqlite"


def staging_for(path: Path) -> Staging:
    return Staging(path, path.with_name("incoming.sqlite"), CorpusConfig())


def write(path: Path, *documents: Document) -> dict[str, int]:
    staging = staging_for(path)
    assert staging.add(documents) == []
    staging.publish()
    return dict(staging.counts)


def ids(path: Path) -> list[str]:
    store = Store(path)
    numbers = [number for number, _, _ in store.texts()]
    found = [paragraph.id for paragraph in store.paragraphs(numbers).values()]
    store.close()
    return found


def test_nothing_is_in_the_store_before_it_is_published(path: Path) -> None:
    staging = staging_for(path)
    staging.add([OWL])
    assert ids(path) == []
    staging.publish()
    assert ids(path) == ["owl"]
    assert not path.with_name("incoming.sqlite").exists()


def test_what_is_discarded_never_gets_there(path: Path) -> None:
    staging = staging_for(path)
    staging.add([OWL])
    staging.discard()
    assert write(path, Document("Elk", "mammals", 1, "elk", "Elks bellow.")) == {"added": 1}
    assert ids(path) == ["elk"]


def test_what_is_left_is_found_by_the_next_run(path: Path) -> None:
    first = staging_for(path)
    first.add([OWL])
    first.close()
    second = staging_for(path)
    second.add([OWL])
    second.publish()
    assert ids(path) == ["owl"]
    assert second.counts == {"added": 1}


def test_a_paragraph_s_number_is_never_given_again(path: Path) -> None:
    write(path, OWL)
    assert remove_documents(path, ["owl"]) == 1
    write(path, OWL)
    store = Store(path)
    assert [number for number, _, _ in store.texts()] == [2]
    assert (store.removed_changes(), store.added_changes(9)) == ([1], [(2, "Owl", "Owls hoot.")])
    store.close()


def test_the_revision_grows_with_changes_alone(path: Path) -> None:
    def revision() -> int:
        store = Store(path)
        number = store.revision
        store.close()
        return number

    write(path, OWL)
    assert revision() == 1
    write(path, OWL)
    assert revision() == 1
    write(path, Document("Owl", "elsewhere", 1, "owl", "Owls hoot."))
    assert revision() == 1  # its file has moved; its words, and all indexes of them, are the same
    remove_documents(path, ["owl"])
    assert revision() == 2


def test_a_document_without_an_id_never_replaces_one_of_another_file(
    path: Path, tmp_path: Path
) -> None:
    """One run or two, the result is the same; and a second run of either changes nothing."""
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    for file in (one, two):
        file.write_text("")
    planet = Document("Mercury", str(one), 1, text="Mercury is a planet.")
    metal = Document("Mercury", str(two), 1, text="Mercury is a metal.")
    assert write(path, planet)["added"] == 1
    assert write(path, metal)["added"] == 1
    assert ids(path) == ["Mercury", "Mercury (2)"]
    assert write(path, metal)["unchanged"] == 1
    assert write(path, planet, metal)["unchanged"] == 2
    assert write(path, replace(metal, text="It is liquid."))["replaced"] == 1
    assert ids(path) == ["Mercury", "Mercury (2)"]


def test_a_file_that_has_moved_keeps_its_id_and_may_have_changed(
    path: Path, tmp_path: Path
) -> None:
    before = Document("Owl", str(tmp_path / "gone.md"), 1, text="Owls hoot.", name="owl.md")
    write(path, before)
    after = replace(before, source=str(tmp_path / "here.md"), text="Owls fly.")
    assert write(path, after)["replaced"] == 1
    assert ids(path) == ["owl.md"]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (Document("Owl", "birds", 4, "owl", " \n "), "has no text"),
        (Document("Owl", "birds", 4, "owl", sentences=("", " ")), "has no text"),
        (
            Document("Owl", "birds", 4, "owl", "Owls \ud83d hoot."),
            "its text holds half a character",
        ),
        (Document("Owl", "birds", 4, "o\udce9", "Owls hoot."), "its name holds half a character"),
        (Document("Owl", "b\udce9", 4, "owl", "Owls hoot."), "its name holds half a character"),
        (Document("Owl", "birds", 4, "o\0", "Owls hoot."), "its id holds a NUL character"),
    ],
)
def test_what_cannot_be_stored_is_given_back_with_its_place(
    path: Path, document: Document, reason: str
) -> None:
    staging = staging_for(path)
    [broken] = staging.add([document, Document("Elk", "mammals", 1, "elk", "Elks bellow.")])
    assert (broken.source, broken.place) == (document.source, 4)
    assert broken.reason.startswith(reason)
    staging.publish()
    assert ids(path) == ["elk"]


def test_the_same_words_in_other_fields_are_another_content(path: Path) -> None:
    write(path, Document("Owl", "birds", 1, "owl", "ab"))
    assert write(path, Document("Owl", "birds", 1, "owl", sentences=("a", "b"))) == {"replaced": 1}


def test_an_unknown_id_is_answered_with_the_nearest(path: Path) -> None:
    write(path, OWL)
    with pytest.raises(CorpusError, match=r"'owls'; nothing was removed\. Did you mean 'owl'\?"):
        remove_documents(path, ["owls"])
    with pytest.raises(
        CorpusError, match=r"nothing was removed\. `muppet info KB --ids` lists them\.$"
    ):
        remove_documents(path, ["zzzzz"])
    assert ids(path) == ["owl"]
