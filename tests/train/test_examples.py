"""Which chains are drawn how often, and what is right about them (checklist 17, 18, 34)."""

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from muppet.domain import Paragraph
from muppet.errors import QuestionError
from muppet.train.examples import (
    ChainSample,
    TrainingData,
    TrainingQuestion,
    chain_samples,
    hotpot_samples,
    questions_of_one_hop,
    random_paragraph,
    sibling_samples,
    squad_samples,
)

CALLS = 50_000  # two wrong chains each: 100,000 draws
SIGMAS = 4.5

GOLD = (3, 7)
DISTRACTORS = tuple(range(10, 18))
OTHER_GOLD = (20, 21)
MANY = 20_000  # so many paragraphs that a random one is hardly ever a distractor


def paragraphs(count: int, words: int = 5) -> tuple[Paragraph, ...]:
    return tuple(Paragraph(f"T{n}", f"T{n}", ("word " * words,)) for n in range(count))


def question(
    gold: tuple[int, ...],
    distractors: tuple[int, ...] = DISTRACTORS,
    *,
    is_ordered: bool = False,
    dataset: str = "hotpotqa",
) -> TrainingQuestion:
    return TrainingQuestion("q", "Who?", dataset, gold, distractors, is_ordered)


def world(*questions: TrainingQuestion, count: int = MANY) -> TrainingData:
    return TrainingData(questions, paragraphs(count))


PAIRS = world(question(GOLD), question(OTHER_GOLD))


def is_near(found: int, total: int, probability: float) -> bool:
    """Within 4.5 standard deviations of a binomial: wrong once in 150,000 times."""
    deviation = math.sqrt(total * probability * (1 - probability))
    return abs(found - total * probability) <= SIGMAS * deviation


def source(row: int) -> str:
    if row in GOLD:
        return "gold"
    return "distractor" if row in DISTRACTORS else "random"


def kind(sample: ChainSample) -> str:
    first, second = sample.paragraphs
    if sample.paragraphs == OTHER_GOLD:
        return "another question"
    if first in GOLD:
        return "second wrong"
    return "first wrong" if second in GOLD else "both wrong"


@pytest.fixture(scope="module")
def wrong() -> list[ChainSample]:
    """The two wrong samples of each call."""
    rng = np.random.default_rng(17)
    return [
        sample for _ in range(CALLS) for sample in hotpot_samples(0, PAIRS, rng, flipped=False)[1:]
    ]


def test_the_four_wrong_types_come_with_the_papers_probabilities_checklist_17(
    wrong: list[ChainSample],
) -> None:
    counts = Counter(map(kind, wrong))
    assert is_near(counts["second wrong"], len(wrong), 0.35)
    assert is_near(counts["first wrong"], len(wrong), 0.35)
    assert is_near(counts["both wrong"], len(wrong), 0.25)
    assert is_near(counts["another question"], len(wrong), 0.05)
    assert counts.total() == 2 * CALLS


def test_a_wrong_second_paragraph_is_random_the_first_or_a_distractor_checklist_17(
    wrong: list[ChainSample],
) -> None:
    pairs = [one.paragraphs for one in wrong if kind(one) == "second wrong"]
    counts = Counter("same" if first == second else source(second) for first, second in pairs)
    assert is_near(counts["random"], len(pairs), 0.05)
    assert is_near(counts["same"], len(pairs), 0.10)
    assert is_near(counts["distractor"], len(pairs), 0.85)
    assert counts["gold"] == 0


def test_a_wrong_first_paragraph_is_a_distractor_or_random_checklist_17(
    wrong: list[ChainSample],
) -> None:
    firsts = [one.paragraphs[0] for one in wrong if kind(one) == "first wrong"]
    counts = Counter(map(source, firsts))
    assert is_near(counts["distractor"], len(firsts), 0.9)
    assert is_near(counts["random"], len(firsts), 0.1)


