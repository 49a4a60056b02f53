"""Titles are found in what is known as whole words, however they are spelled there."""

import pytest

from muppet.domain import Paragraph
from muppet.retrieve.names import known_text, name_of, unnamed, with_chain

FERGUSON = Paragraph("f", "Alex Ferguson", ("He managed Manchester United F.C. for long.",))


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Manchester United F.C.", "He managed Manchester United FC."),
        ("The Office (British TV series)", "Gervais made the Office."),
        ("Paris, Texas", "It was filmed in Paris Texas, mostly."),
        ("Old Trafford", "OLD  TRAFFORD\nis a ground."),
    ],
)
def test_case_punctuation_articles_and_what_stands_in_brackets_do_not_matter(
    title: str, text: str
) -> None:
    assert unnamed([name_of(title)], known_text(text, [])).tolist() == [0.0]


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Ford", "Fordham is a place."),
        ("Henry Ford", "Ford, Henry"),
        ("(film)", "A film."),
        ("…", "Nothing."),
        ("", "Nothing."),
    ],
)
def test_other_words_and_no_words_are_no_names(title: str, text: str) -> None:
    assert unnamed([name_of(title)], known_text(text, [])).tolist() == [1.0]


def test_the_chain_s_titles_and_texts_name_others_too() -> None:
    names = [name_of(title) for title in ("Manchester United F.C.", "Alex Ferguson", "Leeds")]
    assert unnamed(names, known_text("Who?", [])).tolist() == [1, 1, 1]
    assert unnamed(names, known_text("Who?", [FERGUSON])).tolist() == [0, 0, 1]
    assert with_chain("Who?", [FERGUSON]) == (
        "Who?\nAlex Ferguson. He managed Manchester United F.C. for long."
    )
