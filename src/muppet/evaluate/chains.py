"""Retrieval scores at every cutoff, for rankings of paragraphs and of chains (checklist 22)."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean

CUTOFFS = (1, 2, 4, 5, 8, 10, 16, 20, 32, 45, 64, 100, 128, 256, 512)


@dataclass(frozen=True, slots=True)
class RetrievalScores:
    """Scores 0..1 by cutoff k, of one question or the means of many.

    `perfect`: everything needed is there. `at_least_one`: some gold paragraph is there.
    `hits`: the share of the gold paragraphs that is there.
    """

    perfect: dict[int, float]
    at_least_one: dict[int, float]
    hits: dict[int, float]


def score_ranking(
    gold: Collection[Hashable], ranking: Sequence[Hashable], cutoffs: Sequence[int] = CUTOFFS
) -> RetrievalScores:
    """Score paragraphs ranked best first: perfect@k has all the gold ones among the top k.

    Both sides name paragraphs by the same kind of key. A gold paragraph that the knowledge base
    lacks stays in `gold`, under a key no ranking holds: it was not found.
    """
    ranks = _ranks_of(gold, ([key] for key in ranking))
    return _scores_by_cutoff(perfect_rank=max(ranks), ranks=ranks, cutoffs=cutoffs)


def score_chains(
    gold: Collection[Hashable],
    chains: Sequence[Sequence[Hashable]],
    cutoffs: Sequence[int] = CUTOFFS,
) -> RetrievalScores:
    """Score chains ranked best first: perfect@k has one chain that is exactly the gold set.

    The order of the paragraphs within a chain does not count. Keys are as in `score_ranking`.
    """
    wanted = set(gold)
    exact = (rank for rank, chain in enumerate(chains, start=1) if set(chain) == wanted)
    return _scores_by_cutoff(
        perfect_rank=next(exact, inf), ranks=_ranks_of(gold, chains), cutoffs=cutoffs
    )


def no_retrieval(cutoffs: Sequence[int] = CUTOFFS) -> RetrievalScores:
    """What a missing ranking scores."""
    return _scores_by_cutoff(perfect_rank=inf, ranks=[inf], cutoffs=cutoffs)


def mean_retrieval(scores: Sequence[RetrievalScores]) -> RetrievalScores:
    """The mean over questions at each cutoff; all must have been scored at the same ones."""
    return RetrievalScores(
        perfect=_mean_by_cutoff([each.perfect for each in scores]),
        at_least_one=_mean_by_cutoff([each.at_least_one for each in scores]),
        hits=_mean_by_cutoff([each.hits for each in scores]),
    )


def _ranks_of(gold: Collection[Hashable], ranked: Iterable[Iterable[Hashable]]) -> list[float]:
    """Where each gold paragraph first occurs, counted from 1; infinity for one not found."""
    if not gold:
        raise ValueError("A question without gold paragraphs has no retrieval scores: leave it out")
    first_rank: dict[Hashable, float] = {}
    for rank, keys in enumerate(ranked, start=1):
        for key in keys:
            first_rank.setdefault(key, rank)
    return [first_rank.get(key, inf) for key in set(gold)]


def _scores_by_cutoff(
    *, perfect_rank: float, ranks: Sequence[float], cutoffs: Sequence[int]
) -> RetrievalScores:
    best_rank = min(ranks)
    return RetrievalScores(
        perfect={cutoff: float(perfect_rank <= cutoff) for cutoff in cutoffs},
        at_least_one={cutoff: float(best_rank <= cutoff) for cutoff in cutoffs},
        hits={cutoff: fmean(rank <= cutoff for rank in ranks) for cutoff in cutoffs},
    )


def _mean_by_cutoff(scores: Sequence[dict[int, float]]) -> dict[int, float]:
    return {cutoff: fmean(each[cutoff] for each in scores) for cutoff in scores[0]}
