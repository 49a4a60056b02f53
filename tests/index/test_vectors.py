"""Vectors that were written are read back: those asked for, in the order asked, or a clear no."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered import DIM, assert_right, build, paragraph, rows_of, vector

from muppet.artifact import MANIFEST
from muppet.errors import ArtifactError, ConfigError
from muppet.index import vectors as module
from muppet.index.layout import Commit, read_commit
from muppet.index.mips import best_sentences
from muppet.index.vectors import Vectors

NUMBERS = [3, 4, 5, 9, *range(20, 90), 200]
OFF_BY = {"float32": 0.0, "float16": 2**-11, "int8": 0.5001 / 127}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """float32, so that what comes out is what went in."""
    directory = tmp_path_factory.mktemp("index") / "vectors"
    build(directory, NUMBERS, dtype="float32")
    return directory


@pytest.mark.parametrize("dtype", OFF_BY)
def test_every_paragraph_has_the_vectors_of_its_sentences(tmp_path: Path, dtype: str) -> None:
    build(tmp_path / "vectors", NUMBERS, dtype=dtype)
    assert_right(Vectors(tmp_path / "vectors"), NUMBERS, OFF_BY[dtype])


def test_the_manifest_says_what_a_row_is(directory: Path) -> None:
    manifest = json.loads((directory / MANIFEST).read_text())
    assert (manifest["kind"], manifest["format"]) == ("sentence vectors", 1)
    assert manifest["made_from"] == {"encoder": "one"}
    config = manifest["config"]
    assert (config["dtype"], config["dim"], config["granularity"]) == ("float32", DIM, "sentence")
    assert Vectors(directory).bytes == sum(path.stat().st_size for path in directory.glob("*.bin"))


@given(asked=st.lists(st.sampled_from(NUMBERS), max_size=30))
def test_paragraphs_come_in_the_order_asked_for_and_as_often(
    directory: Path, asked: list[int]
) -> None:
    gathered = Vectors(directory).gather(asked)
    ends = np.append(gathered.starts, len(gathered.rows))[1:].tolist()
    assert gathered.rows.dtype == np.float32
    for number, start, end in zip(asked, gathered.starts.tolist(), ends, strict=True):
        assert np.array_equal(gathered.rows[start:end], rows_of(number))


def test_a_search_finds_the_sentence_it_was_given(directory: Path) -> None:
    vectors = Vectors(directory)
    for number in (3, 9, 57, 200):
        for place, sentence in enumerate(paragraph(number).sentences):
            scores, best = vectors.search(NUMBERS, vector(sentence)[None])
            assert NUMBERS[int(scores[0].argmax())] == number
            assert best[0, NUMBERS.index(number)] == place


@pytest.mark.parametrize("dtype", OFF_BY)
def test_a_search_is_the_best_sentences_of_the_gathered_rows(tmp_path: Path, dtype: str) -> None:
    build(tmp_path / "vectors", NUMBERS, dtype=dtype)
    vectors = Vectors(tmp_path / "vectors")
    queries = np.stack([vector("one"), vector("two")])
    gathered = vectors.gather(NUMBERS)
    right_scores, right = best_sentences(gathered.rows, gathered.starts, queries)
    scores, sentence = vectors.search(NUMBERS, queries)
    np.testing.assert_allclose(scores, right_scores, atol=1e-6)
    assert np.array_equal(sentence, right)
    assert vectors.search([], queries)[0].shape == (2, 0)
    assert vectors.search(NUMBERS, queries[:0])[1].shape == (0, len(NUMBERS))


def kilobytes_mapped(path: Path) -> int:
    """How much of a mapped file is in our memory."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    first = next(place for place, line in enumerate(lines) if line.endswith(str(path)))
    return next(int(line.split()[1]) for line in lines[first:] if line.startswith("Rss:"))


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux tells what is mapped")
def test_pages_are_let_go_when_too_many_are_mapped_and_read_again(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = Vectors(directory)
    rows = directory / vectors.commit.rows_file
    query = vector("one")[None]
    first = vectors.search(NUMBERS, query)
    assert kilobytes_mapped(rows) > 0
    monkeypatch.setattr(module, "MOST_MAPPED", 0)
    again = vectors.search(NUMBERS, query)
    assert kilobytes_mapped(rows) == 0
    assert all(map(np.array_equal, first, again))
    assert all(map(np.array_equal, first, vectors.search(NUMBERS, query)))


def test_vectors_know_which_paragraphs_they_have(directory: Path) -> None:
    asked = [-(2**40), -1, 0, 2, *NUMBERS, 6, 100, 201, 2**40]
    assert Vectors(directory).has(asked).tolist() == [number in NUMBERS for number in asked]
    assert Vectors(directory).has([]).tolist() == []


@pytest.mark.parametrize("unknown", [-1, 0, 6, 100, 201, 2**40])
def test_a_paragraph_without_vectors_is_refused(directory: Path, unknown: int) -> None:
    refusal = rf"1 of 3 paragraphs .* such as number {unknown}\. .*`muppet encode KB`"
    with pytest.raises(ArtifactError, match=refusal):
        Vectors(directory).gather([3, unknown, 4])


def test_every_row_knows_its_paragraph(directory: Path) -> None:
    vectors = Vectors(directory)
    owners = vectors.owners(np.arange(vectors.commit.rows))
    counts = [len(paragraph(number).sentences) for number in NUMBERS]
    assert owners.tolist() == np.repeat(NUMBERS, counts).tolist()


@pytest.mark.parametrize("size", [1, 2, 7, 100, 10_000])
@pytest.mark.parametrize("dtype", OFF_BY)
def test_all_rows_can_be_gone_over_in_chunks(tmp_path: Path, dtype: str, size: int) -> None:
    build(tmp_path / "vectors", NUMBERS, dtype=dtype)
    vectors = Vectors(tmp_path / "vectors")
    seen: list[int] = []
    for numbers, gathered in vectors.chunks(size):
        right = vectors.gather(numbers)
        assert np.array_equal(gathered.rows, right.rows)
        assert np.array_equal(gathered.starts, right.starts)
        assert len(gathered.rows) <= max(size, 5)
        seen += numbers.tolist()
    assert seen == NUMBERS


def test_one_vector_may_stand_for_a_whole_paragraph(tmp_path: Path) -> None:
    build(
        tmp_path / "vectors",
        [1, 2],
        granularity="paragraph",
        dtype="float32",
        encode=lambda some: [vector(one.text)[None] for one in some],
    )
    scores, sentence = Vectors(tmp_path / "vectors").search([2, 1], vector(paragraph(2).text)[None])
    assert scores[0, 0] == pytest.approx(1)
    assert sentence.tolist() == [[0, 0]]


@pytest.mark.parametrize("dtype", OFF_BY)
def test_a_knowledge_base_may_be_empty(tmp_path: Path, dtype: str) -> None:
    summary = build(tmp_path / "vectors", [], dtype=dtype)
    vectors = Vectors(tmp_path / "vectors")
    assert (summary.rows, len(vectors), vectors.numbers.tolist()) == (0, 0, [])
    assert vectors.has([1, 0]).tolist() == [False, False]
    assert vectors.gather([]).rows.shape == (0, DIM)
    assert list(vectors.chunks()) == []
    build(tmp_path / "vectors", NUMBERS, dtype=dtype)
    assert_right(Vectors(tmp_path / "vectors"), NUMBERS, OFF_BY[dtype])


def test_vectors_of_another_encoder_are_refused(directory: Path) -> None:
    Vectors(directory, {"encoder": "one"})
    with pytest.raises(ArtifactError, match=r"another encoder .* `muppet encode KB --again`"):
        Vectors(directory, {"encoder": "two"})


def test_where_there_are_no_vectors_it_says_how_to_make_them(tmp_path: Path) -> None:
    for where in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ArtifactError, match=r"no vectors in .* `muppet encode KB`"):
            Vectors(where)


