"""A chain as one text: its sentences keep their numbers, its titles are apart (checklist 4, 26)."""

from pathlib import Path

import numpy as np
import pytest

from muppet.domain import Paragraph
from muppet.text.layout import NOWHERE, Layout, Reading, reading_apart, reading_joined
from muppet.text.prepare import Pieces, Preparer
from muppet.text.vocab import Alphabet, Lexicon
from tiny_bert import write_bert

CHAIN = (
    Paragraph("a", "The station", ("The stations was.", "", " The cafe was the station.")),
    Paragraph("b", "", ("The cafe.",)),
    Paragraph("c", "A.B", ("Was the station.", " Was.")),
)
QUESTION = "Was the cafe?"


def preparer(pieces: Pieces | None = None) -> Preparer:
    lexicon = Lexicon(Alphabet(""), lambda _: -1)
    return Preparer(lexicon, pieces, max_tokens=50, with_title=True)


def apart() -> Reading:
    ready = preparer()
    return reading_apart(ready.question(QUESTION), [ready.paragraph(one) for one in CHAIN])


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert"))


def joined(bert: Path, positions: int = 512) -> Reading:
    ready = preparer(Pieces(bert, positions))
    return reading_joined(ready, ready.question(QUESTION), [ready.paragraph(one) for one in CHAIN])


def words_of(reading: Reading) -> list[str]:
    pairs = zip(reading.layout.places.tolist(), reading.layout.tokens.tolist(), strict=True)
    words = [text.tokens.words() for text in reading.chain]
    return [words[place][token] for place, token in pairs if place >= 0]


def test_the_paragraphs_stand_one_behind_another_checklist_26() -> None:
    text = (
        "The station . The stations was . The cafe was the station . The cafe . "
        "A.B. Was the station . Was ."
    )
    assert words_of(apart()) == text.split()


def test_every_sentence_keeps_its_paragraph_and_its_number_checklist_4() -> None:
    layout = apart().layout
    assert layout.sentence_places.tolist() == [0, 0, 0, 1, 2, 2]
    assert layout.sentence_numbers.tolist() == [0, 1, 2, 0, 0, 1]
    assert layout.present.tolist() == [True, False, True, True, True, True]
    assert layout.segments.tolist() == [0] * 7 + [2] * 6 + [3] * 3 + [4] * 5 + [5] * 2


def test_a_title_and_its_text_are_regions_apart_and_the_stop_between_them_is_none() -> None:
    layout = apart().layout
    title_a, text_a = [0, 0, NOWHERE], [1] * 10
    assert layout.regions.tolist() == [*title_a, *text_a, *[3] * 3, 4, *[5] * 6]
    assert np.flatnonzero(layout.titles).tolist() == [0, 1, 2, 16]


def test_tokens_are_found_again_in_the_paragraph_and_in_its_title() -> None:
    reading = apart()
    place, start, end, in_title = reading.characters(7, 8)
    assert (place, CHAIN[place].text[start:end], in_title) == (0, "The cafe", False)
    place, start, end, in_title = reading.characters(0, 1)
    assert (place, CHAIN[place].title[start:end], in_title) == (0, "The station", True)
    place, start, end, in_title = reading.characters(16, 16)  # the token "A.B." took our stop
    assert (place, CHAIN[place].title[start:end], in_title) == (2, "A.B", True)


def test_read_together_the_question_is_the_first_sentence_and_in_no_answer(bert: Path) -> None:
    alone, both = apart().layout, joined(bert).layout
    lead = len(both.segments) - len(alone.segments)
    assert lead == 4
    assert both.segments.tolist() == [0] * lead + [number + 1 for number in alone.segments]
    assert both.regions.tolist() == [NOWHERE] * lead + alone.regions.tolist()
    assert both.present.tolist() == [False, *alone.present.tolist()]
    assert both.sentence_places.tolist() == [NOWHERE, *alone.sentence_places.tolist()]
    assert words_of(joined(bert)) == words_of(apart())


def test_a_token_without_a_word_piece_begins_and_ends_no_answer_but_may_stand_in_one(
    bert: Path,
) -> None:
    ready = preparer(Pieces(bert))
    chain = [ready.paragraph(Paragraph("a", "", ("The sta\u00adtion was.",)))]
    reading = reading_joined(ready, ready.question(QUESTION), chain)
    assert words_of(reading) == ["The", "sta", "\u00ad", "tion", "was", "."]
    assert reading.layout.regions[-6:].tolist() == [1, 1, NOWHERE, 1, 1, 1]


def seen_words(layout: Layout) -> int:
    return int((layout.regions != NOWHERE).sum())


def test_a_chain_too_long_for_the_transformer_loses_the_ends_of_its_longest_paragraphs(
    bert: Path,
) -> None:
    whole, cut = joined(bert), joined(bert, positions=36)
    assert whole.joined is not None
    assert cut.joined is not None
    assert len(whole.joined.pieces) > 36
    assert len(cut.joined.pieces) <= 36
    lost = np.flatnonzero((whole.layout.regions >= 0) & (cut.layout.regions < 0))
    assert len(lost)
    assert set(whole.layout.places[lost].tolist()) == {0}  # the first paragraph is the longest
    assert lost[-1] == np.flatnonzero(whole.layout.places == 0)[-1]
    assert cut.joined.pieces[-1] == whole.joined.pieces[-1]  # the separator at the end
    assert (whole.joined.pieces == 3).sum() == (cut.joined.pieces == 3).sum() == 4


def test_a_sentence_of_which_nothing_is_seen_cannot_be_support(bert: Path) -> None:
    cut = joined(bert, positions=22).layout
    assert not cut.present[3]
    assert cut.present[1]
    assert seen_words(cut) < seen_words(joined(bert).layout)