def test_either_gold_paragraph_stands_beside_a_wrong_one_and_each_distractor_is_as_likely(
    wrong: list[ChainSample],
) -> None:
    before = [one.paragraphs[0] for one in wrong if kind(one) == "second wrong"]
    behind = [one.paragraphs[1] for one in wrong if kind(one) == "first wrong"]
    assert is_near(before.count(GOLD[0]), len(before), 0.5)
    assert is_near(behind.count(GOLD[0]), len(behind), 0.5)
    both = [one.paragraphs for one in wrong if kind(one) == "both wrong"]
    firsts = Counter(first for first, _ in both)
    assert all(is_near(firsts[row], len(both), 1 / len(DISTRACTORS)) for row in DISTRACTORS)
    assert all(first != second and source(second) == "distractor" for first, second in both)


def test_a_pair_is_relevant_up_to_its_first_wrong_paragraph_checklist_17(
    wrong: list[ChainSample],
) -> None:
    labels = {kind(one): set[tuple[bool, ...]]() for one in wrong}
    for one in wrong:
        labels[kind(one)].add(one.relevant)
        assert one.complete == (False, False)
    assert labels == {
        "second wrong": {(True, False)},
        "first wrong": {(False, False)},
        "both wrong": {(False, False)},
        "another question": {(False, False)},
    }


def test_the_gold_pair_comes_first_and_is_complete_behind_its_second_hop_checklist_17() -> None:
    first, *_ = hotpot_samples(0, PAIRS, np.random.default_rng(0), flipped=False)
    assert first == ChainSample(0, GOLD, (True, True), (False, True))


def test_the_gold_pair_is_turned_round_when_flipped_checklist_17() -> None:
    first, *_ = hotpot_samples(0, PAIRS, np.random.default_rng(0), flipped=True)
    assert first == ChainSample(0, GOLD[::-1], (True, True), (False, True))


def test_gold_with_an_order_is_never_turned_round() -> None:
    ordered = world(question(GOLD, is_ordered=True), question(OTHER_GOLD), count=40)
    rng = np.random.default_rng(0)
    for sample in (
        one for n in range(300) for one in hotpot_samples(0, ordered, rng, flipped=n % 2 == 1)
    ):
        assert sample.paragraphs[0] != GOLD[1]
        assert sample.paragraphs[1] != GOLD[0] or sample.paragraphs[0] == GOLD[0]


def test_no_gold_paragraph_is_ever_called_wrong_where_it_stands_first() -> None:
    shares_one, single = question((GOLD[0], 25)), question((GOLD[1],))
    data = world(question(GOLD), question(OTHER_GOLD), shares_one, single, count=40)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        for one in hotpot_samples(0, data, rng, flipped=False):
            assert one.relevant[0] == (one.paragraphs[0] in GOLD)


@pytest.fixture(scope="module")
def singles() -> list[list[ChainSample]]:
    data = world(question((0,), dataset="squad"), count=40)
    rng = np.random.default_rng(18)
    return [squad_samples(0, data, range(1, 13), rng) for _ in range(CALLS)]


def test_a_single_hop_question_has_one_positive_and_three_negatives_checklist_18(
    singles: list[list[ChainSample]],
) -> None:
    for first, *rest in singles[:1000]:
        assert first == ChainSample(0, (0,), (True,), (True,))
        assert len({one.paragraphs for one in rest}) == len(rest) == 3
        assert all((one.relevant, one.complete) == ((False,), (False,)) for one in rest)


def test_every_negative_of_the_twelve_is_drawn_in_a_quarter_of_the_epochs_checklist_18(
    singles: list[list[ChainSample]],
) -> None:
    counts = Counter(one.paragraphs[0] for _, *rest in singles for one in rest)
    assert set(counts) == set(range(1, 13))
    assert all(is_near(count, CALLS, 3 / 12) for count in counts.values())


