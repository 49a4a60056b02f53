"""What all adapters give their frameworks: the paragraphs of the best chains, one after another."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from muppet.domain import Found
from muppet.facade.knowledge import Knowledge
from muppet.wire import chain_to_json


@dataclass(frozen=True, slots=True)
class Evidence:
    """A paragraph as a framework's document.

    `metadata` holds its `paragraph` (id), `title` and `source`; `chain` and `hop`, counted from 1;
    the hop's `score` and the `chain_score`; the number of the `sentence` that matched best; and
    the `rank_for_question`. `score` is the chain's, so that sorting by it changes no order.
    """

    id: str
    text: str
    score: float
    metadata: dict[str, Any]


def evidence_of(found: Found) -> list[Evidence]:
    """The paragraphs of all chains, each once: where its best chain has it."""
    documents: dict[str, Evidence] = {}
    for number, (chain, score) in enumerate(zip(found.chains, found.scores, strict=True), 1):
        for place, hop in enumerate(chain_to_json(chain, found.paragraphs, found.ranks), 1):
            text = hop.pop("text")
            metadata = hop | {"chain": number, "hop": place, "chain_score": score}
            documents.setdefault(
                hop["paragraph"], Evidence(hop["paragraph"], text, score, metadata)
            )
    return list(documents.values())


def opened(kb: Knowledge | str | PathLike[str]) -> Knowledge:
    """A knowledge base, opened if only its directory is named."""
    return kb if isinstance(kb, Knowledge) else Knowledge(Path(kb))
