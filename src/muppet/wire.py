"""Results ⇄ JSON: the single definition used by `--json` and by the server."""

from collections.abc import Mapping, Sequence
from typing import Any

from muppet.domain import Chain, Paragraph

Json = dict[str, Any]


def chain_to_json(
    chain: Chain, paragraphs: Mapping[int, Paragraph], ranks: Mapping[int, int]
) -> list[Json]:
    """A chain as the list of its hops; `ranks` are the paragraphs' ranks for the question."""
    return [
        {
            "paragraph": paragraphs[hop.paragraph].id,
            "title": paragraphs[hop.paragraph].title,
            "source": paragraphs[hop.paragraph].source,
            "score": hop.score,
            "sentence": hop.sentence,
            "rank_for_question": ranks.get(hop.paragraph),
            "text": paragraphs[hop.paragraph].text,
        }
        for hop in chain.hops
    ]


def search_to_json(
    question: str,
    chains: Sequence[Chain],
    paragraphs: Mapping[int, Paragraph],
    ranks: Mapping[int, int],
    seconds: Mapping[str, float],
    scores: Sequence[float] | None = None,
) -> Json:
    """What `search --json` prints; `scores` are what the chains were ranked by."""
    content: Json = {
        "question": question,
        "chains": [chain_to_json(chain, paragraphs, ranks) for chain in chains],
        "seconds": dict(seconds),
    }
    if scores is not None:
        content["scores"] = list(scores)
    return content
