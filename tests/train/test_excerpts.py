"""Excerpts around the answers of one-hop questions."""

from dataclasses import replace

import numpy as np
import pytest

from muppet.domain import Paragraph
from muppet.text.tokens import words
from muppet.train.examples import TrainingData, TrainingQuestion
from muppet.train.excerpts import Length, with_excerpts, wrong_excerpts

LIGHT = Paragraph(
    "light",
    "Skerry Light",
    (
        "The island has seals.",
        " A storm of 1871 drowned nine men.",
        " Skerry Light was first lit in 1871.",
        " Its lens is of cut glass.",
        " Boats come in summer.",
    ),
)
ASKED = TrainingQuestion(
    "q", "When was Skerry Light first lit?", "squad", (0,), (), is_ordered=False, answers=("1871",)
)


def cut(question: TrainingQuestion, longest: int, seed: int = 0) -> tuple[str, ...]:
    data = with_excerpts(TrainingData((question,), (LIGHT,)), Length(longest), seed, {0})
    (row,) = data.questions[0].gold
    return data.paragraphs[row].sentences


def test_of_the_sentences_with_the_answer_the_one_like_the_question_is_kept() -> None:
    assert cut(ASKED, 1) == (" Skerry Light was first lit in 1871.",)


@pytest.mark.parametrize("longest", [16, 18, 22])
def test_neighbours_come_along_while_they_fit(longest: int) -> None:
    kept = {cut(ASKED, longest, seed) for seed in range(20)}
    for sentences in kept:
        assert " Skerry Light was first lit in 1871." in sentences
        assert "".join(sentences) in LIGHT.text  # side by side, in their order
        assert sum(len(words(one)) for one in sentences) <= longest
    assert len(kept) > 1  # now from before, now from behind
    assert all(len(sentences) > 1 for sentences in kept)


def test_what_fits_whole_stays_whole_and_so_does_what_no_sentence_answers() -> None:
    assert cut(ASKED, 99) == LIGHT.sentences
    across = replace(ASKED, answers=("men. Skerry Light",))
    assert cut(across, 10) == LIGHT.sentences


def test_questions_of_more_hops_and_marked_support_keep_their_paragraphs() -> None:
    two = replace(ASKED, gold=(0, 1))
    marked = replace(ASKED, support=((0, 2),))
    other = replace(LIGHT, id="other")
    data = with_excerpts(TrainingData((two, marked), (LIGHT, other)), Length(5), 0, {0, 1})
    assert data == TrainingData((two, marked), (LIGHT, other))


def test_questions_of_yes_or_no_keep_their_paragraphs_though_a_sentence_says_no() -> None:
    no = replace(LIGHT, sentences=(*LIGHT.sentences, " There is no bell."))
    asked = replace(ASKED, text="Is there a bell?", dataset="boolq", answers=("no",))
    data = with_excerpts(TrainingData((asked,), (no,)), Length(5), 0, {0})
    assert data == TrainingData((asked,), (no,))


def test_only_what_is_wanted_is_cut() -> None:
    data = with_excerpts(TrainingData((ASKED, ASKED), (LIGHT,)), Length(1), 0, {1})
    assert data.questions[0] == ASKED
    (row,) = data.questions[1].gold
    assert data.paragraphs[row].sentences == (" Skerry Light was first lit in 1871.",)


HARBOUR = Paragraph(
    "harbour",
    "Skerry Harbour",
    (
        "The harbour has a mole.",
        " Its light was first seen in 1902.",
        " Nets are mended there.",
    ),
)
TWIN = replace(LIGHT, id="twin", title="Skerry")


def test_wrong_paragraphs_are_cut_around_the_sentence_most_like_the_question() -> None:
    world = TrainingData((ASKED,), (LIGHT, HARBOUR))
    data, found = wrong_excerpts(world, {0: ((0,), (1,))}, Length(8), seed=0)
    ((row,),) = found[0]  # gold is no wrong paragraph
    assert data.paragraphs[row].sentences == (" Its light was first seen in 1902.",)
    assert data.paragraphs[:2] == world.paragraphs
    assert data.questions == world.questions


def test_what_answers_too_is_no_wrong_excerpt() -> None:
    world = TrainingData((ASKED,), (LIGHT, HARBOUR, TWIN))
    _, found = wrong_excerpts(world, {0: ((2,),)}, Length(8), seed=0)
    assert found == {0: ()}


def test_chains_of_questions_of_more_hops_stay_whole() -> None:
    world = TrainingData((replace(ASKED, gold=(0, 1)),), (LIGHT, HARBOUR, TWIN))
    chains = {0: ((1, 2), (0, 2))}
    assert wrong_excerpts(world, chains, Length(8), seed=0) == (world, chains)


def test_excerpts_have_one_length_or_as_many_short_as_long_ones() -> None:
    rng = np.random.default_rng(0)
    assert {Length(64).draw(rng) for _ in range(9)} == {64}
    drawn = [Length(160, 40).draw(rng) for _ in range(2000)]
    assert (min(drawn), max(drawn)) == (40, 160)
    assert 0.46 < sum(one < 80 for one in drawn) / 2000 < 0.54


def test_excerpts_of_many_lengths_hold_the_answer_whatever_their_length() -> None:
    asked = tuple(replace(ASKED, id=f"q{n}") for n in range(30))
    data = with_excerpts(TrainingData(asked, (LIGHT,)), Length(26, 7), 0, range(30))
    kept = [data.paragraphs[row].sentences for one in data.questions for row in one.gold]
    assert all(" Skerry Light was first lit in 1871." in one for one in kept)
    assert {len(one) for one in kept} >= {1, 2, 3}