def test_too_few_negatives_are_filled_up_with_random_paragraphs_but_never_gold() -> None:
    data = world(question((2,), (), dataset="squad"), count=5)
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows = [one.paragraphs[0] for one in squad_samples(0, data, (4,), rng)]
        assert rows[0] == 2
        assert 4 in rows[1:]
        assert len(set(rows)) == 4


def test_siblings_are_asked_of_each_paragraph_and_have_the_others_as_negatives() -> None:
    rows = (0, 0, 0, 1, 1, 2, 9)  # of whose paragraphs the questions are; the third has none
    data = world(*(question((row,), dataset="squad") for row in rows), count=10)
    asked_of = questions_of_one_hop(data)
    assert asked_of == {0: [0, 1, 2], 1: [3, 4], 2: [5], 9: [6]}
    rng = np.random.default_rng(0)
    brought: set[int] = set()
    for _ in range(100):
        samples = sibling_samples(0, data, (1, 2, 3), asked_of, 2, rng)
        numbers = Counter(sample.question for sample in samples)
        assert {0, 3, 4, 5} <= set(numbers) <= {0, 1, 2, 3, 4, 5}
        brought |= set(numbers)
        assert numbers.pop(0) == 4  # its own paragraph and all three others
        assert all(count == 2 for count in numbers.values())  # one right, one wrong
        for sample in samples:
            (row,) = sample.paragraphs
            assert row in (0, 1, 2, 3)
            assert sample.judged == (sample.question == 0)
            assert sample.relevant == sample.complete == ((row,) == (rows[sample.question],),)
    assert brought == {0, 1, 2, 3, 4, 5}


def test_a_question_without_distractors_gets_random_paragraphs_but_never_gold() -> None:
    data = world(question(GOLD, ()), count=10)
    rng = np.random.default_rng(0)
    for _ in range(500):
        for sample in hotpot_samples(0, data, rng, flipped=False)[1:]:
            assert sum(row in GOLD for row in dict.fromkeys(sample.paragraphs)) <= 1


def test_a_random_paragraph_is_any_but_the_excluded_ones_and_each_as_likely() -> None:
    data = world(count=6)
    rng = np.random.default_rng(0)
    counts = Counter(random_paragraph(data, (5, 0, 2, 2), rng) for _ in range(30_000))
    assert set(counts) == {1, 3, 4}
    assert all(is_near(count, 30_000, 1 / 3) for count in counts.values())


def test_too_few_paragraphs_to_draw_from_are_an_error_that_says_so() -> None:
    with pytest.raises(QuestionError, match="too few to tell gold"):
        random_paragraph(world(count=2), (0, 1), np.random.default_rng(0))


LONG = tuple(range(100, 104))
FOUR_HOPS = world(question(LONG, is_ordered=True))


@pytest.fixture(scope="module")
def corrupted() -> list[ChainSample]:
    """The wrong chains of an ordered question of four hops."""
    rng = np.random.default_rng(34)
    return [
        sample
        for _ in range(CALLS)
        for sample in chain_samples(0, FOUR_HOPS, rng, flipped=True)[1:]
    ]


def test_a_chain_goes_wrong_at_each_hop_as_often_checklist_34(corrupted: list[ChainSample]) -> None:
    counts = Counter(sum(one.relevant) for one in corrupted)
    assert all(is_near(counts[hop], len(corrupted), 0.25) for hop in range(4))


def test_what_is_before_the_wrong_paragraph_is_gold_and_relevant_and_nothing_else_is(
    corrupted: list[ChainSample],
) -> None:
    for one in corrupted:
        right = sum(one.relevant)
        assert one.relevant == tuple(hop < right for hop in range(4))
        assert one.paragraphs[:right] == LONG[:right]
        wrong = one.paragraphs[right]
        assert wrong not in LONG or wrong in LONG[:right]
        assert one.complete == (False,) * 4


