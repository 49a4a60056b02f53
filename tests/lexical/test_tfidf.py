"""The TF-IDF index on disk: built whole, opened with care, ties in corpus order (checklist 5)."""

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from muppet.config import TfidfConfig
from muppet.domain import silent
from muppet.errors import ArtifactError
from muppet.lexical import tfidf_build
from muppet.lexical.tfidf import Tfidf
from muppet.lexical.tfidf_build import Text, build_tfidf

MADE_FROM = {"paragraphs": "7"}
FILLERS = [(100 + n, f"Filler{n}", f"nothing{n}") for n in range(20)]


def build(directory: Path, texts: Sequence[Text], *, title: bool = True) -> Tfidf:
    config = TfidfConfig(buckets=2**16, title=title)
    build_tfidf(directory, texts, len(texts), config=config, made_from=MADE_FROM, progress=silent)
    return Tfidf(directory, MADE_FROM)


def found(index: Tfidf, question: str, keep: int = 10) -> list[int]:
    return [hop.paragraph for hop in index.narrow(question, keep)]


def test_an_empty_corpus_builds_opens_and_finds_nothing(tmp_path: Path) -> None:
    index = build(tmp_path / "index", [])
    assert len(index) == 0
    assert index.narrow("Who managed Manchester United?", 10) == []


def test_one_document_is_too_few_for_any_word_to_weigh(tmp_path: Path) -> None:
    index = build(tmp_path / "index", [(1, "Ferguson", "A Scottish manager.")])
    assert len(index) == 1
    assert index.narrow("Scottish manager", 10) == []


@pytest.mark.parametrize("question", ["", "who was it?", "…", "unheard-of"])
def test_a_question_without_known_words_finds_nothing(tmp_path: Path, question: str) -> None:
    index = build(tmp_path / "index", [(1, "Ferguson", "A manager."), *FILLERS])
    assert index.narrow(question, 10) == []


def test_paragraphs_of_empty_text_are_counted_but_never_found(tmp_path: Path) -> None:
    index = build(tmp_path / "index", [(1, "", ""), (2, "", "of the"), (3, "", "x"), *FILLERS])
    assert len(index) == 23
    assert found(index, "x") == [3]


def test_hops_carry_the_numbers_of_the_paragraphs_not_their_rows(tmp_path: Path) -> None:
    index = build(tmp_path / "index", [(12, "Ferguson", "x"), (57, "Busby", "y"), *FILLERS])
    assert found(index, "Busby") == [57]


def test_the_title_is_searched_unless_that_is_turned_off(tmp_path: Path) -> None:
    texts = [(1, "Ferguson", "A manager."), *FILLERS]
    assert found(build(tmp_path / "with", texts), "Ferguson") == [1]
    assert found(build(tmp_path / "without", texts, title=False), "Ferguson") == []


@pytest.mark.parametrize("keep", [1, 3, 5, 50])
def test_ties_keep_corpus_order_even_at_the_cut(tmp_path: Path, keep: int) -> None:
    tied = [(number, "", "Ferguson") for number in (31, 5, 8, 2, 77)]
    index = build(tmp_path / "index", [*tied, (90, "", "Ferguson Ferguson"), *FILLERS])
    assert found(index, "Ferguson", keep) == [90, 31, 5, 8, 2, 77][:keep]


def test_a_better_paragraph_without_the_heaviest_word_is_not_cut_off(tmp_path: Path) -> None:
    """The shortcut to the best few starts from one word; others may still be better."""
    rare = [(number, "", "rare") for number in (1, 2)]
    others = [(3, "", "one two three"), (4, "", "one two three"), (5, "", "one two three")]
    index = build(tmp_path / "index", [*rare, *others, *FILLERS])
    assert found(index, "rare one two three", 2) == [3, 4]


def test_shards_give_the_same_files_as_one_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = itertools.cycle(["alpha", "beta", "gamma", "alpha", "delta"])
    texts = [(n, f"Title{n % 7}", " ".join(itertools.islice(words, n % 11))) for n in range(100)]
    build(tmp_path / "whole", texts)
    monkeypatch.setattr(tfidf_build, "SHARD", 9)
    build(tmp_path / "sharded", texts)
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "sharded").iterdir())
    for name in names:
        whole, sharded = tmp_path / "whole" / name, tmp_path / "sharded" / name
        assert whole.read_bytes() == sharded.read_bytes(), name


def test_progress_is_told_after_every_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tfidf_build, "SHARD", 8)
    told: list[tuple[str, int, int | None]] = []
    build_tfidf(
        tmp_path / "index",
        FILLERS,
        20,
        config=TfidfConfig(buckets=2**16),
        made_from=MADE_FROM,
        progress=lambda *step: told.append(step),
    )
    assert told == [("tf-idf", 8, 20), ("tf-idf", 16, 20), ("tf-idf", 20, 20)]


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def texts() -> Iterator[Text]:
        yield FILLERS[0]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        build_tfidf(
            tmp_path / "index",
            texts(),
            2,
            config=TfidfConfig(buckets=2**16),
            made_from=MADE_FROM,
            progress=silent,
        )
    assert list(tmp_path.iterdir()) == []


def test_an_index_of_other_paragraphs_is_refused(tmp_path: Path) -> None:
    build(tmp_path / "index", FILLERS)
    with pytest.raises(ArtifactError, match=r"made from another paragraphs .* `muppet index`"):
        Tfidf(tmp_path / "index", {"paragraphs": "8"})


def test_a_directory_that_is_no_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"is no tf-idf index: it holds no manifest\.json"):
        Tfidf(tmp_path, MADE_FROM)


def test_an_index_of_another_format_is_refused(tmp_path: Path) -> None:
    build(tmp_path / "index", FILLERS)
    path = tmp_path / "index" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
    with pytest.raises(ArtifactError, match="was written in format 99, but this version"):
        Tfidf(tmp_path / "index", MADE_FROM)