@pytest.mark.parametrize("setting", [{"dtype": "int4"}, {"granularity": "word"}])
def test_a_type_that_there_is_not_is_refused(tmp_path: Path, setting: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"int4|word"):
        build(tmp_path / "vectors", [1], **setting)
    assert list(tmp_path.iterdir()) == []


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + bytes(8))


def forget(path: Path) -> None:
    manifest = json.loads(path.read_text())
    del manifest["config"]["commit"]["rows"], manifest["config"]["dtype"]
    path.write_text(json.dumps(manifest))


def from_the_future(path: Path) -> None:
    path.write_text(path.read_text().replace('"format": 1', '"format": 9'))


DAMAGES = [
    ("rows-1.bin", cut),
    ("rows-1.bin", Path.unlink),
    ("scales-1.bin", cut),
    ("scales-1.bin", Path.unlink),
    ("table-1.bin", cut),
    ("table-1.bin", flip),
    ("table-1.bin", lengthen),
    ("table-1.bin", Path.unlink),
    (MANIFEST, cut),
    (MANIFEST, forget),
    (MANIFEST, from_the_future),
]


@pytest.mark.parametrize(
    ("name", "damage"), DAMAGES, ids=[f"{damage.__name__} {name}" for name, damage in DAMAGES]
)
def test_damaged_files_are_refused_and_can_be_built_again(
    tmp_path: Path, name: str, damage: object
) -> None:
    directory = tmp_path / "vectors"
    build(directory, NUMBERS)
    assert callable(damage)
    damage(directory / name)
    for attempt in (lambda: Vectors(directory), lambda: build(directory, [*NUMBERS, 201])):
        with pytest.raises(ArtifactError, match=rf"{MANIFEST}|{name}|format 9") as refusal:
            attempt()
        assert "`muppet encode KB --again`" in str(refusal.value)
    build(directory, [*NUMBERS, 201], again=True)
    assert_right(Vectors(directory), [*NUMBERS, 201], OFF_BY["int8"])


def test_a_reader_who_comes_while_a_writer_finishes_sees_the_new_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "vectors"
    build(directory, NUMBERS)
    seen = [read_commit(directory)]  # by the time its files are opened they are gone
    build(directory, [*NUMBERS, 201])

    def read(where: Path) -> Commit:
        return seen.pop() if seen else read_commit(where)

    monkeypatch.setattr(module, "read_commit", read)
    assert_right(Vectors(directory), [*NUMBERS, 201], OFF_BY["int8"])
