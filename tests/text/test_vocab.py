"""Words and characters as ids (checklist 8, 9)."""

from itertools import repeat

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muppet.text.vectors import WordVectors
from muppet.text.vocab import PADDING, RARE, Alphabet, Lexicon, alphabet_of

VECTORS = WordVectors(("Paris", "paris", "cat"), np.eye(3, dtype=np.float32))


def lexicon(characters: str = "abcdefghijklmnopqrstuvwxyz") -> Lexicon:
    return Lexicon(Alphabet(characters), VECTORS.row)


def row_of(word: str) -> int:
    book = lexicon()
    return int(book.vector_rows(book.types([word]))[0])


def test_a_word_is_looked_up_as_written_and_then_in_lower_case_checklist_8() -> None:
    """Rows are one more than the vectors', because row 0 is the zero vector."""
    assert row_of("Paris") == 1
    assert row_of("paris") == 2
    assert row_of("PARIS") == 2
    assert row_of("Cat") == 3


def test_an_unknown_word_and_padding_have_the_zero_row_checklist_8() -> None:
    assert row_of("dog") == 0
    assert row_of("") == 0


def test_an_unknown_word_is_still_spelled_checklist_8_and_9() -> None:
    book = lexicon("dog")
    (spelled,) = book.characters(book.types(["dog"]))
    assert spelled.tolist() == [2, 3, 4, *repeat(PADDING, 11)]


def test_only_the_first_14_characters_of_a_word_are_read_checklist_9() -> None:
    alphabet = Alphabet("abcdefghijklmnopqrstuvwxyz")
    word = "antidisestablishment"
    assert len(alphabet.ids(word)) == 14
    assert alphabet.ids(word).tolist() == alphabet.ids(word[:14]).tolist()
    assert alphabet.ids(word[:14]).tolist() != alphabet.ids(word[:13]).tolist()
    assert PADDING not in alphabet.ids(word)


def test_characters_seen_less_than_50_times_share_one_id_checklist_9() -> None:
    alphabet = alphabet_of(["ab"] * 49 + ["a", "c"])
    assert alphabet.characters == "a"
    assert alphabet.longest == 14
    assert alphabet.ids("abc")[:4].tolist() == [2, RARE, RARE, PADDING]


def test_case_is_kept_in_characters_checklist_1_and_9() -> None:
    alphabet = alphabet_of(["Aa"] * 50)
    upper, lower = alphabet.ids("Aa")[:2].tolist()
    assert upper != lower


def test_an_alphabet_counts_padding_and_the_rare_ones() -> None:
    alphabet = Alphabet("xyz")
    assert len(alphabet) == 5
    assert alphabet.ids("z?")[:3].tolist() == [4, RARE, PADDING]


@given(st.lists(st.text(max_size=20), max_size=12))
def test_types_give_back_the_words_they_were_made_of(words: list[str]) -> None:
    book = lexicon()
    types = book.types(words)
    assert list(book.words(types)) == words
    assert book.types(words).tolist() == types.tolist()
    for one, other in zip(words, types.tolist(), strict=True):
        assert (one == "") == (other == 0)


@given(st.text(min_size=1, max_size=30), st.text(max_size=10))
def test_every_id_is_one_of_the_alphabet_s_checklist_9(word: str, characters: str) -> None:
    alphabet = Alphabet("".join(dict.fromkeys(characters)))
    ids = alphabet.ids(word)
    assert ids.shape == (14,)
    assert (ids[: len(word)] != PADDING).all()
    assert (ids[len(word) :] == PADDING).all()
    assert ids.max() < len(alphabet)


def test_no_types_have_no_characters() -> None:
    assert lexicon().characters(np.zeros(0, dtype=np.int64)).shape == (0, 14)
