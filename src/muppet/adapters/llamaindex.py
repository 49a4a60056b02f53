"""A knowledge base as a retriever of LlamaIndex."""

from os import PathLike

from muppet.adapters.evidence import Evidence, evidence_of, opened
from muppet.errors import needing
from muppet.facade.knowledge import Hops, Knowledge

with needing("The LlamaIndex adapter", "llamaindex"):
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode


class MuppetRetriever(BaseRetriever):
    """Finds the paragraphs of the best chains, as nodes: `MuppetRetriever("kb")`.

    They come chain by chain and hop by hop, each once; `muppet.adapters.evidence` says what their
    metadata holds. Of it a language model is shown the title alone. `kb` is a directory or what
    `muppet.open` gave.
    """

    def __init__(
        self, kb: Knowledge | str | PathLike[str], *, chains: int = 5, hops: Hops | None = None
    ) -> None:
        super().__init__()
        self._kb = opened(kb)
        self._chains = chains
        self._hops = hops

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._kb.search(query_bundle.query_str, chains=self._chains, hops=self._hops)
        return [NodeWithScore(node=_node(one), score=one.score) for one in evidence_of(found)]


def _node(one: Evidence) -> TextNode:
    unshown = [name for name in one.metadata if name != "title"]
    return TextNode(
        id_=one.id,
        text=one.text,
        metadata=one.metadata,
        excluded_llm_metadata_keys=unshown,
        excluded_embed_metadata_keys=unshown,
    )
