"""Tokens remember their characters (checklist 1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muppet.text.tokens import tokenize, words


@given(st.text())
def test_offsets_slice_back_to_the_original_text_for_any_unicode(text: str) -> None:
    tokens = tokenize(text)
    gaps = zip([0, *tokens.ends], [*tokens.starts, len(text)], strict=True)
    assert all(not text[end:start].strip() for end, start in gaps)  # only white space between
    assert all(start < end for start, end in zip(tokens.starts, tokens.ends, strict=True))
    assert not any(character.isspace() for word in tokens.words() for character in word)


@given(st.text(alphabet="ant'’ ST.1,é\u0301", max_size=40))
def test_words_without_offsets_are_the_same_words(text: str) -> None:
    assert words(text) == tokenize(text).words()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ferguson's team didn't win.", ["Ferguson", "'s", "team", "did", "n't", "win", "."]),
        ("It’s 1,234.5 at 12:30", ["It", "’s", "1,234.5", "at", "12:30"]),
        ("the U.S. team", ["the", "U.S.", "team"]),
        ("well-known (1986–2013)", ["well", "-", "known", "(", "1986", "–", "2013", ")"]),
        ("Café cafe\u0301", ["Café", "cafe\u0301"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
    ],
)
def test_words_numbers_marks_and_clitics_stand_apart(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_slice_gives_the_sources_own_characters_and_keeps_its_case() -> None:
    tokens = tokenize("He  managed Manchester  United (1986–2013).")
    assert tokens.slice_text(2, 3) == "Manchester  United"
