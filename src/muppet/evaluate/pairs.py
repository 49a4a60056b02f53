"""A ranking of paragraphs → chains of two: what a retriever without hops can offer a reader."""

from collections.abc import Sequence
from itertools import combinations

from muppet.domain import Chain, Hop


def pairs_of(ranking: Sequence[Hop], keep: int = 45, among: int = 10) -> list[Chain]:
    """Paragraphs ranked best first → all unordered pairs of the top `among` (checklist 7).

    The best `keep` pairs come out, best first by the sum of the two scores; of equal sums the
    pair with the better first rank, then with the better second. 10 paragraphs have 45 pairs.
    """
    pairs = [Chain(pair) for pair in combinations(ranking[:among], 2)]
    return sorted(pairs, key=lambda pair: -pair.score)[:keep]  # stable: ties keep their ranks
