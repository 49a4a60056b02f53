"""Long documents become paragraphs that remember their document and position."""

from hypothesis import given
from hypothesis import strategies as st

from muppet.config import CorpusConfig
from muppet.corpus.paragraphs import split_document
from muppet.domain import Document

SMALL = CorpusConfig(min_words=4, max_words=8)


def document(text: str) -> Document:
    return Document("A title", "notes/a.txt", 1, text=text)


@given(st.text(alphabet="ab. \n\té", max_size=200) | st.text())
def test_every_paragraph_stands_in_its_document_where_it_says(text: str) -> None:
    paragraphs = split_document(document(text), "a", SMALL)
    for paragraph in paragraphs:
        end = paragraph.start + len(paragraph.text)
        assert text[paragraph.start : end] == paragraph.text


@given(st.text(alphabet="ab. \n\té", max_size=200) | st.text())
def test_no_word_is_lost_and_none_is_in_two_paragraphs(text: str) -> None:
    paragraphs = split_document(document(text), "a", SMALL)
    assert " ".join(p.text for p in paragraphs).split() == text.split()


@given(st.text(alphabet="ab. \n", max_size=200))
def test_no_paragraph_is_longer_than_the_limit(text: str) -> None:
    paragraphs = split_document(document(text), "a", SMALL)
    assert all(0 < len(p.text.split()) <= SMALL.max_words for p in paragraphs)


def test_the_first_paragraph_has_the_documents_id_and_the_others_a_number() -> None:
    text = "One two three four five.\n\nSix seven eight nine ten.\n\nEleven twelve."
    paragraphs = split_document(document(text), "notes/a.txt", SMALL)
    assert [p.id for p in paragraphs] == ["notes/a.txt", "notes/a.txt#2", "notes/a.txt#3"]
    assert [p.position for p in paragraphs] == [0, 1, 2]
    assert {p.document for p in paragraphs} == {"notes/a.txt"}


def test_a_heading_stays_with_the_text_under_it() -> None:
    paragraphs = split_document(document("History\n\nIt began a long time ago."), "a", SMALL)
    assert [p.text for p in paragraphs] == ["History\n\nIt began a long time ago."]


def test_a_heading_that_only_repeats_the_title_is_left_out() -> None:
    (paragraph,) = split_document(document("# A Title\n\nOwls sleep by day."), "a", SMALL)
    assert (paragraph.text, paragraph.start) == ("Owls sleep by day.", 11)
    (alone,) = split_document(document("A title"), "a", SMALL)
    assert alone.text == "A title"
    (other,) = split_document(document("A title page\n\nOwls sleep."), "a", SMALL)
    assert other.start == 0


def test_given_sentences_are_one_paragraph_however_long_and_keep_their_numbers() -> None:
    """Checklist 4."""
    given = Document("T", "f", 1, sentences=("One two three four five six.", "", "Seven " * 20))
    (paragraph,) = split_document(given, "T", SMALL)
    assert len(paragraph.sentences) == 3
    assert paragraph.sentences[1] == ""
