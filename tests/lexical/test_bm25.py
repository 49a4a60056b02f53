"""BM25: right from three documents on, changed in place, crash after crash (checklist 3, 5)."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from muppet.config import Bm25Config, TfidfConfig
from muppet.domain import silent
from muppet.errors import ArtifactError
from muppet.lexical.bm25 import Bm25
from muppet.lexical.tfidf import Tfidf
from muppet.lexical.tfidf_build import build_tfidf

UNITED = (1, "Manchester United", "An English club. Ferguson managed the club for years.")
ROVERS = (2, "Doncaster Rovers", "An English club. Kraków's café is far from the club.")
RIVER = (3, "Mersey", "A river that flows past the club grounds to the sea.")
THREE = [UNITED, ROVERS, RIVER]


def make(
    directory: Path, texts: Sequence[tuple[int, str, str]] = THREE, config: Bm25Config | None = None
) -> Bm25:
    bm25 = Bm25(directory, config or Bm25Config())
    bm25.change(texts, [])
    return bm25


def found(bm25: Bm25, question: str, keep: int = 10) -> list[int]:
    return [hop.paragraph for hop in bm25.narrow(question, keep)]


def test_three_documents_are_enough_for_bm25_though_not_for_the_papers_tfidf(
    tmp_path: Path,
) -> None:
    """The small-corpus trap: a word of two documents in three has an idf of 0 (checklist 5)."""
    made_from = {"paragraphs": "1"}
    build_tfidf(
        tmp_path / "tfidf",
        THREE,
        len(THREE),
        config=TfidfConfig(),
        made_from=made_from,
        progress=silent,
    )
    question = "Which English club?"
    assert Tfidf(tmp_path / "tfidf", made_from).narrow(question, 10) == []
    assert found(make(tmp_path / "bm25"), question) == [1, 2, 3]


def test_the_best_paragraph_comes_first_and_keep_limits_how_many(tmp_path: Path) -> None:
    bm25 = make(tmp_path / "bm25")
    hops = bm25.narrow("Which club did Ferguson manage?", 10)
    assert hops[0].paragraph == 1
    assert [hop.score for hop in hops] == sorted((hop.score for hop in hops), reverse=True)
    assert found(bm25, "club", keep=2) == found(bm25, "club")[:2]


def test_a_paragraph_is_found_by_its_title_alone(tmp_path: Path) -> None:
    assert found(make(tmp_path / "bm25"), "Mersey") == [3]
    assert found(make(tmp_path / "plain", config=Bm25Config(title_boost=0)), "Mersey") == [3]


def test_ties_keep_corpus_order(tmp_path: Path) -> None:
    texts = [(number, "Same", "the same text") for number in range(1, 30)]
    assert found(make(tmp_path / "bm25", texts), "same text", keep=50) == list(range(1, 30))


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    bm25 = make(tmp_path / "bm25", [])
    assert len(bm25) == 0
    assert found(bm25, "club") == []


def test_added_paragraphs_are_found_and_removed_ones_are_gone(tmp_path: Path) -> None:
    bm25 = make(tmp_path / "bm25")
    bm25.change([(4, "Trent", "Another river.")], [])
    assert set(found(bm25, "river")) == {3, 4}
    bm25.change([], [3])
    assert found(bm25, "river") == [4]
    assert len(bm25) == 3


def test_one_change_can_both_add_and_remove(tmp_path: Path) -> None:
    bm25 = make(tmp_path / "bm25")
    bm25.change([(4, "Mersey", "A river in the north.")], [3, 1])
    assert found(bm25, "river") == [4]
    assert found(bm25, "Ferguson") == []
    assert len(bm25) == 2


def test_removing_what_is_not_there_changes_nothing(tmp_path: Path) -> None:
    bm25 = make(tmp_path / "bm25")
    bm25.change([], [99])
    assert len(bm25) == 3


def test_a_change_repeated_after_a_crash_adds_nothing_twice(tmp_path: Path) -> None:
    change = [(4, "Trent", "Another river."), (5, "Tyne", "Yet another river.")], [3]
    make(tmp_path / "bm25").change(*change)
    after_the_crash = Bm25(tmp_path / "bm25", Bm25Config())
    after_the_crash.change(*change)
    assert len(after_the_crash) == 4
    assert sorted(found(after_the_crash, "river")) == [4, 5]


def test_a_longer_change_that_a_crash_kept_from_being_noted_is_replaced(tmp_path: Path) -> None:
    bm25 = make(tmp_path / "bm25")
    bm25.change([(4, "Trent", "Another river."), (5, "Tyne", "Yet another river.")], [])
    bm25.change([(4, "Trent", "Another river.")], [])  # the next batch ended earlier
    bm25.change([(5, "Tyne", "Yet another river."), (6, "Tees", "A river too.")], [])
    assert sorted(found(bm25, "river")) == [3, 4, 5, 6]
    assert len(bm25) == 6


def test_another_process_sees_the_change_when_it_opens_the_index(tmp_path: Path) -> None:
    make(tmp_path / "bm25")
    assert found(Bm25(tmp_path / "bm25", Bm25Config()), "Ferguson") == [1]


@pytest.mark.parametrize(
    "question",
    [
        'AND "Ferguson( :* ^~',
        "Ferguson AND NOT club OR -river",
        "title:Ferguson^3~2 [a TO b] {c}",
        "+Ferguson -club \\ / ? * ' \" )(",
        "text:(Ferguson",
    ],
)
def test_signs_of_query_languages_are_only_text(tmp_path: Path, question: str) -> None:
    assert 1 in found(make(tmp_path / "bm25"), question)


@pytest.mark.parametrize("question", ["", " ", "?!", "AND", "who was it?", '"( :* ^~', "\0"])
def test_a_question_without_words_to_search_for_finds_nothing(
    tmp_path: Path, question: str
) -> None:
    assert found(make(tmp_path / "bm25"), question) == []


@pytest.mark.parametrize("question", ["Kraków", "krakow", "KRAKÓW", "cafe", "café"])
def test_accents_and_case_do_not_matter(tmp_path: Path, question: str) -> None:
    assert found(make(tmp_path / "bm25"), question) == [2]


@pytest.mark.parametrize("question", ["Krako\u0301w", "cafe\u0301"])
def test_decomposed_accents_match_composed_ones(tmp_path: Path, question: str) -> None:
    assert found(make(tmp_path / "bm25"), question) == [2]
    decomposed = [(1, "", "Krako\u0301w has a cafe\u0301"), (2, "", "nothing of that")]
    assert found(make(tmp_path / "other", decomposed), "Kraków café") == [1]


def test_stop_words_of_the_question_are_ignored(tmp_path: Path) -> None:
    bm25 = make(tmp_path / "bm25")
    assert found(bm25, "who was the of that") == []
    assert bm25.narrow("what was the river", 10) == bm25.narrow("river", 10)


def test_a_word_asked_twice_counts_once(tmp_path: Path) -> None:
    bm25 = make(tmp_path / "bm25")
    assert bm25.narrow("river river River", 10) == bm25.narrow("river", 10)


def test_words_match_by_their_stem_unless_that_is_turned_off(tmp_path: Path) -> None:
    assert found(make(tmp_path / "bm25"), "rivers") == [3]
    assert found(make(tmp_path / "exact", config=Bm25Config(stem=False)), "rivers") == []


def test_a_question_of_5000_characters_is_answered(tmp_path: Path) -> None:
    question = " ".join(f"word{n}" for n in range(900))[:4993] + " Mersey"
    assert len(question) == 5000
    assert found(make(tmp_path / "bm25"), question) == [3]


def test_a_damaged_index_says_how_to_rebuild_it(tmp_path: Path) -> None:
    make(tmp_path / "bm25")
    (tmp_path / "bm25" / "meta.json").write_text("{")
    with pytest.raises(ArtifactError, match=r"Delete that directory and run `muppet index`"):
        Bm25(tmp_path / "bm25", Bm25Config())


def test_flipped_bytes_give_hits_or_a_clear_error_never_a_panic(tmp_path: Path) -> None:
    """A disk's fault shows itself in any file; tantivy panics on some of them."""
    make(tmp_path / "whole")
    files = sorted(path.name for path in (tmp_path / "whole").iterdir() if path.stat().st_size)
    refused = 0
    for number, name in enumerate(files):
        content = (tmp_path / "whole" / name).read_bytes()
        for place in range(0, len(content), max(1, len(content) // 12)):
            damaged = tmp_path / f"{number}-{place}"
            shutil.copytree(tmp_path / "whole", damaged)
            flipped = bytes([content[place] ^ 0xFF])
            (damaged / name).write_bytes(content[:place] + flipped + content[place + 1 :])
            try:
                Bm25(damaged, Bm25Config()).narrow("Which river flows past the club?", 10)
            except ArtifactError as error:
                assert "run `muppet index` again" in str(error)
                refused += 1
    assert refused > 5
