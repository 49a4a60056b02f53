"""A knowledge base in LlamaIndex's own query engines."""

import asyncio

import pytest

import muppet
from random_model import Demo

pytest.importorskip(
    "llama_index.core", reason="llama-index-core is not installed: pip install -e '.[llamaindex]'"
)

QUESTION = "Which Norwegian sea captain founded the whaling station where Shackleton is buried?"


def test_nodes_are_the_paragraphs_of_the_chains(demo: Demo) -> None:
    from llama_index.core.schema import MetadataMode

    from muppet.adapters.llamaindex import MuppetRetriever

    with muppet.open(demo.kb) as kb:
        retriever = MuppetRetriever(kb, chains=2)
        nodes = retriever.retrieve(QUESTION)
        again = asyncio.run(retriever.aretrieve(QUESTION))
        found = kb.search(QUESTION, chains=2)
    first = found.paragraphs_of(found.chains[0])
    assert [one.text for one in nodes[:2]] == [one.text for one in first]
    assert [one.node_id for one in nodes[:2]] == [one.id for one in first]
    assert [one.score for one in nodes[:2]] == [found.scores[0]] * 2
    assert [one.metadata["hop"] for one in nodes[:2]] == [1, 2]
    assert [one.node_id for one in again] == [one.node_id for one in nodes]
    told = nodes[0].get_content(MetadataMode.LLM)
    assert first[0].title in told
    assert "chain_score" not in told


def test_a_query_engine_reads_them(demo: Demo) -> None:
    from llama_index.core import get_response_synthesizer
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine

    from muppet.adapters.llamaindex import MuppetRetriever

    retriever = MuppetRetriever(demo.kb, chains=1, hops=1)
    engine = RetrieverQueryEngine(
        retriever, get_response_synthesizer(llm=MockLLM(), response_mode="compact")
    )
    answer = engine.query(QUESTION)
    assert len(answer.source_nodes) == 1
    assert answer.source_nodes[0].text in str(answer)  # this model says what it was told


def test_what_is_wrong_is_our_error(demo: Demo) -> None:
    from muppet.adapters.llamaindex import MuppetRetriever

    with pytest.raises(muppet.MuppetError, match="nowhere"):
        MuppetRetriever("nowhere")
    with pytest.raises(muppet.MuppetError, match="empty"):
        MuppetRetriever(demo.kb).retrieve(" ")
