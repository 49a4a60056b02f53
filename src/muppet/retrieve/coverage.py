"""How much of its question a chain covers: one sentence of each paragraph, all of them together.

What a question says stands, spread over them, in the sentences that it takes to answer it. A chain
is scored hop by hop, and both of its hops may be near to one and the same half of a question: only
the whole chain shows that nothing in it takes up the other. Not in the paper.
"""

import heapq
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from muppet.domain import Paragraph
from muppet.retrieve.beam import Ranked

Terms = Callable[[str], Sequence[str]]
"""A text as the words to compare it by: stemmed, none that say nothing."""
Mask = int
"""Which of a question's words stand somewhere, a bit for each."""

MOST_WORDS = 64
"""Of a longer question only so many words are looked for."""
MOST_CHOICES = 64
"""So many choices of sentences, those that hold most, go on to the next paragraph of a chain."""


def by_coverage(
    question: str,
    chains: Sequence[Ranked],
    paragraphs: Mapping[int, Paragraph],
    terms: Terms,
    weight: float,
) -> list[Ranked]:
    """The chains, best first, each having lost up to `weight`, as far as it leaves its question
    uncovered."""
    found = coverages(question, [one.chain.paragraphs for one in chains], paragraphs, terms)
    less = [
        replace(one, score=one.score - weight * (1 - covered))
        for one, covered in zip(chains, found, strict=True)
    ]
    return sorted(less, key=lambda one: -one.score)


def coverages(
    question: str,
    chains: Sequence[Sequence[int]],
    paragraphs: Mapping[int, Paragraph],
    terms: Terms,
) -> list[float]:
    """Of the question's words the share that the best choice of one sentence from each paragraph
    of a chain holds; the fewer of all these paragraphs have a word, the more it counts. A title
    goes with each sentence of its paragraph."""
    asked = list(dict.fromkeys(terms(question)))[:MOST_WORDS]
    bits = {word: 1 << place for place, word in enumerate(asked)}
    numbers = {number for chain in chains for number in chain}
    masks = {number: _sentence_masks(paragraphs[number], bits, terms) for number in numbers}
    holding = Counter(
        word for own in masks.values() for word, bit in bits.items() if any(bit & m for m in own)
    )
    rare = {bit: math.log1p(len(masks) / (holding[word] + 0.5)) for word, bit in bits.items()}
    total = sum(rare.values()) or 1.0

    @cache
    def share(mask: Mask) -> float:
        return sum(weight for bit, weight in rare.items() if bit & mask) / total

    def best(chain: Sequence[int]) -> float:
        together = {0}
        for number in chain:
            kept = heapq.nlargest(MOST_CHOICES, together, key=share)
            together = {mask | own for mask in kept for own in masks[number]}
        return max(map(share, together))

    return [best(chain) for chain in chains]


def _sentence_masks(paragraph: Paragraph, bits: Mapping[str, Mask], terms: Terms) -> set[Mask]:
    title = _mask(paragraph.title, bits, terms)
    return {title, *(title | _mask(sentence, bits, terms) for sentence in paragraph.sentences)}


def _mask(text: str, bits: Mapping[str, Mask], terms: Terms) -> Mask:
    return sum({bits[word] for word in terms(text) if word in bits})
