"""A knowledge base as a retriever of LangChain."""

from typing import Any

from muppet.adapters.evidence import evidence_of, opened
from muppet.errors import needing
from muppet.facade.knowledge import Hops, Knowledge

with needing("The LangChain adapter", "langchain"):
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field, field_validator


class MuppetRetriever(BaseRetriever):
    """Finds the paragraphs of the best chains, as documents: `MuppetRetriever(kb="kb")`.

    They come chain by chain and hop by hop, each once; `muppet.adapters.evidence` says what their
    metadata holds. `kb` is a directory or what `muppet.open` gave.
    """

    kb: Knowledge
    chains: int = Field(default=5, ge=1)
    hops: Hops | None = None

    @field_validator("kb", mode="before")
    @classmethod
    def _open(cls, kb: Any) -> Knowledge:  # noqa: ANN401 (a path, or what is no path and refused)
        return opened(kb)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 (LangChain's signature)
    ) -> list[Document]:
        found = self.kb.search(query, chains=self.chains, hops=self.hops)
        return [
            Document(id=one.id, page_content=one.text, metadata=one.metadata)
            for one in evidence_of(found)
        ]
