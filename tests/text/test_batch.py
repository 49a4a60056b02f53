"""Prepared texts in one padded batch: padding is marked, and nothing else changes."""

from dataclasses import replace
from itertools import zip_longest

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muppet.domain import Paragraph
from muppet.text.batch import Batch, chunks, make_batch
from muppet.text.prepare import Prepared, Preparer
from muppet.text.vocab import Alphabet, Lexicon

ROWS = {"a": 4, "b": 7}


def preparer() -> Preparer:
    lexicon = Lexicon(Alphabet("abc", longest=5), lambda word: ROWS.get(word, -1))
    return Preparer(lexicon, None, max_tokens=600, with_title=False)


def prepared(*texts: tuple[str, ...]) -> tuple[list[Prepared], Lexicon]:
    ready = preparer()
    return [ready.paragraph(Paragraph("p", "T", text)) for text in texts], ready.lexicon


def batch_of(*texts: tuple[str, ...]) -> Batch:
    return make_batch(*prepared(*texts))


def words_of(batch: Batch, row: int) -> list[str]:
    return [batch.spellings[word] for word in batch.words[row][batch.mask[row]].tolist()]


def test_texts_are_padded_behind_their_end_and_the_mask_says_where() -> None:
    batch = batch_of(("a b c",), ("b",))
    assert batch.mask.tolist() == [[True, True, True], [True, False, False]]
    assert batch.lengths.tolist() == [3, 1]
    assert words_of(batch, 0) == ["a", "b", "c"]
    assert words_of(batch, 1) == ["b"]
    assert len(batch) == 2


def test_every_distinct_word_is_there_once_with_its_row_and_characters_checklist_8_9() -> None:
    batch = batch_of(("a b a a",), ("b x b a",))
    assert sorted(batch.spellings) == ["a", "b", "x"]  # and no padding
    by_word = dict(zip(batch.spellings, batch.vector_rows.tolist(), strict=True))
    assert by_word == {"a": 5, "b": 8, "x": 0}
    spelled = dict(zip(batch.spellings, batch.characters.tolist(), strict=True))
    assert spelled == {"a": [2, 0, 0, 0, 0], "b": [3, 0, 0, 0, 0], "x": [1, 0, 0, 0, 0]}


def test_padding_is_the_empty_word_with_the_zero_vector() -> None:
    batch = batch_of(("a b",), ("a",))
    padding = int(batch.words[1, 1])
    assert batch.spellings[padding] == ""
    assert batch.vector_rows[padding] == 0
    assert not batch.characters[padding].any()


def test_padding_is_in_a_sentence_that_no_text_has_checklist_4() -> None:
    batch = batch_of(("a", " b", ""), ("a", "", " b c", ""), ("a",))
    assert batch.segments.tolist() == [[0, 1, 4], [0, 2, 2], [0, 4, 4]]
    assert batch.sentences.tolist() == [
        [True, True, False, False],
        [True, False, True, False],
        [True, False, False, False],
    ]


def test_an_empty_text_has_no_token_no_sentence_and_a_length_a_network_can_read() -> None:
    for batch in (batch_of(("",)), batch_of(("",), ("a b",))):
        assert not batch.mask[0].any()
        assert not batch.sentences[0].any()
        assert batch.lengths[0] == 1


def test_word_pieces_are_padded_and_belong_to_no_token_there_checklist_10() -> None:
    (one, other), lexicon = prepared(("a b",), ("a",))
    one = replace(one, pieces=np.array([5, 6, 7]), piece_tokens=np.array([-1, 0, 1]))
    other = replace(other, pieces=np.array([5]), piece_tokens=np.array([0]))
    batch = make_batch([one, other], lexicon)
    assert batch.piece_mask.tolist() == [[True, True, True], [True, False, False]]
    assert batch.piece_tokens.tolist() == [[-1, 0, 1], [0, -1, -1]]
    assert batch.pieces.tolist() == [[5, 6, 7], [5, 0, 0]]


def test_precomputed_layers_are_padded_with_zeros_checklist_10() -> None:
    (one, other), lexicon = prepared(("a b",), ("a",))
    assert make_batch([one, other], lexicon).frozen is None
    layers = np.arange(1, 7, dtype=np.float16).reshape(2, 1, 3)
    batch = make_batch([replace(one, frozen=layers), replace(other, frozen=layers[:1])], lexicon)
    assert batch.frozen is not None
    assert batch.frozen.dtype == np.float32
    assert batch.frozen.tolist() == [
        [[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]],
        [[[1.0, 2.0, 3.0]], [[0.0, 0.0, 0.0]]],
    ]


@given(st.lists(st.lists(st.text("ab x.", max_size=6), min_size=1, max_size=3), min_size=1))
def test_a_batch_gives_every_text_back_as_it_was(texts: list[list[str]]) -> None:
    ready, lexicon = prepared(*map(tuple, texts))
    batch = make_batch(ready, lexicon)
    most = batch.sentences.shape[1]
    for row, one in enumerate(ready):
        assert words_of(batch, row) == one.tokens.words()
        assert batch.segments[row][batch.mask[row]].tolist() == one.segments.tolist()
        assert (batch.segments[row][~batch.mask[row]] == most).all()
        assert batch.lengths[row] == max(1, len(one.types))
        assert batch.sentences[row].tolist() == [n in one.segments for n in range(most)]


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 1000), st.booleans())
def test_chunks_hold_every_text_once_and_as_many_as_fit(
    sizes: list[int], tokens: int, longest_first: bool
) -> None:
    sizes = sorted(sizes, reverse=longest_first)
    parts = [sizes[part] for part in chunks(sizes, tokens)]
    assert [size for part in parts for size in part] == sizes
    for part, behind in zip_longest(parts, parts[1:], fillvalue=[]):
        assert len(part) == 1 or max(part) * len(part) <= tokens
        if behind:
            longer = [*part, behind[0]]
            assert max(longer) * len(longer) > tokens
