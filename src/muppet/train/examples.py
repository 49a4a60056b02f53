"""Gold → training samples: which chains the encoder sees, and what is right about each hop.

Every sampler gives one right chain and a few wrong ones of one question (checklist 17, 18, 34).
All chance comes from the `rng` that is passed in: one seed, one epoch.
"""

import bisect
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from muppet.domain import Paragraph
from muppet.errors import ConfigError, QuestionError

# What a wrong chain of two hops is: the paper's sample types 2 to 5 (checklist 17).
SECOND_WRONG, FIRST_WRONG, BOTH_WRONG, OF_ANOTHER_QUESTION = range(4)
TYPES = (0.35, 0.35, 0.25, 0.05)
WRONG_PER_QUESTION = 2
"""Wrong chains for each right one (checklist 17)."""

# Where a wrong paragraph comes from, behind a right one and as the first of its chain.
DISTRACTOR, RANDOM, REPEATED = range(3)
WRONG_LATER = (0.85, 0.05, 0.10)
WRONG_FIRST = (0.90, 0.10)

GOLD_AFTER_WRONG = 0.5
"""More than two hops: how often the chain goes on with gold behind its wrong paragraph."""

NEGATIVES_PER_QUESTION = 3
"""One hop: irrelevant paragraphs an epoch (checklist 18)."""

POOL_BATCHES = 50
"""Questions for so many batches are drawn at random and then sorted by length."""

_TRIES = 500


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """A question with its gold and its distractors, as rows of `TrainingData.paragraphs`.

    `gold` is in hop order; where `is_ordered` is false any order of it is right (HotpotQA).
    `answers` and `support`, sentences as (row, number), are what the reader learns; some
    benchmarks mark no support.
    """

    id: str
    text: str
    dataset: str
    gold: tuple[int, ...]
    distractors: tuple[int, ...]
    is_ordered: bool
    answers: tuple[str, ...] = ()
    support: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Questions, and the paragraphs that all of them share, each once."""

    questions: tuple[TrainingQuestion, ...]
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True, slots=True)
class ChainSample:
    """A question with one paragraph per hop, and what is right about it.

    `relevant[h]`: the paragraphs up to hop h are all gold and distinct, so hop h was right.
    `complete[h]`: after hop h the whole evidence is there (what the stop head learns).
    `judged`: the stop head may be shown the whole chain beside the others of its question.
    """

    question: int
    paragraphs: tuple[int, ...]
    relevant: tuple[bool, ...]
    complete: tuple[bool, ...]
    judged: bool = True


def chain_samples(
    number: int,
    data: TrainingData,
    rng: np.random.Generator,
    *,
    flipped: bool,
    wrong_chains: int = WRONG_PER_QUESTION,
) -> list[ChainSample]:
    """Samples of a question of any number of hops, for joint training (checklist 34).

    One hop: as SQuAD's, the negatives being its distractors. Two hops in any order: HotpotQA's.
    Otherwise the gold chain, and two that go wrong at a hop each hop is as likely to be.
    """
    question = data.questions[number]
    if len(question.gold) == 1:
        return squad_samples(number, data, question.distractors, rng)
    if len(question.gold) == 2 and not question.is_ordered:
        return hotpot_samples(number, data, rng, flipped=flipped, wrong_chains=wrong_chains)
    wrong = [_going_wrong(number, data, rng) for _ in range(wrong_chains)]
    return [_gold_sample(number, question, flipped=flipped), *wrong]


def hotpot_samples(
    number: int,
    data: TrainingData,
    rng: np.random.Generator,
    *,
    flipped: bool,
    wrong_chains: int = WRONG_PER_QUESTION,
) -> list[ChainSample]:
    """The gold pair and some wrong pairs (checklist 17); `flipped` alternates from epoch to epoch.

    A question whose gold has an order keeps it.
    """
    question = data.questions[number]
    makers = {
        SECOND_WRONG: _second_wrong,
        FIRST_WRONG: _first_wrong,
        BOTH_WRONG: _both_wrong,
        OF_ANOTHER_QUESTION: _of_another_question,
    }
    samples = [_gold_sample(number, question, flipped=flipped)]
    for _ in range(wrong_chains):
        pair, right_hops = makers[_draw(TYPES, rng)](number, data, rng)
        samples.append(_wrong_sample(number, pair, right_hops))
    return samples


def squad_samples(
    number: int, data: TrainingData, negatives: Sequence[int], rng: np.random.Generator
) -> list[ChainSample]:
    """The question's own paragraph and three of its negatives, one hop each (checklist 18)."""
    question = data.questions[number]
    drawn = several(NEGATIVES_PER_QUESTION, negatives, question.gold, data, rng)
    return [
        ChainSample(number, question.gold, relevant=(True,), complete=(True,)),
        *(_wrong_sample(number, (row,), right_hops=0) for row in drawn),
    ]


