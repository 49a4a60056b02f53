"""Answers of all chains: kind, verdict, merging, support, the source's characters (27)."""

from dataclasses import replace

import numpy as np
import pytest

from muppet.config import ReadConfig
from muppet.domain import Answer, Paragraph, SentenceRef, Span
from muppet.read.answers import ChainLogits, ChainRead, choose_answers
from muppet.text.layout import reading_apart
from muppet.text.prepare import Preparer
from muppet.text.vocab import Alphabet, Lexicon

OSLO = Paragraph(
    "n1#2", "Norway", ("Oslo  is its\ncapital.", " It lies  in the\tSouth."), start=100
)
BERGEN = Paragraph("b", "Bergen", ("Bergen is not the OSLO.",))
CONFIG = ReadConfig(  # the paper's
    longest=8, brevity=(0.0,), merge="best", support=0.5, support_each=False
)


def read(
    paragraphs: tuple[Paragraph, ...],
    spans: dict[str, float],
    *,
    kind: tuple[float, float] = (5.0, 0.0),
    verdict: tuple[float, float] = (0.0, 0.0),
    support: dict[int, float] | None = None,
) -> ChainRead:
    """What a reader might say that likes these spans, the words of them, so much."""
    ready = Preparer(Lexicon(Alphabet(""), lambda _: -1), None, max_tokens=50, with_title=True)
    reading = reading_apart(ready.question("Which?"), [ready.paragraph(one) for one in paragraphs])
    words = [word for text in reading.chain for word in text.tokens.words()]
    start, end = np.full(len(words), -9.0), np.full(len(words), -9.0)
    for span, liking in spans.items():
        first, *_, last = [*span.split(), *span.split()]
        begins = next(
            place for place in range(len(words))
            if words[place : place + len(span.split())] == span.split()
        )  # fmt: skip
        assert (words[begins], words[begins + len(span.split()) - 1]) == (first, last)
        start[begins] = end[begins + len(span.split()) - 1] = liking / 2
    sentences = np.full(len(reading.layout.present), -3.0)
    for number, logit in (support or {}).items():
        sentences[number] = logit
    logits = ChainLogits(start, end, np.array(kind), np.array(verdict), sentences)
    return ChainRead(paragraphs, reading, logits)


def best(*chains: ChainRead, config: ReadConfig = CONFIG) -> Answer:
    return choose_answers(chains, config)[0]


@pytest.mark.parametrize(
    ("brevity", "paragraphs", "said"),
    [
        ((0.0, 0.5), (OSLO,), "its\ncapital"),
        ((0.0, 0.5), (BERGEN, OSLO), "capital"),
        ((0.0, 0.5), (BERGEN, BERGEN, OSLO), "capital"),
        ((0.5,), (OSLO,), "capital"),
    ],
)
def test_long_answers_lose_by_the_length_of_their_chain(
    brevity: tuple[float, ...], paragraphs: tuple[Paragraph, ...], said: str
) -> None:
    chain = read(paragraphs, {"its capital": 4.0, "capital": 3.8})
    assert best(chain, config=replace(CONFIG, brevity=brevity)).text == said


def test_an_answer_has_the_source_s_own_characters_and_its_place_in_it_checklist_1() -> None:
    answer = best(read((BERGEN, OSLO), {"its capital": 4.0}))
    assert answer.text == "its\ncapital"
    assert answer.span == Span("n1#2", 9, 20, 109)
    assert OSLO.text[answer.span.start : answer.span.end] == answer.text
    assert answer.chain == ("b", "n1#2")
    assert answer.score == 4.0


def test_an_answer_in_a_title_says_so_and_has_no_place_in_the_document() -> None:
    answer = best(read((OSLO,), {"Norway": 4.0}))
    assert answer.text == "Norway"
    assert answer.span == Span("n1#2", 0, 6, None, in_title=True)


