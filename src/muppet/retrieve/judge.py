"""Whole chains, each read once more beside its question: is the evidence complete? (checklist 34)

Search compares vectors of texts that were read apart. The encoder that reformulates a question
reads it together with a chain, and its stop head says whether that is all it takes: of the few best
chains of a search this can be asked of every one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from muppet.config import RetrieveConfig
from muppet.domain import Paragraph
from muppet.encode.encoder import TextEncoder
from muppet.retrieve.beam import AUTO, RELEASED, Ranked, at_hop, log_sigmoid


def judge(
    encoder: TextEncoder,
    questions: Sequence[str],
    chains: Sequence[Sequence[Ranked]],
    paragraphs: Mapping[int, Paragraph],
    config: RetrieveConfig,
) -> list[list[Ranked]]:
    """The chains of each question, best first, those that are judged by their completeness too.

    The score of a judged chain has weight * log p(complete) added to it. A chain that is not judged
    loses as much as the worst that is, and so stays behind them. By `auto` the stop head has been
    asked on the way, the released ranking has no probabilities to add to, and a model of one hop
    has no stop head.
    """
    found = [list(own) for own in chains]
    if config.hops == AUTO or config.ranking == RELEASED or encoder.hops == 1:
        return found
    lengths = [len(own[0].chain.hops) if own else 0 for own in found]  # of a question's all alike
    for length in sorted({*lengths} - {0}):
        weight = at_hop(config.judge_weights, length - 1)
        if not weight:
            continue
        numbers = [number for number, its in enumerate(lengths) if its == length]
        judged = [(number, one) for number in numbers for one in found[number][: config.judged]]
        asked = encoder.ask_after(
            [questions[number] for number, _ in judged],
            [[paragraphs[place] for place in one.chain.paragraphs] for _, one in judged],
        )
        likely = (weight * log_sigmoid(asked.complete / config.temperature)).tolist()
        added: dict[int, list[float]] = {number: [] for number in numbers}
        for (number, _), by in zip(judged, likely, strict=True):
            added[number].append(by)
        for number, own in added.items():
            own += [min(own)] * (len(found[number]) - len(own))
            pairs = zip(found[number], own, strict=True)
            better = [replace(one, score=one.score + by) for one, by in pairs]
            found[number] = sorted(better, key=lambda one: -one.score)
    return found
