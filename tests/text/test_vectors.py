"""Word vectors from GloVe and word2vec files (checklist 8)."""

import bz2
import gzip
import lzma
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from muppet.corpus.files import open_file
from muppet.errors import ArtifactError, ConfigError
from muppet.text.vectors import UNKNOWN, WordVectors, pruned, read_vectors

Table = Mapping[str, list[float]]

TABLE: Table = {
    "the": [0.1, 0.2, -0.3],
    "The": [1.5, 0.0, 2e-7],
    "straße": [-1.0, 10.0, 1.0],
    "1999": [4.0, 5.0, 6.0],
}


def everything(_: str) -> bool:
    return True


def glove(table: Table) -> bytes:
    return "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in table.items()).encode()


def header(table: Table) -> bytes:
    return f"{len(table)} {len(next(iter(table.values())))}\n".encode()


def word2vec_text(table: Table) -> bytes:
    return header(table) + glove(table).replace(b"\n", b" \n")  # as the C program ends its lines


def word2vec_binary(table: Table, end: bytes = b"\n") -> bytes:
    rows = (
        word.encode() + b" " + np.array(row, "<f4").tobytes() + end for word, row in table.items()
    )
    return header(table) + b"".join(rows)


def word2vec_binary_without_newlines(table: Table) -> bytes:
    return word2vec_binary(table, end=b"")


LAYOUTS = [glove, word2vec_text, word2vec_binary, word2vec_binary_without_newlines]


def read(content: bytes, wanted: object = everything) -> WordVectors:
    return read_vectors(BytesIO(content), wanted, source="some.vec")  # type: ignore[arg-type]


def as_table(vectors: WordVectors) -> dict[str, list[float]]:
    return dict(zip(vectors.words, vectors.matrix.tolist(), strict=True))


def as_float32(table: Table) -> dict[str, list[float]]:
    return {word: np.array(row, np.float32).tolist() for word, row in table.items()}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_is_recognised_by_its_content(layout: Callable[[Table], bytes]) -> None:
    vectors = read(layout(TABLE))
    assert vectors.words == tuple(TABLE)
    assert vectors.matrix.dtype == np.float32
    assert as_table(vectors) == as_float32(TABLE)


@given(
    st.integers(2, 20).flatmap(
        lambda dim: st.dictionaries(
            st.text(st.characters(categories=["L", "N", "P"]), min_size=1),
            st.lists(st.floats(width=32, min_value=-9, max_value=9), min_size=dim, max_size=dim),
            min_size=1,
        )
    )
)
def test_whatever_is_written_in_any_layout_is_read_again(table: dict[str, list[float]]) -> None:
    for layout in LAYOUTS:
        assert as_table(read(layout(table))) == table


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        (".gz", gzip.compress),
        (".xz", lzma.compress),
        (".bz2", bz2.compress),
        (".zst", zstandard.compress),
    ],
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_compressed_file_is_read_through_its_stream(
    tmp_path: Path,
    layout: Callable[[Table], bytes],
    suffix: str,
    compress: Callable[[bytes], bytes],
) -> None:
    path = tmp_path / f"a file whose name says nothing{suffix}"
    path.write_bytes(compress(layout(TABLE)))
    with open_file(path) as stream:
        assert as_table(read_vectors(stream, everything, source=str(path))) == as_float32(TABLE)


def test_a_binary_file_larger_than_a_block_is_read_whole() -> None:
    table = {f"word{n}": [float(n)] * 300 for n in range(2000)}
    assert as_table(read(word2vec_binary(table))) == table


def test_a_word_may_contain_spaces() -> None:
    table = {"the": [0.5, 1.0], ". . .": [0.25, 2.0], "at name@domain.com": [0.125, 3.0]}
    assert as_table(read(glove(table))) == table
    assert as_table(read(word2vec_text(table))) == table


def test_a_word_may_contain_what_other_readers_take_for_white_space() -> None:
    table = {"the": [0.5, 1.0], "a\xa0b": [0.25, 2.0], "\x85": [0.125, 3.0], "\u2028": [0.0, 4.0]}
    assert as_table(read(glove(table))) == table


def test_two_whole_numbers_are_a_header_and_a_number_with_its_vector_is_not() -> None:
    assert read(b"1 2\nthe 3 4\n").words == ("the",)
    assert read(b"1 2 3\n2 3 4\n").words == ("1", "2")


def test_lines_may_end_as_on_windows_and_the_last_one_not_at_all() -> None:
    assert as_table(read(b"the 1 2\r\nof 3 4")) == {"the": [1.0, 2.0], "of": [3.0, 4.0]}


def test_a_word_is_sought_as_written_then_in_lower_case_then_is_zero() -> None:
    """Checklist 8."""
    vectors = read(b"the 1 2\nThe 3 4\nparis 5 6\nNATO 7 8\n")
    assert [vectors.row(word) for word in ("the", "The", "THE")] == [0, 1, 0]
    assert vectors.rows(["Paris", "NATO", "nato"]).tolist() == [2, 3, UNKNOWN]
    assert vectors.rows([]).dtype == np.int64
    assert vectors.look_up(["nato", "The", "PARIS"]).tolist() == [[0, 0], [3, 4], [5, 6]]


def test_of_a_repeated_word_the_first_vector_counts() -> None:
    assert as_table(read(b"the 1 2\nof 3 4\nthe 5 6\n")) == {"the": [1, 2], "of": [3, 4]}