def test_a_part_of_a_better_answer_is_no_other_answer() -> None:
    chain = read((OSLO,), {"in the South": 6.0, "South": 5.0, "Oslo": 1.0})
    texts = [one.text for one in choose_answers([chain], replace(CONFIG, answers=3))]
    assert texts[0] == "in the\tSouth"
    assert "South" not in texts and "Oslo" in texts


def test_an_answer_ends_where_its_sentence_ends() -> None:
    read_it = read((OSLO,), {"capital": 2.0, "It": 3.0})
    read_it.logits.start[:] = np.where(read_it.logits.start > 0, [1.0], -9.0)
    assert {one.text for one in choose_answers([read_it], replace(CONFIG, answers=2))} == {
        "capital", "It",
    }  # fmt: skip
    assert "capital. It" not in {one.text for one in choose_answers([read_it], CONFIG)}


def test_the_best_span_of_all_chains_wins_checklist_27() -> None:
    answer = best(read((OSLO,), {"South": 2.0}), read((BERGEN,), {"Bergen is": 6.0}))
    assert (answer.text, answer.chain) == ("Bergen is", ("b",))


def test_support_is_of_the_answer_s_chain_alone_and_from_one_half_on_checklist_27() -> None:
    loser = read((BERGEN,), {"OSLO": 1.0}, support={0: 9.0})
    winner = read((BERGEN, OSLO), {"South": 5.0}, support={1: -0.01, 2: 0.0})
    answer = best(loser, winner)
    assert answer.support == (SentenceRef("n1#2", 1),)
    strict = best(loser, winner, config=replace(CONFIG, support=0.51))
    assert strict.support == ()


def test_every_paragraph_of_the_chain_may_have_its_likeliest_sentence_as_support() -> None:
    chain = read((BERGEN, OSLO), {"South": 5.0}, support={0: -5.0, 1: -4.0, 2: -3.0})
    config = replace(CONFIG, support_each=True)
    assert best(chain, config=config).support == (SentenceRef("b", 0), SentenceRef("n1#2", 1))
    empty = read((Paragraph("e", "", ("",)), BERGEN), {"Bergen": 1.0}, support={0: -9.0, 1: -9.0})
    assert {one.paragraph for one in best(empty, config=config).support} == {"b"}


def test_the_kind_is_decided_over_all_chains_checklist_27() -> None:
    spans = read((OSLO,), {"South": 5.0}, kind=(1.0, 0.0), verdict=(0.0, 1.0))
    verdicts = read((BERGEN,), {}, kind=(0.0, 2.0), verdict=(3.0, 0.0), support={0: 1.0})
    assert best(spans).kind == "span"
    answer = best(spans, verdicts)
    assert (answer.text, answer.kind, answer.chain, answer.span) == ("yes", "yes", ("b",), None)
    assert answer.support == (SentenceRef("b", 0),)
    other = choose_answers([spans, verdicts], CONFIG)
    assert [one.text for one in other[:3]] == ["yes", "no", "South"]


def test_merged_by_sum_the_kind_is_that_of_all_chains_together() -> None:
    one = read((OSLO,), {"South": 5.0}, kind=(3.0, 2.9))
    other = read((BERGEN,), {}, kind=(0.0, 2.9), verdict=(1.0, 0.0))
    assert best(one, other).text == "South"
    summed = choose_answers([one, other], replace(CONFIG, merge="sum"))
    assert summed[0].text == "yes"
    assert summed[0].probability + summed[1].probability > 0.5


def test_a_reader_without_heads_never_says_yes_or_no_checklist_28() -> None:
    never = (0.0, -1e4)
    few = read((Paragraph("w", "", ("Oslo",)),), {"Oslo": 1.0}, kind=never)
    assert [one.text for one in choose_answers([few], CONFIG)] == ["Oslo"]
    assert choose_answers([read((Paragraph("e", "", ("",)),), {}, kind=never)], CONFIG) == []


