"""Sentences join back to their text, and their numbers never shift (checklist 4)."""

from hypothesis import given
from hypothesis import strategies as st

from muppet.text.sentences import join_ready, split_sentences


@given(st.text() | st.text(alphabet="Ab.!? \n\t'\"“é。\u00a0\u2028", max_size=60))
def test_sentences_join_back_to_the_text_for_any_unicode(text: str) -> None:
    assert "".join(split_sentences(text)) == text


@given(st.text(alphabet="Ab.!? \n", min_size=1))
def test_no_sentence_of_a_text_with_words_is_only_white_space(text: str) -> None:
    assert all(sentence.strip() for sentence in split_sentences(text)) or not text.strip()


def test_a_wide_space_after_an_initial_is_survived() -> None:
    assert split_sentences("He met J.\u2028R. R. Tolkien. Then he left.") == (
        "He met J.\u2028R. R. Tolkien. ",
        "Then he left.",
    )


def test_abbreviations_do_not_end_a_sentence() -> None:
    text = "Dr. Smith met Mr. Jones in Washington. They spoke for an hour."
    assert split_sentences(text) == (
        "Dr. Smith met Mr. Jones in Washington. ",
        "They spoke for an hour.",
    )


def test_given_sentences_are_spaced_but_never_dropped() -> None:
    """Checklist 4: an empty sentence keeps its number."""
    assert join_ready(["One.", "", "Two.", " Three."]) == ("One. ", "", "Two.", " Three.")


@given(st.lists(st.text(max_size=5)))
def test_spacing_changes_nothing_but_white_space_at_the_end(sentences: list[str]) -> None:
    spaced = join_ready(sentences)
    assert len(spaced) == len(sentences)
    assert all(new in (old, old + " ") for new, old in zip(spaced, sentences, strict=True))
