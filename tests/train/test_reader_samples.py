"""Which chains the reader reads of a question (checklist 26, 28)."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from muppet.domain import Paragraph
from muppet.errors import ConfigError
from muppet.train.examples import TrainingData, TrainingQuestion
from muppet.train.reader_samples import (
    ReaderSample,
    WrongChains,
    article_negatives,
    reader_samples,
)
from muppet.train.retrieved import read_retrieved

PARAGRAPHS = tuple(Paragraph(f"p{n}", f"Title {n}", (f"Text {n}.",)) for n in range(12))


def data(
    gold: tuple[int, ...], *, is_ordered: bool = False, dataset: str = "hotpotqa"
) -> TrainingData:
    distractors = tuple(row for row in range(10) if row not in gold)
    question = TrainingQuestion("q", "Who?", dataset, gold, distractors, is_ordered)
    return TrainingData((question,), PARAGRAPHS)


def draw(world: TrainingData, wrong: WrongChains, times: int = 1) -> list[list[ReaderSample]]:
    rng = np.random.default_rng(26)
    return [reader_samples(0, world, rng, wrong) for _ in range(times)]


def test_hotpotqa_reads_the_gold_pair_and_two_of_one_gold_and_one_distractor_checklist_26() -> None:
    golds, orders = Counter[int](), Counter[tuple[int, ...]]()
    for gold, *wrong in draw(data((0, 1)), WrongChains(), times=2000):
        assert set(gold.paragraphs) == {0, 1}
        orders[gold.paragraphs] += 1
        assert len(wrong) == 2
        for sample in wrong:
            (kept,) = {0, 1} & set(sample.paragraphs)
            golds[kept] += 1
            assert len(sample.paragraphs) == 2
            assert set(sample.paragraphs) - {0, 1} < set(range(2, 10))
    assert 0.45 < golds[0] / 4000 < 0.55
    assert 0.45 < orders[(0, 1)] / 2000 < 0.55


def test_a_share_of_the_wrong_chains_may_be_of_strangers_alone() -> None:
    drawn = draw(data((0, 1)), WrongChains(strangers=0.25), times=2000)
    strange = [not {0, 1} & set(one.paragraphs) for _, *wrong in drawn for one in wrong]
    assert 0.22 < sum(strange) / len(strange) < 0.28
    assert all(len(set(one.paragraphs)) == 2 for _, *wrong in drawn for one in wrong)


@pytest.mark.parametrize(("dataset", "rows"), [("comparisons", (0, 1)), ("boolq", (0,))])
def test_what_teaches_yes_and_no_is_read_without_wrong_chains(
    dataset: str, rows: tuple[int, ...]
) -> None:
    found = WrongChains(retrieved={0: ((2,), (3, 4))}, retrieved_share=1.0)
    ((gold, *wrong),) = draw(data(rows, dataset=dataset), found)
    assert set(gold.paragraphs) == {*rows}
    assert not wrong


def test_all_distractors_are_as_likely_checklist_26() -> None:
    seen = Counter(
        row for _, *wrong in draw(data((0, 1)), WrongChains(), 2000) for one in wrong
        for row in one.paragraphs if row > 1
    )  # fmt: skip
    assert set(seen) == set(range(2, 10))
    assert max(seen.values()) < 1.25 * min(seen.values())


def test_with_more_hops_some_gold_gives_way_and_order_is_kept_where_there_is_one_checklist_26() -> (
    None
):
    lost = Counter[int]()
    for gold, *wrong in draw(data((3, 1, 2), is_ordered=True), WrongChains(count=3), times=500):
        assert gold.paragraphs == (3, 1, 2)
        for sample in wrong:
            pairs = zip(sample.paragraphs, (3, 1, 2), strict=True)
            kept = [mine == its for mine, its in pairs]
            lost[kept.count(False)] += 1
            assert len(set(sample.paragraphs)) == 3
            assert len({1, 2, 3} & set(sample.paragraphs)) == kept.count(True)
    assert set(lost) == {1, 2}
    assert 0.4 < lost[1] / 1500 < 0.6


def test_squad_reads_its_own_paragraph_and_others_of_its_article_checklist_28() -> None:
    squad = data((4,), dataset="squad")
    for gold, *wrong in draw(squad, WrongChains(count=2, negatives={0: (7, 8, 9)}), times=50):
        assert gold.paragraphs == (4,)
        assert len({one.paragraphs for one in wrong}) == 2
        assert all(one.paragraphs[0] in (7, 8, 9) for one in wrong)


def test_a_share_of_the_questions_of_one_hop_has_wrong_paragraphs() -> None:
    wrong = WrongChains(count=3, paragraphs=1, paragraphs_share=0.25)
    drawn = [len(some) for _, *some in draw(data((4,), dataset="squad"), wrong, times=2000)]
    assert set(drawn) == {0, 1}
    assert 0.22 < sum(drawn) / 2000 < 0.28
    assert {len(some) for _, *some in draw(data((0, 1)), wrong, times=50)} == {3}


def test_an_article_of_one_paragraph_borrows_from_elsewhere_checklist_28() -> None:
    squad = data((4,), dataset="squad")
    for gold, *wrong in draw(squad, WrongChains(count=2, negatives={0: ()}), times=20):
        assert gold.paragraphs == (4,)
        assert len({one.paragraphs for one in wrong} - {(4,)}) == len(wrong) == 2


def test_only_negatives_of_the_question_s_own_article_are_kept_checklist_28() -> None:
    titled = [Paragraph(f"p{n}", title, ("Text.",)) for n, title in enumerate("AABBA")]
    question = TrainingQuestion("q", "Who?", "squad", (0,), (), is_ordered=False)
    world = TrainingData((question,), tuple(titled))
    assert article_negatives(world, {0: (4, 2, 1, 3)}) == {0: (4, 1)}


def test_where_only_gold_is_right_no_negative_holds_the_answer() -> None:
    texts = ("Ann did.", "It was ann.", "Nobody did.")
    excerpts = tuple(Paragraph(f"p{n}", "A", (text,)) for n, text in enumerate(texts))
    question = TrainingQuestion("q", "Who?", "squad", (0,), (), is_ordered=False, answers=("Ann",))
    world = TrainingData((question,), excerpts)
    assert article_negatives(world, {0: (1, 2)}) == {0: (1, 2)}
    assert article_negatives(world, {0: (1, 2)}, may_answer=False) == {0: (2,)}


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_share_of_the_wrong_chains_was_retrieved(share: float) -> None:
    retrieved = ((0, 10), (10, 11), (1, 0), (11, 0))  # the third is gold
    wrong = WrongChains(count=2, retrieved={0: retrieved}, retrieved_share=share)
    samples = [one.paragraphs for _, *some in draw(data((0, 1)), wrong, times=1000) for one in some]
    found = [chain for chain in samples if {10, 11} & set(chain)]
    assert abs(len(found) / len(samples) - share) < 0.04
    assert set(found) <= {(0, 10), (10, 11), (11, 0)}
    assert len(samples) == 2000


def test_one_seed_gives_one_sample() -> None:
    world, wrong = data((0, 1)), WrongChains()
    assert draw(world, wrong, times=20) == draw(world, wrong, times=20)


def test_paragraphs_of_one_title_are_told_apart_by_how_they_begin(tmp_path: Path) -> None:
    texts = ("The mole is of granite.", "The light is white.", "The mole was built in 1902.")
    rows = tuple(Paragraph(f"p{n}", "Skerry", (text,)) for n, text in enumerate(texts))
    world = TrainingData((TrainingQuestion("q", "Who?", "squad", (1,), (), False),), rows)
    path = tmp_path / "chains.jsonl"
    named = [[["Skerry", text[:60]]] for text in (texts[2], texts[0], "Another")]
    path.write_text(json.dumps({"id": "q", "question": "Who?", "chains": named}) + "\n")
    assert read_retrieved(path, world) == {0: ((2,), (0,))}


def test_questions_of_one_hop_get_as_many_paragraphs_as_asked_for_retrieved_or_not() -> None:
    wrong = WrongChains(count=1, paragraphs=3, retrieved={0: ((10,), (11,))}, retrieved_share=0.5)
    drawn = draw(data((0,), dataset="squad"), wrong, times=200)
    assert {len(samples) for samples in drawn} == {4}
    some = Counter(
        sum(sample.paragraphs in ((10,), (11,)) for sample in wrong) for _, *wrong in drawn
    )
    assert set(some) == {0, 1, 2}


def test_retrieved_chains_are_read_by_title_and_unknown_titles_left_out(tmp_path: Path) -> None:
    path = tmp_path / "chains.jsonl"
    chains = [["Title 3", "Title 0"], ["Title 3", "Nowhere"], ["Title 11"], ["Title 11"]]
    lines = [{"id": "q", "chains": chains}, {"id": "stranger", "chains": [["Title 1"]]}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_retrieved(path, data((0, 1))) == {0: ((3, 0), (11,))}


def test_questions_of_one_id_are_told_apart_by_their_text(tmp_path: Path) -> None:
    path = tmp_path / "chains.jsonl"
    path.write_text('{"id": "q", "question": "What?", "chains": [["Title 3"]]}\n')
    assert read_retrieved(path, data((0, 1))) == {}
    path.write_text('{"id": "q", "question": "Who?", "chains": [["Title 3"]]}\n')
    assert read_retrieved(path, data((0, 1))) == {0: ((3,),)}


def test_of_two_paragraphs_with_one_title_the_question_s_own_is_meant(tmp_path: Path) -> None:
    twins = (Paragraph("a", "Same", ("One.",)), Paragraph("b", "Same", ("Two.",)))
    question = TrainingQuestion("q", "Who?", "hotpotqa", (1,), (), is_ordered=False)
    path = tmp_path / "chains.jsonl"
    path.write_text('{"id": "q", "chains": [["Same"]]}\n')
    assert read_retrieved(path, TrainingData((question,), twins)) == {0: ((1,),)}


@pytest.mark.parametrize(
    "line", ["nonsense", "[1]", "[" * 99_999, '{"id": "q"}', '{"id": "q", "chains": 3}']
)
def test_a_line_that_holds_no_chains_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "chains.jsonl"
    path.write_text(f'{{"id": "q", "chains": []}}\n{line}\n')
    with pytest.raises(ConfigError, match=r"chains\.jsonl:2 holds no retrieved chains"):
        read_retrieved(path, data((0, 1)))
