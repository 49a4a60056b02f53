"""Whole chains, looked at once more beside their question: do they cover it (coverage.py), and is
the evidence complete? (checklist 34)

Search compares vectors of texts that were read apart. The encoder that reformulates a question
reads it together with a chain, and its stop head says whether that is all it takes: of the few best
chains of a search this can be asked of every one. Where the best is far ahead nobody asks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from muppet.bounds import at_hop
from muppet.config import RetrieveConfig
from muppet.domain import Paragraph
from muppet.encode.encoder import TextEncoder
from muppet.retrieve.beam import AUTO, RELEASED, Ranked, log_sigmoid
from muppet.retrieve.coverage import Terms, by_coverage


def rank_whole(
    encoder: TextEncoder,
    questions: Sequence[str],
    chains: Sequence[Sequence[Ranked]],
    paragraphs: Mapping[int, Paragraph],
    config: RetrieveConfig,
    terms: Terms,
) -> list[list[Ranked]]:
    """The chains of each question, best first, by what they are as wholes too.

    The released ranking has no probabilities to add to. By `auto` chains are not judged: the stop
    head was asked on the way.
    """
    found = [list(own) for own in chains]
    if config.ranking == RELEASED:
        return found
    if weight := config.coverage_weight:
        found = [
            by_coverage(question, own, paragraphs, terms, weight)
            for question, own in zip(questions, found, strict=True)
        ]
    return found if config.hops == AUTO else judge(encoder, questions, found, paragraphs, config)


def judge(
    encoder: TextEncoder,
    questions: Sequence[str],
    chains: Sequence[Sequence[Ranked]],
    paragraphs: Mapping[int, Paragraph],
    config: RetrieveConfig,
) -> list[list[Ranked]]:
    """The chains of each question, best first, those that are judged by their completeness too;
    not every encoder's stop head has learned to tell it."""
    found = [list(own) for own in chains]
    if not encoder.judges:
        return found
    counts = [_contenders(own, config) for own in found]
    judged = [(number, one) for number, own in enumerate(found) for one in own[: counts[number]]]
    if not judged:
        return found
    asked = encoder.ask_after(
        [questions[number] for number, _ in judged],
        [[paragraphs[place] for place in one.chain.paragraphs] for _, one in judged],
    )
    likely = iter(log_sigmoid(asked.complete / config.temperature).tolist())
    return [
        _with_judgement(own, [next(likely) for _ in range(count)], config)
        for own, count in zip(found, counts, strict=True)
    ]


def _contenders(chains: Sequence[Ranked], config: RetrieveConfig) -> int:
    """How many of a question's chains are judged: the first ones, all near the best, unless it has
    none beside it or the judgement of chains of this length counts for nothing."""
    if not chains:
        return 0
    hop = len(chains[0].chain.hops) - 1  # of a question's all alike
    least = chains[0].score - at_hop(config.judge_margins, hop)
    near = sum(one.score >= least for one in chains[: config.judged])
    return near if near > 1 and at_hop(config.judge_weights, hop) else 0


def _with_judgement(
    chains: Sequence[Ranked], likely: Sequence[float], config: RetrieveConfig
) -> list[Ranked]:
    """Chains of which the first so many have weight * log p(complete) added to their scores. The
    others lose as much as the worst of these, and so stay behind them."""
    if not likely:
        return list(chains)
    weight = at_hop(config.judge_weights, len(chains[0].chain.hops) - 1)
    added = [weight * one for one in (*likely, *[min(likely)] * (len(chains) - len(likely)))]
    better = [replace(one, score=one.score + by) for one, by in zip(chains, added, strict=True)]
    return sorted(better, key=lambda one: -one.score)