def test_a_wrong_later_hop_is_a_distractor_random_or_a_repetition_checklist_34(
    corrupted: list[ChainSample],
) -> None:
    later = [one for one in corrupted if one.relevant[0]]
    counts = Counter(
        "repeated" if row in LONG else source(row)
        for row in (one.paragraphs[sum(one.relevant)] for one in later)
    )
    assert is_near(counts["distractor"], len(later), 0.85)
    assert is_near(counts["random"], len(later), 0.05)
    assert is_near(counts["repeated"], len(later), 0.10)


def test_a_wrong_first_hop_has_nothing_to_repeat_and_is_drawn_as_in_pairs_checklist_17(
    corrupted: list[ChainSample],
) -> None:
    firsts = [one.paragraphs[0] for one in corrupted if not one.relevant[0]]
    assert is_near(sum(row in DISTRACTORS for row in firsts), len(firsts), 0.9)


def test_half_of_the_chains_go_on_with_gold_and_half_with_distractors_checklist_34(
    corrupted: list[ChainSample],
) -> None:
    unfinished = [one for one in corrupted if sum(one.relevant) < 3]
    tails = [
        (one.paragraphs[hop:], LONG[hop:]) for one in unfinished for hop in [sum(one.relevant) + 1]
    ]
    with_gold = sum(tail == gold for tail, gold in tails)
    assert is_near(with_gold, len(tails), 0.5)
    assert all(set(tail) <= {*DISTRACTORS} for tail, gold in tails if tail != gold)


@pytest.mark.parametrize("hops", [2, 3, 4])
def test_the_gold_chain_is_complete_only_behind_its_last_hop_checklist_34(hops: int) -> None:
    data = world(question(LONG[:hops], is_ordered=True), count=200)
    first, *rest = chain_samples(0, data, np.random.default_rng(0), flipped=True)
    assert first == ChainSample(0, LONG[:hops], (True,) * hops, (*(False,) * (hops - 1), True))
    assert [len(one.paragraphs) for one in rest] == [hops, hops]


def test_a_chain_of_four_in_any_order_is_turned_round_when_flipped() -> None:
    data = world(question(LONG), count=200)
    first, *_ = chain_samples(0, data, np.random.default_rng(0), flipped=True)
    assert first.paragraphs == LONG[::-1]


@pytest.mark.parametrize("flipped", [False, True])
def test_pairs_in_any_order_and_single_hops_are_sampled_as_the_paper_does(flipped: bool) -> None:
    data = world(question(GOLD), question(OTHER_GOLD), question((30,)), count=60)
    for seed in range(50):
        ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
        assert chain_samples(0, data, ours, flipped=flipped) == hotpot_samples(
            0, data, theirs, flipped=flipped
        )
        assert chain_samples(2, data, ours, flipped=flipped) == squad_samples(
            2, data, DISTRACTORS, theirs
        )


SAMPLERS: list[Callable[[np.random.Generator], list[ChainSample]]] = [
    lambda rng: hotpot_samples(0, PAIRS, rng, flipped=False),
    lambda rng: squad_samples(0, PAIRS, range(30, 42), rng),
    lambda rng: chain_samples(0, FOUR_HOPS, rng, flipped=False),
]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=["hotpot", "squad", "chain"])
def test_one_seed_gives_one_run_of_samples(
    sampler: Callable[[np.random.Generator], list[ChainSample]],
) -> None:
    def run(seed: int) -> list[list[ChainSample]]:
        rng = np.random.default_rng(seed)
        return [sampler(rng) for _ in range(20)]

    assert run(5) == run(5)
    assert run(5) != run(6)


def test_wrong_chains_may_be_more_or_fewer_than_the_paper_s_two() -> None:
    for wrong in (0, 1, 5):
        rng = np.random.default_rng(0)
        samples = chain_samples(0, FOUR_HOPS, rng, flipped=False, wrong_chains=wrong)
        assert len(samples) == 1 + wrong
        assert samples[0].complete[-1] and not any(one.complete[-1] for one in samples[1:])
