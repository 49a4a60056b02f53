"""Gold → which chains the reader reads of a question: the gold one, and a few wrong ones.

HotpotQA: the gold pair, and pairs of one gold paragraph and one distractor (checklist 26); with
more hops, of some gold and some distractors. SQuAD: its own paragraph, and others of its article
(checklist 28). All chance comes from the `rng` that is passed in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from muppet.domain import Paragraph
from muppet.text.tokens import words
from muppet.train.answers_in_text import answer_places
from muppet.train.examples import TrainingData, TrainingQuestion, several
from muppet.train.retrieved import Retrieved, Rows

WITHOUT_CHOICE = frozenset({"comparisons", "boolq"})
"""What teaches to compare and to say yes or no, and not to choose: it has no wrong chains."""


@dataclass(frozen=True, slots=True)
class ReaderSample:
    """A question, and the rows of the paragraphs that are read with it."""

    question: int
    paragraphs: Rows


@dataclass(frozen=True, slots=True)
class WrongChains:
    """How many wrong chains a question gets, and from where beside its distractors.

    A share of them are chains that were retrieved for it; of the others, a share are of
    `strangers` alone. Questions of one hop get so many `paragraphs` instead, if that is a number,
    but only a share of them get any; `negatives` are those to take in place of its distractors.
    """

    count: int = 2
    paragraphs: int | None = None
    paragraphs_share: float = 1.0
    retrieved: Retrieved | None = None
    retrieved_share: float = 0.0
    strangers: float = 0.0
    negatives: Mapping[int, Rows] | None = None


def reader_samples(
    number: int, data: TrainingData, rng: np.random.Generator, wrong: WrongChains
) -> list[ReaderSample]:
    """The gold chain, and then the wrong ones; where any order is right, in any order."""
    question = data.questions[number]
    is_one_hop = len(question.gold) == 1
    count = wrong.paragraphs if is_one_hop and wrong.paragraphs is not None else wrong.count
    if question.dataset in WITHOUT_CHOICE:
        return [ReaderSample(number, _in_some_order(question.gold, question, rng))]
    if is_one_hop and wrong.paragraphs_share < 1 and rng.random() >= wrong.paragraphs_share:
        count = 0
    found = [
        chain for chain in (wrong.retrieved or {}).get(number, ()) if not is_gold(chain, question)
    ]
    retrieved = sum(rng.random() < wrong.retrieved_share for _ in range(count)) if found else 0
    places = rng.permutation(len(found))[:retrieved].tolist()
    chains = [found[place] for place in places]
    made = count - len(chains)
    if is_one_hop:
        near = (wrong.negatives or {}).get(number, question.distractors)
        chains += [(row,) for row in several(made, near, question.gold, data, rng)]
    else:
        chains += [_with_distractors(question, data, rng, wrong.strangers) for _ in range(made)]
    gold = _in_some_order(question.gold, question, rng)
    return [ReaderSample(number, chain) for chain in (gold, *chains)]


def article_negatives(
    data: TrainingData, negatives: Mapping[int, Rows], *, may_answer: bool = True
) -> dict[int, Rows]:
    """Of the negatives of SQuAD's questions those of their own article, nearest by TF-IDF.

    Unless they `may_answer`, none that holds the answer: excerpts of one paragraph overlap.
    """
    found = {}
    for number, rows in negatives.items():
        question = data.questions[number]
        title = data.paragraphs[question.gold[0]].title
        near = [row for row in rows if data.paragraphs[row].title == title]
        if not may_answer:
            near = [row for row in near if not _answers(data.paragraphs[row], question)]
        found[number] = tuple(near)
    return found


def _answers(paragraph: Paragraph, question: TrainingQuestion) -> bool:
    return bool(answer_places(words(paragraph.text), question.answers))


def _with_distractors(
    question: TrainingQuestion, data: TrainingData, rng: np.random.Generator, strangers: float
) -> Rows:
    """Gold of which one paragraph or more have given way to distractors; seldom all of them."""
    hops = len(question.gold)
    count = hops if rng.random() < strangers else int(rng.integers(1, hops))
    lost = rng.permutation(hops)[:count].tolist()
    instead = several(len(lost), question.distractors, question.gold, data, rng)
    chain = list(question.gold)
    for place, row in zip(lost, instead, strict=True):
        chain[place] = row
    return _in_some_order(tuple(chain), question, rng)


def _in_some_order(chain: Rows, question: TrainingQuestion, rng: np.random.Generator) -> Rows:
    if question.is_ordered:
        return chain
    return tuple(chain[place] for place in rng.permutation(len(chain)).tolist())


def is_gold(chain: Sequence[int], question: TrainingQuestion) -> bool:
    """Whether a chain holds the gold paragraphs and no other, in any order."""
    return set(chain) == set(question.gold)