def test_a_word_that_is_not_utf8_is_no_word_of_any_text() -> None:
    vectors = read(b"the 1 2\ncaf\xc3 3 4\nof 5 6\n")
    assert vectors.words == ("the", "caf\ufffd", "of")


def test_a_wanted_word_brings_its_lower_case_along() -> None:
    content = b"the 1 2\nThe 3 4\nparis 5 6\nParis 7 8\nTHE 9 9\n"
    assert read(content, {"The", "PARIS"}).words == ("the", "The", "paris")
    assert read(content, lambda word: word.islower()).words == ("the", "paris")
    assert read(content, ()).matrix.shape == (0, 2)


WORDS = st.text("aAbBİßẞ", min_size=1, max_size=2)


@given(st.lists(WORDS, min_size=1), st.lists(WORDS))
def test_pruning_changes_no_vector_of_a_wanted_word(known: list[str], wanted: list[str]) -> None:
    content = glove({word: [float(n), 1.0] for n, word in enumerate(known)})
    whole = read(content)
    expected = whole.look_up(wanted)
    assert np.array_equal(read(content, wanted).look_up(wanted), expected)
    assert np.array_equal(pruned(whole, wanted).look_up(wanted), expected)
    assert pruned(whole, wanted).words == read(content, wanted).words
    assert set(pruned(whole, wanted).words) <= {*wanted, *(word.lower() for word in wanted)}


@pytest.mark.parametrize(
    ("content", "where", "what"),
    [
        (b"the 1 2\nof 3\n", "line 2", "has 1 numbers after its word, not 2"),
        (b"the 1 2\nof 3 4 5\n", "line 2", "has 3 numbers after its word, not 2"),
        (b"the 1 2\n\nof 3 4\n", "line 2", "has 0 numbers"),
        (b"the 1 2\nof 3 x\n", "line 2", "has “x” in the place of a number"),
        ("the 1 2\nof 3 é\n".encode(), "line 2", "has “é” in the place of a number"),
        (b"the 1 2\nof nan 4\n", "line 2", "not finite"),
        (b"2 3\nthe 1 2 3\nof 4 5\n", "line 3", "has 2 numbers after its word, not 3"),
        (b"2 3\nthe 1 2\nof 4 5\n", "line 2", "has 2 numbers after its word, not 3"),
        (word2vec_binary(TABLE)[:-3], "word 4", "numbers of 4 bytes"),
        (word2vec_binary(TABLE) + b"more", "word 5", "numbers of 4 bytes"),
        (word2vec_binary({"the": [np.inf, 0.1]}), "word 1", "not finite"),
        (b"1 3\nthe " + bytes(2 << 20), "word 2", "numbers of 4 bytes"),
    ],
)
def test_a_broken_line_is_named_with_its_file(content: bytes, where: str, what: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(content)
    message = str(caught.value)
    assert message.startswith(f"some.vec: {where} ")
    assert what in message
    assert "download the file again" in message


@pytest.mark.parametrize("layout", [word2vec_text, word2vec_binary])
@pytest.mark.parametrize("promised", [3, 5])
def test_a_header_that_promises_another_number_of_words_is_not_believed(
    layout: Callable[[Table], bytes], promised: int
) -> None:
    content = layout(TABLE).replace(b"4", str(promised).encode(), 1)
    with pytest.raises(ConfigError, match=f"promises {promised} words, but 4 follow"):
        read(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"the\n",
        b"It was the best of times\n",
        b"PK\x03\x04\x14 archive",
        gzip.compress(glove(TABLE), mtime=0),
        "the 1 2\n".encode("utf-16"),
    ],
)
def test_a_file_without_word_vectors_is_refused_with_what_to_do(content: bytes) -> None:
    with pytest.raises(ConfigError, match=r"^some\.vec does not begin like .* unpack it first\."):
        read(content)


def test_saved_vectors_are_loaded_from_the_disk_as_they_were(tmp_path: Path) -> None:
    table = {**TABLE, ". . .": [0.0, 0.0, 1.0], "\x85": [0.0, 1.0, 0.0], "\r": [1.0, 0.0, 0.0]}
    vectors = WordVectors(tuple(table), np.array([*table.values()], np.float32))
    vectors.save(tmp_path / "vectors")
    loaded = WordVectors.load(tmp_path / "vectors")
    assert isinstance(loaded.matrix, np.memmap)
    assert loaded.words == vectors.words
    assert as_table(loaded) == as_table(vectors)
    assert loaded.row("STRASSE") == UNKNOWN
    assert loaded.look_up(["THE"]).tolist() == vectors.matrix[:1].tolist()


def test_no_vectors_at_all_can_be_saved_too(tmp_path: Path) -> None:
    pruned(read(glove(TABLE)), ["zebra"]).save(tmp_path / "vectors")
    loaded = WordVectors.load(tmp_path / "vectors")
    assert loaded.words == ()
    assert loaded.look_up(["the"]).tolist() == [[0.0, 0.0, 0.0]]


def test_damaged_vectors_are_refused(tmp_path: Path) -> None:
    directory = tmp_path / "vectors"
    read(glove(TABLE)).save(directory)
    (directory / "words.txt").write_text("the\n")
    with pytest.raises(ArtifactError, match=r"damaged \(1 words, 4 vectors\)"):
        WordVectors.load(directory)
    (directory / "matrix.npy").write_bytes(b"")
    with pytest.raises(ArtifactError, match="damaged"):
        WordVectors.load(directory)
    (directory / "manifest.json").unlink()
    with pytest.raises(ArtifactError, match="holds no manifest"):
        WordVectors.load(directory)
