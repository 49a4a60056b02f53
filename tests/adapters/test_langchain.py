"""A knowledge base in LangChain's own chains."""

import asyncio
from collections.abc import Iterator

import pytest

import muppet
from muppet.errors import QuestionError
from random_model import Demo

pytest.importorskip(
    "langchain_core", reason="langchain-core is not installed: pip install -e '.[langchain]'"
)

QUESTION = "Which Norwegian sea captain founded the whaling station where Shackleton is buried?"


@pytest.fixture(scope="module")
def kb(demo: Demo) -> Iterator[muppet.Knowledge]:
    with muppet.open(demo.kb) as opened:
        yield opened


def test_documents_are_the_paragraphs_of_the_chains(kb: muppet.Knowledge) -> None:
    from muppet.adapters.langchain import MuppetRetriever

    documents = MuppetRetriever(kb=kb, chains=2).invoke(QUESTION)
    found = kb.search(QUESTION, chains=2)
    first = found.paragraphs_of(found.chains[0])
    assert [one.page_content for one in documents[:2]] == [one.text for one in first]
    assert [one.id for one in documents[:2]] == [one.id for one in first]
    assert [one.metadata["hop"] for one in documents[:2]] == [1, 2]
    assert {one.metadata["chain"] for one in documents} <= {1, 2}
    assert all(one.metadata["title"] and one.metadata["source"] for one in documents)


def test_it_is_a_link_of_a_chain_alone_in_batches_and_asynchronously(demo: Demo) -> None:
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    from muppet.adapters.langchain import MuppetRetriever

    retriever = MuppetRetriever(kb=demo.kb, chains=1, hops=1)
    titles = RunnableLambda(lambda documents: [one.metadata["title"] for one in documents])
    chain = {"titles": retriever | titles, "question": RunnablePassthrough()}
    linked = RunnablePassthrough() | chain
    alone = linked.invoke(QUESTION)
    assert alone["question"] == QUESTION
    assert len(alone["titles"]) == 1
    assert linked.batch([QUESTION, QUESTION]) == [alone, alone]
    assert asyncio.run(linked.ainvoke(QUESTION)) == alone
    retriever.kb.close()


def test_what_is_wrong_is_our_error(kb: muppet.Knowledge) -> None:
    from pydantic import ValidationError

    from muppet.adapters.langchain import MuppetRetriever

    with pytest.raises(QuestionError, match="empty"):
        MuppetRetriever(kb=kb).invoke(" ")
    with pytest.raises(ValidationError, match="chains"):
        MuppetRetriever(kb=kb, chains=0)
    with pytest.raises(muppet.MuppetError, match="nowhere"):
        MuppetRetriever(kb="nowhere")