def sibling_samples(
    number: int,
    data: TrainingData,
    negatives: Sequence[int],
    asked_of: Mapping[int, Sequence[int]],
    siblings: int,
    rng: np.random.Generator,
) -> list[ChainSample]:
    """The same four paragraphs, and up to so many questions of each of them, not in the paper.

    A paragraph takes long to read and a question does not: each question has the others'
    paragraphs, near to its own, as negatives. `asked_of` are the questions of a row. To read a
    question beside a paragraph is dear as well: the chains of siblings are not judged.
    """
    samples = squad_samples(number, data, negatives, rng)
    rows = [row for sample in samples for row in sample.paragraphs]
    numbers: set[int] = set()
    for row in rows:
        numbers |= set(rng.permutation(asked_of.get(row, ()))[:siblings].tolist())
    for one in sorted(numbers - {number}):
        gold = data.questions[one].gold
        others = [row for row in rows if row not in gold]
        wrong = others[rng.integers(len(others))]
        both = [
            ChainSample(one, gold, relevant=(True,), complete=(True,)),
            _wrong_sample(one, (wrong,), right_hops=0),
        ]
        samples += [replace(sample, judged=False) for sample in both]
    return samples


def questions_of_one_hop(data: TrainingData) -> dict[int, list[int]]:
    """The questions whose only evidence a paragraph is, by its row."""
    found: dict[int, list[int]] = {}
    for number, question in enumerate(data.questions):
        if len(question.gold) == 1:
            found.setdefault(question.gold[0], []).append(number)
    return found


def random_paragraph(
    data: TrainingData, excluded: Collection[int], rng: np.random.Generator
) -> int:
    """Any paragraph but the excluded ones, each as likely as another."""
    skipped = sorted(set(excluded))
    others = len(data.paragraphs) - len(skipped)
    if others < 1:
        raise QuestionError(
            f"The training files hold {len(data.paragraphs)} paragraphs, too few to tell gold "
            "from anything else. Give more files, or files with distractors."
        )
    row = int(rng.integers(others))
    for taken in skipped:
        row += row >= taken  # the rows behind it move up by one
    return row


def draw_epoch(
    data: TrainingData,
    weights: Mapping[str, float],
    rng: np.random.Generator,
    questions_per_batch: int,
    pool_batches: int = POOL_BATCHES,
) -> list[tuple[int, ...]]:
    """Batches of question numbers: similar lengths in a batch, otherwise in random order.

    Similar among those of so many batches; of one, all lengths meet in a batch.
    A dataset of weight 1 gives each question once, of weight 0.5 a random half of them, of
    weight 2 each twice, but never twice in one batch.
    """
    _require_weights(data, weights)
    numbers = _numbers_by_dataset(data)
    rounds = max([math.ceil(weights[dataset]) for dataset in numbers], default=0)
    parts: list[list[int]] = [[] for _ in range(rounds)]
    for dataset, own in numbers.items():
        total = round(weights[dataset] * len(own))
        drawn = np.resize(rng.permutation(own), total)  # over and over in the same order, so
        for part, some in zip(parts, np.array_split(drawn, max(rounds, 1)), strict=False):
            part += some.tolist()  # no question is twice in a part: it has at most len(own)
    batches = [
        batch
        for part in parts
        for batch in _bucketed(part, data, rng, questions_per_batch, pool_batches)
    ]
    return [batches[place] for place in rng.permutation(len(batches)).tolist()]


def _gold_sample(number: int, question: TrainingQuestion, *, flipped: bool) -> ChainSample:
    hops = len(question.gold)
    backwards = flipped and not question.is_ordered
    return ChainSample(
        number,
        question.gold[::-1] if backwards else question.gold,
        relevant=(True,) * hops,
        complete=(*(False,) * (hops - 1), True),
    )


def _wrong_sample(number: int, paragraphs: tuple[int, ...], right_hops: int) -> ChainSample:
    hops = len(paragraphs)
    relevant = tuple(hop < right_hops for hop in range(hops))
    return ChainSample(number, paragraphs, relevant, complete=(False,) * hops)


Wrong = tuple[tuple[int, ...], int]
"""A wrong chain, and how many of its first hops are right."""


def _second_wrong(number: int, data: TrainingData, rng: np.random.Generator) -> Wrong:
    question = data.questions[number]
    first = _gold_in_some_order(question, rng)[0]
    return (first, _wrong_after((first,), question, data, rng)), 1


def _first_wrong(number: int, data: TrainingData, rng: np.random.Generator) -> Wrong:
    question = data.questions[number]
    second = _gold_in_some_order(question, rng)[1]
    return (_wrong_after((), question, data, rng), second), 0


