"""Lines that fit a terminal, whatever is in them."""

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muppet.cli.show import filled, marked, one_line, show_answer
from muppet.domain import Answer, Chain, Hop, Paragraph, Result, Span

WORDS = st.lists(st.sampled_from(["a", "whale", "station", "of", "Grytviken,"]), min_size=1)


@given(WORDS, st.integers(16, 40), st.integers(0, 4))
def test_lines_fit_and_hold_all_words_in_their_order(
    words: list[str], width: int, hanging: int
) -> None:
    lines = list(filled("  " + " ".join(words), width, hanging))
    assert all(len(line) <= width for line in lines)
    assert " ".join(lines).split() == words
    assert lines[0].startswith("  ")
    assert all(line.startswith(" " * hanging) for line in lines[1:])


@given(WORDS, WORDS, st.integers(16, 40))
def test_a_style_ends_with_its_line_and_goes_on_in_the_next(
    before: list[str], inside: list[str], width: int
) -> None:
    text = f"{' '.join(before)} {click.style(' '.join(inside), bold=True)} end"
    lines = list(filled(text, width, 3))
    plain = list(filled(click.unstyle(text), width, 3))
    assert [click.unstyle(line) for line in lines] == plain
    for line in lines:
        assert line.count("\x1b[1m") == line.count("\x1b[0m")


def test_the_answer_and_the_bridge_to_the_next_hop_are_marked() -> None:
    paragraph = Paragraph("p", "Larsen", ("He was born. ", "He founded\nGrytviken in 1904."))
    start = paragraph.text.index("1904")
    answer = Answer("1904", "span", 0.0, 0.5, ("p",), (), Span("p", start, start + 4, start))
    shown = marked(answer, paragraph, 1, ["Larsen", "Grytviken"])
    year = click.style("1904", bold=True, underline=True)
    assert shown == f"He founded {click.style('Grytviken', fg='cyan')} in {year}."
    assert marked(answer, paragraph, 0, ["Larsen", "Grytviken"]) == "He was born."


@pytest.mark.parametrize("order", ["\x1b[2J", "\x9b2J", "\x07", "\x7f"])
def test_a_document_gives_no_orders_to_the_terminal(order: str) -> None:
    paragraph = Paragraph("p", "Title", (f"A{order}B.",))
    answer = Answer("x", "yes", 0.0, 0.5, ("p",))
    for told in (marked(answer, paragraph, 0, []), one_line(paragraph.text)):
        assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in told)
        assert told.startswith("A")


def test_what_is_as_good_as_impossible_is_not_offered(capsys: pytest.CaptureFixture[str]) -> None:
    paragraph = Paragraph("p", "Larsen", ("He founded Grytviken in 1904.",))
    answers = [
        Answer(text, "span", 0.0, probability, ("p",))
        for text, probability in (("1904", 0.9), ("Grytviken", 0.006), ("He", 0.004))
    ]
    chain = Chain((Hop(1, 0.0),))
    show_answer(Result("When?", tuple(answers), True, (chain,), {1: paragraph}, {}))
    assert capsys.readouterr().out.splitlines()[-1] == "  or: Grytviken (1%)"
    show_answer(Result("When?", (answers[0], answers[2]), True, (chain,), {1: paragraph}, {}))
    assert "or: " not in capsys.readouterr().out
