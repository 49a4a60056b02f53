"""A knowledge base as a component of Haystack."""

from os import PathLike
from typing import Any

from muppet.adapters.evidence import evidence_of, opened
from muppet.errors import needing
from muppet.facade.knowledge import Hops, Knowledge

with needing("The Haystack adapter", "haystack"):
    from haystack import Document, component, default_from_dict, default_to_dict


@component
class MuppetRetriever:
    """Finds the paragraphs of the best chains, as documents: `MuppetRetriever("kb")`.

    They come chain by chain and hop by hop, each once; `muppet.adapters.evidence` says what their
    `meta` holds. `kb` is a directory or what `muppet.open` gave. A saved pipeline is loaded with
    `allowed_modules=["muppet.adapters.haystack"]`. Haystack itself reports its use over the network
    unless the environment has HAYSTACK_TELEMETRY_ENABLED=False.
    """

    def __init__(
        self, kb: Knowledge | str | PathLike[str], chains: int = 5, hops: Hops | None = None
    ) -> None:
        self._given = kb
        self._kb: Knowledge | None = kb if isinstance(kb, Knowledge) else None
        self._chains = chains
        self._hops = hops

    def warm_up(self) -> None:
        """Open the knowledge base, unless it is open."""
        self._kb = self._kb or opened(self._given)

    @component.output_types(documents=list[Document])
    def run(self, query: str, chains: int | None = None) -> dict[str, list[Document]]:
        """The documents for a question; `chains` may differ from call to call."""
        self.warm_up()
        assert self._kb is not None
        found = self._kb.search(query, chains=chains or self._chains, hops=self._hops)
        documents = [
            Document(id=one.id, content=one.text, meta=one.metadata, score=one.score)
            for one in evidence_of(found)
        ]
        return {"documents": documents}

    def to_dict(self) -> dict[str, Any]:
        """What a saved pipeline keeps: the directory, not what is in it."""
        given = self._given
        directory = given.directory if isinstance(given, Knowledge) else given
        content: dict[str, Any] = default_to_dict(
            self, kb=str(directory), chains=self._chains, hops=self._hops
        )
        return content

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "MuppetRetriever":
        """The component of a saved pipeline."""
        made: MuppetRetriever = default_from_dict(cls, data)
        return made