def _both_wrong(number: int, data: TrainingData, rng: np.random.Generator) -> Wrong:
    question = data.questions[number]
    return tuple(several(2, question.distractors, question.gold, data, rng)), 0


def _of_another_question(number: int, data: TrainingData, rng: np.random.Generator) -> Wrong:
    """The gold of a question with as many hops and no gold in common; else random paragraphs."""
    gold = data.questions[number].gold

    def is_another(other: int) -> bool:
        theirs = data.questions[other].gold
        return len(theirs) == len(gold) and set(theirs).isdisjoint(gold)

    for _ in range(_TRIES):  # by luck, before looking at all of them
        other = int(rng.integers(len(data.questions)))
        if is_another(other):
            return data.questions[other].gold, 0
    others = [other for other in range(len(data.questions)) if is_another(other)]
    if others:
        return data.questions[others[rng.integers(len(others))]].gold, 0
    return tuple(several(len(gold), (), gold, data, rng)), 0


def _going_wrong(number: int, data: TrainingData, rng: np.random.Generator) -> ChainSample:
    question = data.questions[number]
    gold = _gold_in_some_order(question, rng)
    hop = int(rng.integers(len(gold)))
    chain = (*gold[:hop], _wrong_after(gold[:hop], question, data, rng))
    left = len(gold) - len(chain)
    if rng.random() < GOLD_AFTER_WRONG:
        chain += gold[hop + 1 :]
    else:
        unused = [row for row in question.distractors if row not in chain]
        chain += tuple(several(left, unused, {*question.gold, *chain}, data, rng))
    return _wrong_sample(number, chain, right_hops=hop)


def _gold_in_some_order(question: TrainingQuestion, rng: np.random.Generator) -> tuple[int, ...]:
    """Forwards, or as often backwards where any order is right."""
    return question.gold if question.is_ordered or rng.random() < 0.5 else question.gold[::-1]


def _wrong_after(
    right: tuple[int, ...], question: TrainingQuestion, data: TrainingData, rng: np.random.Generator
) -> int:
    """A wrong paragraph to follow these right ones; the first hop has none to repeat."""
    source = _draw(WRONG_LATER if right else WRONG_FIRST, rng)
    if source == REPEATED:
        return right[rng.integers(len(right))]
    if source == DISTRACTOR and question.distractors:
        return question.distractors[rng.integers(len(question.distractors))]
    return random_paragraph(data, question.gold, rng)


def several(
    count: int,
    candidates: Sequence[int],
    excluded: Collection[int],
    data: TrainingData,
    rng: np.random.Generator,
) -> list[int]:
    """So many distinct candidates; where they are too few, random paragraphs not excluded."""
    places = rng.permutation(len(candidates))[:count].tolist()
    drawn = [candidates[place] for place in places]
    while len(drawn) < count:
        drawn.append(random_paragraph(data, (*excluded, *drawn), rng))
    return drawn


def _draw(probabilities: Sequence[float], rng: np.random.Generator) -> int:
    """A place in `probabilities`, drawn by them."""
    *bounds, _ = accumulate(probabilities)
    return bisect.bisect(bounds, rng.random())


def _require_weights(data: TrainingData, weights: Mapping[str, float]) -> None:
    for dataset in sorted({question.dataset for question in data.questions}):
        if not weights.get(dataset, -1) >= 0:
            raise ConfigError(
                f"The training files hold questions of {dataset}, which has no weight of 0 or "
                f"more among {dict(weights)}. Give it one; 1 = each question once an epoch."
            )


def _numbers_by_dataset(data: TrainingData) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for number, question in enumerate(data.questions):
        numbers.setdefault(question.dataset, []).append(number)
    return numbers


def _bucketed(
    numbers: list[int],
    data: TrainingData,
    rng: np.random.Generator,
    questions_per_batch: int,
    pool_batches: int,
) -> list[tuple[int, ...]]:
    """Random pools, each sorted by length and cut into batches."""
    shuffled = rng.permutation(numbers).tolist()
    pool_size = pool_batches * questions_per_batch
    pools = (shuffled[first : first + pool_size] for first in range(0, len(shuffled), pool_size))
    ordered = [number for pool in pools for number in sorted(pool, key=lambda n: _length(n, data))]
    return [
        tuple(ordered[first : first + questions_per_batch])
        for first in range(0, len(ordered), questions_per_batch)
    ]


def _length(number: int, data: TrainingData) -> int:
    """About how many tokens a question and its gold have."""
    question = data.questions[number]
    texts = [question.text, *(data.paragraphs[row].text for row in question.gold)]
    return sum(len(text.split()) for text in texts)