@pytest.mark.parametrize("merge", ["best", "sum"])
def test_equal_answers_of_different_chains_are_one_checklist_29(merge: str) -> None:
    config = replace(CONFIG, merge=merge)
    chains = [read((OSLO,), {"Oslo": 5.0}), read((BERGEN,), {"the OSLO": 6.0})]
    answers = choose_answers(chains, config)
    assert answers[0].text == "the OSLO"
    assert sum(one.text.lower().removeprefix("the ") == "oslo" for one in answers) == 1
    assert answers[0].score == 6.0


def test_merged_by_sum_an_answer_found_twice_may_beat_the_best_one() -> None:
    chains = [
        read((OSLO,), {"Oslo": 6.0, "South": 6.5}),
        read((BERGEN,), {"OSLO": 6.0}),
    ]
    assert best(*chains).text == "South"
    summed = best(*chains, config=replace(CONFIG, merge="sum"))
    assert summed.text.lower() == "oslo"
    assert summed.probability > best(*chains).probability


@pytest.mark.parametrize("merge", ["best", "sum"])
def test_probabilities_are_of_one_softmax_over_the_spans_of_all_chains_checklist_24(
    merge: str,
) -> None:
    one = read((OSLO,), {"South": 4.0}, kind=(1.0, 0.0))
    two = read((BERGEN,), {"Bergen is": 2.0}, kind=(1.0, 0.0))
    config = replace(CONFIG, merge=merge, answers=200, longest=50)
    answers = choose_answers([one, two], config)
    assert all(0 <= answer.probability <= 1 for answer in answers)
    assert sum(answer.probability for answer in answers) <= 1 + 1e-9
    total = sum(all_spans_of(chain) for chain in (one, two))
    span = np.exp(1.0) / (np.exp(1.0) + np.exp(0.0))
    expected = np.exp(4.0) / total * span
    assert answers[0].text == "South"
    assert answers[0].probability == pytest.approx(expected, rel=1e-4)


def all_spans_of(chain: ChainRead) -> float:
    """What all spans of a chain have together: none goes beyond its region or its sentence."""
    start, end, layout = chain.logits.start, chain.logits.end, chain.reading.layout
    return sum(
        float(np.exp(start[first] + end[last]))
        for last in range(len(end))
        for first in range(last + 1)
        if layout.regions[first] == layout.regions[last] >= 0
        and layout.segments[first] == layout.segments[last]
    )


def test_what_a_long_answer_loses_the_others_win() -> None:
    chain = read((BERGEN, OSLO), {"its capital": 4.0, "South": 4.0})
    alike = choose_answers([chain], CONFIG)[:2]
    assert alike[0].probability == pytest.approx(alike[1].probability)
    short, long = choose_answers([chain], replace(CONFIG, brevity=(0.0, 1.0)))[:2]
    assert (short.text, long.text) == ("South", "its\ncapital")
    assert short.probability / long.probability == pytest.approx(np.e)


def test_more_chains_that_say_nothing_change_no_answer_but_its_probability() -> None:
    one, other = read((OSLO,), {"South": 4.0}), read((BERGEN,), {})
    alone, together = best(one), best(one, other)
    assert replace(together, probability=alone.probability) == alone
    assert together.probability < alone.probability


def test_so_many_answers_are_given_best_first() -> None:
    answers = choose_answers([read((OSLO, BERGEN), {"South": 4.0, "Bergen is": 3.0})], CONFIG)
    assert len(answers) == CONFIG.answers
    assert [one.text for one in answers[:2]] == ["South", "Bergen is"]
    assert all(one.kind == "span" for one in answers)
    assert [one.score for one in answers] == sorted((one.score for one in answers), reverse=True)


def test_where_nothing_was_read_there_is_no_answer() -> None:
    assert choose_answers([], CONFIG) == []
    empty = read((Paragraph("e", "", ("",)),), {})
    assert [one.kind for one in choose_answers([empty], CONFIG)] == ["yes", "no"]
